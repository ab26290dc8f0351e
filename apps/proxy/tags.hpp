// Which stored URLs carry which tags (Cache-Tag, Surrogate-Key), so that a purge by tag finds them.
//
// A URL is a number here, and so is a tag: 64 bits of a hash under a secret key. Two tags that share a number
// are purged together. Two URLs that share one have one set of tags, and lose it when either leaves, so that
// a purge misses the other. Nobody can make such a pair without the key, and by chance a million URLs have
// one with odds of 3 in 100 million. In return a tagged object costs some 80 bytes and 8 for each tag. A
// purge looks at all URLs that have tags. The tags of all variants of a URL are one set. A URL with more than
// most_tags is taken to carry every tag, and so is one that was on disk before the start: its tags were not
// seen.
//
// Thread safety: all calls from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "posy/http_cache/fields.hpp"
#include "posy/secret_hash.hpp"

namespace posy::proxy {

// Members of a list, with commas or blanks between them.
inline std::vector<std::string_view> words_of(std::string_view list) {
    std::vector<std::string_view> found;
    constexpr std::string_view between = ", \t";
    for (auto at = list.find_first_not_of(between); at != std::string_view::npos;) {
        const auto end = std::min(list.find_first_of(between, at), list.size());
        found.push_back(list.substr(at, end - at));
        at = list.find_first_not_of(between, end);
    }
    return found;
}

class tags {
  public:
    using number = std::uint64_t;
    static constexpr std::size_t most_tags = 256;  // of one URL

    // As fields name them, each once.
    static std::vector<number> of(const http_cache::fields& fields) {
        std::vector<number> found;
        for (const auto* name : {"Cache-Tag", "Surrogate-Key"}) {
            const auto list = fields.combined(name);
            if (!list) continue;
            for (const auto word : words_of(*list)) found.push_back(number_of(word));
        }
        std::ranges::sort(found);
        found.erase(std::ranges::unique(found).begin(), found.end());
        return found;
    }

    void learn(std::string_view url, const http_cache::fields& fields) {
        const auto more = of(fields);
        if (more.empty()) return;
        const std::lock_guard lock(mutex_);
        auto& all = of_url_[number_of(url)];
        if (all.any) return;
        std::vector<number> both;
        std::ranges::set_union(all.tags, more, std::back_inserter(both));
        all = both.size() > most_tags ? known{{}, true} : known{std::move(both), false};
    }
    // It may carry any.
    void doubt(std::string_view url) {
        const std::lock_guard lock(mutex_);
        of_url_[number_of(url)] = {{}, true};
    }
    void forget(std::string_view url) {
        const std::lock_guard lock(mutex_);
        of_url_.erase(number_of(url));
    }
    // Does it carry one of them?
    enum class answer : std::uint8_t { no, yes, perhaps };
    answer carries(std::string_view url, const std::vector<number>& wanted) const {
        const std::lock_guard lock(mutex_);
        const auto found = of_url_.find(number_of(url));
        if (found == of_url_.end()) return answer::no;
        if (found->second.any) return answer::perhaps;
        const bool one = std::ranges::find_first_of(found->second.tags, wanted) != found->second.tags.end();
        return one ? answer::yes : answer::no;
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return of_url_.size();
    }

  private:
    struct known {
        std::vector<number> tags;  // sorted
        bool any = false;
    };
    static number number_of(std::string_view text) { return hash::secret_hasher()(text).low; }

    mutable std::mutex mutex_;
    std::unordered_map<number, known> of_url_;
};

}  // namespace posy::proxy
