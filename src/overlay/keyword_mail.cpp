#include "overlay/keyword_mail.hpp"

#include "base/varint.hpp"

namespace posy::overlay::keyword_mail {

using base::put_varint;
using base::reader;

void put(std::vector<std::byte>& to, const std::string& word) {
    put_varint(to, word.size());
    const byte_view bytes = as_byte_view(word);
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void put(std::vector<std::byte>& to, digest d) {
    base::put_little(to, d.low);
    base::put_little(to, d.high);
}

void put(std::vector<std::byte>& to, const context& c) {
    for (const std::uint64_t field :
         {c.asker, c.ticket, c.offset, c.part, c.next, c.word, std::uint64_t{c.words.size()}})
        put_varint(to, field);
    for (std::size_t i = 0; i < c.words.size(); ++i) {
        put(to, c.words[i]);
        put_varint(to, c.sizes[i]);
    }
}

void put(std::vector<std::byte>& to, const step& s) {
    for (const std::uint64_t field : {s.asker, s.ticket, s.offset, s.word}) put_varint(to, field);
}

std::string read_word(reader& from) {
    const byte_view bytes = from.take(from.varint(longest_word));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

digest read_digest(reader& from) {
    const auto low = from.number<std::uint64_t>();
    return {low, from.number<std::uint64_t>()};
}

context read_context(reader& from) {
    context c;
    c.asker = from.varint();
    c.ticket = from.varint();
    c.offset = from.varint();
    c.part = from.varint();
    c.next = from.varint();
    c.word = from.varint(most_words - 1);
    const auto words = from.varint(most_words);
    for (std::uint64_t i = 0; i < words && !from.wrong(); ++i) {
        c.words.push_back(read_word(from));
        c.sizes.push_back(from.varint());
    }
    if (c.word >= words) from.fail("a word that the query does not have");
    return c;
}

step read_step(reader& from) {
    step s;
    s.asker = from.varint();
    s.ticket = from.varint();
    s.offset = from.varint();
    s.word = from.varint(most_words - 1);
    return s;
}

std::vector<digest> read_digests(reader& from) {
    std::vector<digest> all;
    if (from.left() % sizeof(digest) != 0) from.fail("a digest that is cut off");
    if (from.wrong()) return all;
    all.reserve(from.left() / sizeof(digest));
    while (from.left() > 0) all.push_back(read_digest(from));
    return all;
}

}  // namespace posy::overlay::keyword_mail
