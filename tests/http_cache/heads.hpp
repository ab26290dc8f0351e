// Heads and stored responses in a line, for the tests of the cache.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "posy/http_cache/stored_response.hpp"

namespace posy::http_cache {

using field_list = std::initializer_list<std::pair<std::string_view, std::string_view>>;

inline constexpr seconds noon = 1704110400;  // Mon, 01 Jan 2024 12:00:00 GMT
inline constexpr std::string_view noon_text = "Mon, 01 Jan 2024 12:00:00 GMT";

inline fields with(field_list list) {
    fields all;
    for (const auto& [name, value] : list) all.add(name, value);
    return all;
}

inline request_head get(field_list list = {}, std::string method = "GET") {
    return {std::move(method), "http://example.org/", with(list)};
}

inline response_head answer(unsigned status, field_list list = {}) { return {status, "", with(list)}; }

// A response that came at noon, without delay.
inline stored kept(const response_head& head, const request_head& request = get(),
                   std::string url = "http://example.org/", std::string body = "body") {
    return make_stored(std::move(url), request, head, std::make_shared<const std::string>(std::move(body)),
                       {noon, noon});
}

// Number `number` of many, with a body of this size.
inline std::string url_of(std::uint64_t number) { return "http://example.org/" + std::to_string(number); }
inline stored plain(std::uint64_t number, std::size_t size = 1000, char fill = 'x') {
    return kept(answer(200, {{"Cache-Control", "max-age=60"}}), get(), url_of(number),
                std::string(size, fill));
}

}  // namespace posy::http_cache
