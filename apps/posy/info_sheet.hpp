// What 'posy info' prints of a filter: rows for people, and the same as fields for programs.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "numbers.hpp"
#include "posy/geometry.hpp"

namespace posy::tool {

inline std::string row(std::string_view what, const std::string& value) {
    return fmt::format("{:<22}{}\n", what, value);
}

inline std::string seed_of(const hash_seed& seed) {
    return fmt::format("0x{:016x}{:016x}", seed.high, seed.low);
}

inline std::string hash_text(hash_family family, const hash_seed& seed) {
    return fmt::format(
        "{}, seed {}", name_of(family),
        seed.high != 0 ? fmt::format("0x{:x}{:016x}", seed.high, seed.low) : std::to_string(seed.low));
}

inline std::string hashes_text(const geometry& g) {
    return fmt::format("{}, {}", g.hashes, name_of(g.layout));
}

inline std::string planned_text(std::uint64_t planned, double beyond) {
    return count(static_cast<double>(planned)) + (beyond > 0 ? "; exceeded by " + count(beyond) : "");
}

// A field for programs and a row for people of each fact.
class sheet {
  public:
    void add(const char* field, nlohmann::ordered_json value, std::string_view what,
             const std::string& text) {
        fields_[field] = std::move(value);
        text_ += row(what, text);
    }
    void add_number(const char* field, std::uint64_t n, std::string_view what) {
        add(field, n, what, count(static_cast<double>(n)));
    }
    void add_bytes(const char* field, std::uint64_t n, std::string_view what) {
        add(field, n, what, bytes(n));
    }
    void add_rate(const char* field, double share, std::string_view what) {
        add(field, share, what, rate(share));
    }
    void add_hash(const hasher& hash) {
        add("hash", name_of(hash.family()), "hash", hash_text(hash.family(), hash.seed()));
        fields_["seed"] = seed_of(hash.seed());
    }
    void add_hashes(const geometry& g) {
        add("hashes", g.hashes, "hashes", hashes_text(g));
        fields_["layout"] = name_of(g.layout);
    }
    void add_planned(std::uint64_t items, double beyond) {
        add("planned_items", items, "items planned", planned_text(items, beyond));
        fields_["past_plan"] = beyond > 0;
    }
    void add_name(const char* field, std::string_view name) { add(field, name, field, std::string(name)); }
    void add_estimate(const estimate& items) {
        add("estimated_items", tool::to_json(items), "different items", range(items) + " at 95 %");
    }

    std::string print(bool json) const { return json ? fields_.dump(2) + "\n" : text_; }

  private:
    nlohmann::ordered_json fields_ = nlohmann::ordered_json::object();
    std::string text_;
};

}  // namespace posy::tool
