#include "parsers.hpp"

#include <array>

#include "message/frame.hpp"
#include "posy/dialect/squid_digest.hpp"
#include "posy/subscriber.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/difference_sketch.hpp"
#include "reconcile/key_texts.hpp"
#include "reconcile/set_part.hpp"
#include "reconcile/tree.hpp"

namespace posy::hostile {
namespace {

// By kind and, where there is a choice, by coding.
constexpr auto kinds = members<message_kind>;
constexpr auto codecs = members<codec_id>;
constexpr auto forms = members<queryable_form>;
constexpr std::size_t per_kind = 11;  // 0 for those without a choice and for what is none

constexpr std::size_t damaged = 0, subscribers = kinds.size() * per_kind + 1, askers = subscribers + 1,
                      answerers = subscribers + 2, squids = subscribers + 3, parsers = subscribers + 4;

std::size_t parser_of(byte_view message) {
    if (message.size() < frame::prefix_size) return damaged;
    const auto kind = std::to_integer<std::size_t>(message[5]),
               codec = std::to_integer<std::size_t>(message[6]);
    if (kind == 0 || kind > kinds.size()) return damaged;
    const auto of_kind = [&](std::size_t which) { return 1 + (kind - 1) * per_kind + which; };
    if (kind <= 3) return of_kind(codec < codecs.size() ? codec + 1 : 0);
    if (kind == 4) return of_kind(codec >= 1 && codec <= forms.size() ? codec : 0);
    if (kind == 12) {
        const auto header = std::to_integer<std::size_t>(message[7]);
        const auto what = header < message.size() ? std::to_integer<std::size_t>(message[header]) : 0;
        return of_kind(what <= 10 ? what : 0);
    }
    return of_kind(0);
}

void use(const bloom_filter& filter) { (void)filter.may_contain(filter.hash()(1)); }
void use(const counting_filter& filter) { use(filter.projection()); }
void use(const filter_delta& delta) {
    if (delta.geometry.bits > 1 << 16) return;  // there is no base of a size that was never sent
    auto base = bloom_filter::make(delta.geometry);
    filter_delta fitting{delta.geometry,        delta.items,
                         delta.base_generation, bits_checksum(base->bits()),
                         *delta.flips.clone(),  delta.intersection};
    (void)apply(*base, fitting);
}
void use(const compressed_filter& filter) {
    (void)filter.may_contain(filter.hash()(1));
    if (const auto plain = filter.unpack()) use(*plain);
}
void use(const sealed_filter& filter) { (void)filter.may_contain(filter.hash()(1)); }
void use(const bloomier_map& map) { (void)map.find(map.hash()(1)); }
void use(const count_min& sketch) { (void)sketch.estimate(sketch.hash()(1)); }
void use(const spectral_filter& filter) { (void)filter.estimate(filter.hash()(1)); }
void use(const heavy_hitters& heavy) { (void)heavy.report(); }
void use(const growing_filter& filter) { (void)filter.may_contain(filter.hash()(1)); }
void use(const window_filter& filter) { (void)filter.may_contain(filter.hash()(1), filter.latest()); }
void use(const reconcile::envelope& e) {
    using namespace reconcile;
    switch (e.kind()) {
        case kind::sketch:
            return void(difference_sketch::parse(e.hash(), e.payload()));
        case kind::symbols:
            return void(symbol_run::parse(e.hash(), e.payload()));
        case kind::list:
            return void(set_part::parse(e.hash(), e.payload()));
        case kind::filter:
            return void(from_bytes(e.payload()));
        case kind::tree:
            return void(reconciliation_tree::parse(e.hash(), e.payload()));
        case kind::offer:
        case kind::want:
            return void(digest_set::parse(e.hash(), e.payload()));
        case kind::texts:
            return void(key_texts::parse(e.hash(), e.payload()));
        default:
            return;
    }
}

bool consume_message(byte_view bytes) {
    const auto read = from_bytes(bytes);
    if (read) std::visit([](const auto& body) { use(body); }, read->body);
    return read.ok();
}

// Of testdata: generations 7 and 8 of a filter of 3200 bits.
bool consume_as_subscriber(byte_view bytes) {
    static const byte_string held = [] {
        auto filter = *bloom_filter::make({3200, 2, layout_id::spread});
        for (int key = 0; key < 100; ++key) filter.insert(filter.hash()(key));
        return to_bytes(filter, {.generation = 7});
    }();
    subscriber s;
    (void)s.receive(held, 0);
    return s.receive(bytes, 1) != reception::damaged;
}

bool consume_in_session(const material& from, const input& in) {
    const conversation& talk = from.talks[in.talk];
    const reconcile::key_owner owner{[](const digest&) { return std::string("text"); },
                                     [](std::string_view text) { return hasher()(text); }};
    auto victim = talk.victim_asks ? *reconcile::session::ask(set_of_victim(), talk.how, owner)
                                   : reconcile::session::answer(set_of_victim(), talk.how, owner);
    for (std::size_t i = 0; i < in.honest; ++i) (void)victim.receive(talk.to_victim[i]);
    bool accepted = victim.receive(in.bytes).ok();
    for (const byte_string& next : in.more)
        accepted = accepted && !victim.done() && victim.receive(next).ok();
    return accepted;
}

const byte_string& any_of(dice& d, const std::vector<byte_string>& all) { return all[d.below(all.size())]; }

}  // namespace

material material::make(const std::filesystem::path& testdata) {
    return {small_messages(testdata), messages_at_the_limits(), conversations(),
            squid_digest_bytes(testdata)};
}

std::size_t input::received() const {
    std::size_t size = bytes.size();
    for (const byte_string& next : more) size += next.size();
    return size;
}

std::size_t parser_count() { return parsers; }

std::string parser_name(std::size_t parser) {
    if (parser == damaged) return "not a message";
    if (parser == subscribers) return "subscriber";
    if (parser == askers) return "reconciling, asks";
    if (parser == answerers) return "reconciling, answers";
    if (parser == squids) return "Squid digest";
    const std::size_t kind = (parser - 1) / per_kind, which = (parser - 1) % per_kind;
    std::string name(name_of(kinds[kind]));
    if (kind >= 4 && kind < 11) return name;
    if (which == 0) return name + ", unknown";
    if (kind < 3) return name + ", " + std::string(name_of(codecs[which - 1]));
    if (kind == 3) return name + ", " + std::string(name_of(forms[which - 1]));
    return name + ", " + std::string(reconcile::name_of(static_cast<reconcile::kind>(which)));
}

input draw(const material& from, dice& d, std::uint64_t number) {
    input in;
    if (number < from.at_the_limits.size()) {
        in.bytes = from.at_the_limits[number];
        in.parser = parser_of(in.bytes);
        return in;
    }
    if (d.one_in(40)) {                           // a conversation that goes wrong
        do in.talk = d.below(from.talks.size());  // filters and trees take a millisecond of theory
        while (from.talks[in.talk].how.method != reconcile::method::exact && !d.one_in(20));
        const conversation& talk = from.talks[in.talk];
        in.honest = d.below(talk.to_victim.size());
        const bool other = d.one_in(8);
        in.bytes = mutated_message(d, other ? any_of(d, from.small) : talk.to_victim[in.honest], from.small);
        while (d.one_in(3) && in.more.size() < 4)
            in.more.push_back(mutated_message(d, talk.to_victim[d.below(talk.to_victim.size())], from.small));
        in.parser = talk.victim_asks ? askers : answerers;
        return in;
    }
    if (d.one_in(50)) {
        in.bytes = mutated_bytes(d, from.squid);
        in.parser = squids;
        return in;
    }
    if (d.one_in(2000)) {
        in.bytes = any_of(d, from.at_the_limits);
        if (!d.one_in(4)) in.bytes = mutated_message(d, in.bytes, from.small);
    } else {
        in.bytes = mutated_message(d, any_of(d, from.small), from.small);
        if (d.one_in(10)) in.bytes = mutated_message(d, in.bytes, from.small);
    }
    in.parser = parser_of(in.bytes);
    const bool followed = in.parser > 0 && in.parser <= 3 * per_kind;
    if (followed && d.one_in(20)) in.parser = subscribers;
    return in;
}

bool consume(const material& from, const input& in) {
    if (in.parser == subscribers) return consume_as_subscriber(in.bytes);
    if (in.parser == askers || in.parser == answerers) return consume_in_session(from, in);
    if (in.parser == squids) {
        const auto read = squid_digest::from_bytes(in.bytes);
        if (read) (void)read->may_contain(digest{1, 2});
        return read.ok();
    }
    return consume_message(in.bytes);
}

}  // namespace posy::hostile
