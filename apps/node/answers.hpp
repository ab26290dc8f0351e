// The plain answers of a node.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "http/server.hpp"

namespace posy::node {

inline http::response answer(unsigned status, std::string body = {}, std::string_view type = "text/plain") {
    http::response r{{status, {}, {}}, std::move(body)};
    if (!r.body.empty()) r.head.fields.add("Content-Type", type);
    return r;
}

inline http::response json(const nlohmann::json& value, unsigned status = 200) {
    return answer(status, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                  "application/json");
}

}  // namespace posy::node
