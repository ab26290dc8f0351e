// The messages of keyword nodes as bytes. The first byte is the kind; numbers are varints, digests 16 bytes.
//
//   posting   document, number of words, words
//   size?     ticket, number of the word, word
//   size      ticket, number of the word, documents with it
//   start     context: "work off a part of the first list"
//   digests   context, documents
//   filter    context, number of documents, a filter as a message (docs/format.md)
//   names     step, bytes per name, names
//   verdict   step, sums of the two halves of the digests, a bit per name
//   doubt     step: "send the digests"
//   part      ticket, offset, offset of the next part (0: none), documents
//
// A word is its length and its bytes. Reading checks every number before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reader.hpp"
#include "posy/digest.hpp"
#include "posy/overlay/mail.hpp"

namespace posy::overlay::keyword_mail {

enum class kind : std::uint8_t {
    posting = 1,
    size_question,
    size,
    start,
    digests,
    filter,
    names,
    verdict,
    doubt,
    part
};

inline constexpr std::size_t longest_word = 64, most_words = 8;

// A query on its way: words by the length of their lists, and where it is.
struct context {
    node_id asker = 0;
    std::uint64_t ticket = 0;
    std::uint64_t offset = 0;  // of the part of the first list …
    std::uint64_t part = 0;    // … and its length
    std::uint64_t next = 0;    // offset of the next part; 0: this is the last
    std::uint64_t word = 0;    // the number of the word that is looked at
    std::vector<std::string> words{};
    std::vector<std::uint64_t> sizes{};
};
struct step {
    node_id asker = 0;
    std::uint64_t ticket = 0, offset = 0, word = 0;
};

void put(std::vector<std::byte>&, const std::string& word);
void put(std::vector<std::byte>&, digest);
void put(std::vector<std::byte>&, const context&);
void put(std::vector<std::byte>&, const step&);

std::string read_word(base::reader&);
digest read_digest(base::reader&);
context read_context(base::reader&);
step read_step(base::reader&);
// All that is left.
std::vector<digest> read_digests(base::reader&);

}  // namespace posy::overlay::keyword_mail
