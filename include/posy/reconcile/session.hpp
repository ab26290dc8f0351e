// Two peers find out what each has that the other lacks: one of them asks, the other answers.
//
// Each side is a state machine: it receives and produces messages as bytes. Nothing waits, and the transport
// is the caller's. Messages alternate, so a plain pipe in each direction is enough:
//
//   exact    ask: sketch        answer: coded symbols, or a part of the list of its elements, or all of it
//            ask: more          answer: symbols, or the rest of the list, until the difference is known
//   filter   ask: filter        answer: filter, and what is not in the one received
//   tree     ask: tree          answer: tree, and what a search of the one received brought up
//   all      ask: what you lack, what I want text of     answer: texts, wants          ask: texts
//
// Memory is bounded by the limits, whatever a peer sends: a message is parsed within them, no more symbols
// are accepted than were asked for, and where they do not decode the list is asked for instead. What a peer
// sends is checked against this side's own set and, for texts, against their digests. An error ends the
// session and leaves one more message to send, which tells the peer the reason.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/base/names.hpp"
#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

enum class method : std::uint8_t { exact, filter, tree };

constexpr std::string_view name_of(method member) {
    switch (member) {
        case method::exact:
            return "exact";
        case method::filter:
            return "filter";
        case method::tree:
            return "tree";
    }
    return {};
}

struct settings {
    reconcile::method method = method::exact;  // chosen by the asking side; the other side follows
    double bits_per_item = 10;                 // of a filter or tree
    bool fetch = false;                        // fetch the texts of missing keys; needs digest_of below
    read_limits limits{std::uint64_t{1} << 30};
};

// Access to the keys. Without these functions a side can be reconciled, but its peer cannot fetch.
struct key_owner {
    std::function<std::string(const digest&)> text_of{};
    std::function<digest(std::string_view)> digest_of{};
};

struct traffic {
    std::uint64_t sent = 0, received = 0;  // bytes, all told
    std::uint64_t round_trips = 0;         // how often this side has sent something and waited
};

struct outcome {
    std::vector<digest> only_here{}, only_there{};  // ascending
    std::vector<std::string> texts{};               // of only_there, in the same order, if fetched
    // The expected share found of the keys that are only here, and of those that are only there.
    double here_expected = 1, there_expected = 1;

    std::uint64_t items_there = 0;
    std::uint64_t symbols = 0, listed = 0;                  // symbols and elements, received or sent
    std::uint64_t nodes_visited = 0, elements_visited = 0;  // of this side's own set, in search
    traffic finding, telling;                               // until the difference is known, and from then on
};

// A hash for one session: SipHash under 34 random bits, which take five bytes of each message. The asking
// side draws it, and the other side hashes its keys with the hash of the first message. So keys that were
// chosen earlier cannot be made to collide under it. An error if the system has no source of random numbers.
result<hasher> fresh_hasher();

class session {
  public:
    // The set must outlive the session. The asking side learns the whole outcome. The other side learns what
    // it lacks, and what only it has as far as this was found here or its text was requested.
    static result<session> ask(const digest_set& mine, const settings&, key_owner = {});
    static session answer(const digest_set& mine, const settings&, key_owner = {});
    session(session&&) noexcept;
    session& operator=(session&&) noexcept;
    ~session();

    // The next message to send, if there is one now.
    std::optional<std::vector<std::byte>> send();
    result<void> receive(byte_view message);
    // Nothing more will be received. Messages that send() still returns must be sent.
    bool done() const;
    const outcome& found() const;

    class party;

  private:
    explicit session(std::unique_ptr<party>);
    std::unique_ptr<party> party_;
};

}  // namespace posy::reconcile
