// What a value holds, as jsonb. Fields have the names of `posy info --json`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "posy/estimate.hpp"
#include "posy/message.hpp"

namespace posy::postgres {

// An object, written field by field.
class json_object {
  public:
    json_object& add(std::string_view name, std::string_view text);
    json_object& add(std::string_view name, std::uint64_t number);
    json_object& add(std::string_view name, double number);  // null if it is not finite
    json_object& add(std::string_view name, bool yes);
    json_object& add(std::string_view name, const estimate&);
    json_object& add_null(std::string_view name);
    template <class T>
    json_object& add(std::string_view name, const std::optional<T>& known) {
        return known ? add(name, *known) : add_null(name);
    }
    std::string text() const { return text_ + "}"; }

  private:
    json_object& raw(std::string_view name, std::string_view value);
    std::string text_ = "{";
};

std::string info_of(const bloom_filter&, std::size_t stored_bytes);
std::string info_of(const sealed_filter&, std::size_t stored_bytes);
std::string info_of(const bloomier_map&, std::size_t stored_bytes);
std::string info_of(const count_min&, std::size_t stored_bytes);
std::string json_of(const comparison&);

}  // namespace posy::postgres
