// What is compared: Posy, its peers, and the floor under all of them, each behind one small struct.
//
// A peer is a struct. Of these members, whatever it has is measured; all of them start from keys, so hashing
// is paid by everybody:
//
//   P(std::uint64_t keys, double bits_per_key)                          room for so many; memory touched
//   void insert(Key)                                                    one key a call
//   void insert(std::span<const Key>)                                   many keys a call
//   void insert(std::span<const Key>, unsigned threads)
//   bool contains(Key) const
//   std::size_t contains(std::span<const Key>, std::span<bool>) const   writes answers, counts the yes
//   bool remove(Key)
//   std::size_t remove(std::span<const Key>, std::span<bool>)
//   std::uint64_t bytes() const                                         of memory
//
// One line makes it known: static const entry<Key, P> known{{.name = "…", .version = "…"}}; a file that
// holds such a line is compiled into the program, from here or from anywhere else (POSY_EXTRA_PEERS).
//
// The loop over single calls stands inside run(), so that what the peer can inline is inlined. No answer can
// be optimised away: every count is returned and checked.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace compare {

using integer = std::uint64_t;
using text = std::string_view;

enum class suite { integers, strings, counting };
enum class operation { insert, insert_batch, insert_threads, contains, contains_batch, remove, remove_batch };

// Says nothing when the peer has no such operation, and otherwise how many keys were inserted, found, or
// removed.
template <class Key>
class subject {
  public:
    virtual ~subject() = default;
    virtual std::optional<std::size_t> run(operation, std::span<const Key>, std::span<bool> answers,
                                           unsigned threads) = 0;
    virtual std::uint64_t bytes() const = 0;
};

struct description {
    compare::suite suite = suite::integers;
    std::string name{};
    std::string version{};
    std::string against{};  // the contender of Posy's that does the same job; empty for Posy's own
    std::string note{};
    std::uint64_t max_keys = std::numeric_limits<std::uint64_t>::max();
    std::optional<unsigned> only_bits{};  // where k is a template argument: the bits per key it is right for
    bool is_floor = false;                // no filter: what memory alone costs
};

template <class Key>
struct contender {
    description about;
    std::function<std::unique_ptr<subject<Key>>(std::uint64_t keys, double bits_per_key)> make;
};

template <class Key>
std::vector<contender<Key>>& contenders() {
    static std::vector<contender<Key>> all;
    return all;
}

template <class Key, class Peer>
class driven final : public subject<Key> {
  public:
    driven(std::uint64_t keys, double bits_per_key) : peer_(keys, bits_per_key) {}
    std::uint64_t bytes() const override { return peer_.bytes(); }

    std::optional<std::size_t> run(operation what, std::span<const Key> keys, std::span<bool> answers,
                                   unsigned threads) override {
        std::size_t count = 0;
        switch (what) {
            case operation::insert:
                if constexpr (requires { peer_.insert(keys[0]); }) {
                    for (const Key& key : keys) peer_.insert(key);
                    return keys.size();
                }
                break;
            case operation::insert_batch:
                if constexpr (requires { peer_.insert(keys); }) {
                    peer_.insert(keys);
                    return keys.size();
                }
                break;
            case operation::insert_threads:
                if constexpr (requires { peer_.insert(keys, threads); }) {
                    peer_.insert(keys, threads);
                    return keys.size();
                }
                break;
            case operation::contains:
                if constexpr (requires { peer_.contains(keys[0]); }) {
                    for (const Key& key : keys) count += peer_.contains(key);
                    return count;
                }
                break;
            case operation::contains_batch:
                if constexpr (requires { peer_.contains(keys, answers); })
                    return peer_.contains(keys, answers);
                break;
            case operation::remove:
                if constexpr (requires { peer_.remove(keys[0]); }) {
                    for (const Key& key : keys) count += peer_.remove(key);
                    return count;
                }
                break;
            case operation::remove_batch:
                if constexpr (requires { peer_.remove(keys, answers); }) return peer_.remove(keys, answers);
                break;
        }
        return std::nullopt;
    }

  private:
    Peer peer_;
};

template <class Key, class Peer>
struct entry {
    explicit entry(description about) {
        contenders<Key>().push_back({std::move(about), [](std::uint64_t keys, double bits_per_key) {
                                         return std::make_unique<driven<Key, Peer>>(keys, bits_per_key);
                                     }});
    }
};

}  // namespace compare
