// Mutated values against the functions that the SQL types call for their input.
//
//   values-mutate INPUTS [SEED]
//
// Messages of every kind and coding are changed with knowledge of their structure
// (tests/hostile/mutation.hpp), and given as bytes and as text, some of it damaged, to each of the four
// types. What is accepted is stored as SQL would store it; that must be read again, be the same when it is
// stored again, and answer. Run it under sanitizers: it finds what they find, and exits with 1 if a value
// does not come back.
#include <cstdio>
#include <cstdlib>

#include "hostile/seeds.hpp"
#include "values.hpp"

namespace posy::postgres {
namespace {

using hostile::byte_string;
using hostile::dice;

// The kinds of the SQL types.
constexpr message_kind kinds[] = {message_kind::filter, message_kind::sealed, message_kind::map,
                                  message_kind::sketch};

std::string text_of(byte_view bytes, dice& d) {
    std::string text(2 + 2 * bytes.size(), 0);
    write_text(bytes, text.data());
    if (d.one_in(4)) text[d.below(text.size())] = static_cast<char>(d.roll());
    if (d.one_in(8)) text.resize(d.below(text.size() + 1));
    return text;
}

// Asks once; what it answers is of no interest.
bool ask(const any_body& body) {
    const digest d{0x0123456789abcdef, 0xfedcba9876543210};
    if (const auto* f = std::get_if<bloom_filter>(&body)) return f->may_contain(d);
    if (const auto* s = std::get_if<sealed_filter>(&body)) return s->may_contain(d);
    if (const auto* m = std::get_if<bloomier_map>(&body)) return m->find(d).has_value();
    if (const auto* c = std::get_if<count_min>(&body)) return c->estimate(d) != 0;
    return false;
}

// Does what was stored come back?
bool comes_back(const value_bytes& stored, message_kind kind) {
    const auto read = read_message(stored, kind);
    if (!read) return false;
    (void)ask(read->body);
    return write_value(read->body, read->generation) == stored;
}

struct tally {
    std::uint64_t given = 0, accepted = 0, lost = 0;

    void add(const result<value_bytes>& stored, message_kind kind, std::uint64_t number) {
        ++given;
        if (!stored) return;
        ++accepted;
        if (comes_back(*stored, kind)) return;
        ++lost;
        std::printf("input %llu: a value of kind %s does not come back\n",
                    static_cast<unsigned long long>(number), std::string(name_of(kind)).c_str());
    }
};

int run(std::uint64_t inputs, std::uint64_t seed) {
    const auto donors = hostile::small_messages(POSY_TESTDATA);
    tally all;
    for (std::uint64_t number = 0; all.given < inputs; ++number) {
        dice d(seed * 0x9e3779b97f4a7c15 + number);
        const byte_string input = mutated_message(d, donors[d.below(donors.size())], donors);
        // Mostly as the type that it would be, if its header says so.
        const std::size_t said = input.size() > 5 ? std::to_integer<std::size_t>(input[5]) : 0;
        message_kind kind = kinds[d.below(std::size(kinds))];
        for (const message_kind each : kinds)
            if (static_cast<std::size_t>(each) == said && !d.one_in(8)) kind = each;
        all.add(d.one_in(2) ? value_of_bytes(input, kind) : value_of_text(text_of(input, d), kind), kind,
                number);
    }
    std::printf("%llu values, %llu accepted, %llu of them lost\n", static_cast<unsigned long long>(all.given),
                static_cast<unsigned long long>(all.accepted), static_cast<unsigned long long>(all.lost));
    // Mutations that are never accepted would show nothing.
    return all.lost != 0 || all.accepted < all.given / 1000 ? 1 : 0;
}

}  // namespace
}  // namespace posy::postgres

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::fprintf(stderr, "usage: values-mutate INPUTS [SEED]\n");
        return 2;
    }
    return posy::postgres::run(std::strtoull(argv[1], nullptr, 10),
                               argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
}
