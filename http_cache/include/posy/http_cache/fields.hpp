// The fields of an HTTP message, and the heads they make up: plain values for the caching rules, independent
// of any parser.
//
// Invariant: fields stay in the order of arrival, and repeated names stay repeated (Set-Cookie must). Names
// compare without regard to case (RFC 9110, 5.1). A message has a few dozen fields at most: lookup is a walk.
// Thread safety: as of any value.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posy::http_cache {

// Are two texts of the same length equal, ignoring the case of ASCII letters?
bool same_letters(std::string_view a, std::string_view b);
// The same for names or tokens of any length. Of the names that a walk passes, nearly all differ in length.
inline bool same_name(std::string_view a, std::string_view b) {
    return a.size() == b.size() && same_letters(a, b);
}

class fields {
  public:
    struct field {
        std::string name, value;
        friend bool operator==(const field&, const field&) = default;
    };

    void add(std::string_view name, std::string_view value) {
        all_.push_back({std::string(name), std::string(value)});
    }
    // In place of every field of that name.
    void set(std::string_view name, std::string_view value);
    void erase(std::string_view name);
    void clear() { all_.clear(); }
    void reserve(std::size_t count) { all_.reserve(count); }

    // The first of that name; a view into this object.
    std::optional<std::string_view> find(std::string_view name) const;
    bool has(std::string_view name) const { return find(name).has_value(); }
    // All of that name as one list, joined by ", " (RFC 9110, 5.3); nothing when there is none.
    std::optional<std::string> combined(std::string_view name) const;
    // Is `token` a member of the comma-separated list that the fields of that name make up?
    bool lists(std::string_view name, std::string_view token) const;

    std::size_t size() const { return all_.size(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    friend bool operator==(const fields&, const fields&) = default;

  private:
    std::vector<field> all_;
};

// The members of a comma-separated list, trimmed, empty ones left out; commas in quoted strings do not count.
// A quote without an end is a character like any other, so that it cannot hide the members behind it.
std::vector<std::string_view> list_members(std::string_view list);

struct request_head {
    std::string method{};
    std::string target{};  // as it stood in the request line; an absolute URI at a forward proxy
    http_cache::fields fields{};
};

struct response_head {
    unsigned status = 0;
    std::string reason{};
    http_cache::fields fields{};
};

}  // namespace posy::http_cache
