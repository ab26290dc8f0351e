// A store in memory that fails when it is told to.
#pragma once

#include <map>
#include <string>

#include "posy/store/pairs.hpp"

namespace posy::store {

struct memory_pairs : pairs {
    std::map<std::string, std::string, std::less<>> held;
    mutable std::uint64_t gets = 0;
    int writes_until_failure = -1;  // never, if negative

    result<std::optional<std::string>> get(std::string_view key) const override {
        ++gets;
        const auto found = held.find(key);
        return found == held.end() ? std::nullopt : std::optional(found->second);
    }
    result<void> write(std::span<const change> changes) override {
        if (writes_until_failure == 0) return error::input_output("the disk is full");
        --writes_until_failure;
        for (const change& each : changes) {
            if (each.value) {
                held.insert_or_assign(each.key, *each.value);
            } else {
                held.erase(each.key);
            }
        }
        return {};
    }
    result<void> each(std::string_view first, const visitor& visit) const override {
        for (auto at = held.lower_bound(first); at != held.end() && visit(at->first, at->second);) ++at;
        return {};
    }
};

}  // namespace posy::store
