#include "reconcile_keys.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

#include "posy/base/threads.hpp"
#include "posy/secret_hash.hpp"
#include "tool.hpp"

namespace posy::tool {

using namespace reconcile;

key_table::key_table(const key_options& keys, digest_width width) : keys_(keys), width_(width) {
    std::mutex adding;
    for_each_block(keys_, "reading", [&](const block& piece) {
        std::string texts;
        std::vector<entry> entries;
        for_each_key(keys_, piece, [&](std::string_view key, std::string_view) {
            entries.push_back({{}, texts.size(), key.size()});
            texts += key;
        });
        const std::lock_guard lock(adding);
        for (entry& e : entries) e.offset += texts_.size();
        texts_ += texts;
        entries_.insert(entries_.end(), entries.begin(), entries.end());
    });
}

void key_table::hash_by(const hasher& hash) {
    hash_ = hash;
    constexpr std::size_t at_once = 4096;
    base::for_each_index((entries_.size() + at_once - 1) / at_once, keys_.thread_count(), [&](auto part) {
        const auto rest = std::span(entries_).subspan(part * at_once);
        for (entry& e : rest.first(std::min(at_once, rest.size()))) e.element = element(text(e));
    });
    std::ranges::sort(entries_, ascending{}, &entry::element);
    std::vector<digest> digests;
    digests.reserve(entries_.size());
    for (const entry& e : entries_) {
        if (!digests.empty() && digests.back() == e.element) refuse_collision(*(&e - 1), e);
        digests.push_back(e.element);
    }
    set_ = digest_set(hash, width_, std::move(digests));
}

std::string key_table::text_of(const digest& wanted) const {
    return std::string(text(*std::ranges::lower_bound(entries_, wanted, ascending{}, &entry::element)));
}

key_owner key_table::owner() const {
    return {[this](const digest& d) { return text_of(d); },
            [this](std::string_view text) { return element(text); }};
}

digest key_table::element(std::string_view key) const {
    digest d = keys_.hash(hash_, key);
    if (width_ == digest_width::half) d.high = 0;
    return d;
}

// A key may come again, and an integer may be written in several ways: those are equal under any hash.
void key_table::refuse_collision(const entry& a, const entry& b) const {
    const auto& secret = hash::secret_hasher();
    if (text(a) == text(b) || keys_.hash(secret, text(a)) == keys_.hash(secret, text(b))) return;
    throw failure(fmt::format("reconcile: two keys have one digest under {}, '{}' and '{}'; {}",
                              name_of(hash_.family()), text(a), text(b),
                              width_ == digest_width::half
                                  ? "give --digest-bits 128, or leave out --hash and --seed"
                                  : "leave out --hash and --seed"));
}

}  // namespace posy::tool
