#include "posy/http_cache/hop_by_hop.hpp"

#include <array>
#include <string_view>

#include "text.hpp"

namespace posy::http_cache {

namespace {

constexpr std::array<std::string_view, 10> always{"Connection",
                                                  "Keep-Alive",
                                                  "Proxy-Connection",
                                                  "Proxy-Authenticate",
                                                  "Proxy-Authentication-Info",
                                                  "Proxy-Authorization",
                                                  "TE",
                                                  "Trailer",
                                                  "Transfer-Encoding",
                                                  "Upgrade"};
constexpr std::array<std::string_view, 3> never{"Host", "Content-Length", "Cache-Control"};

}  // namespace

void remove_hop_by_hop(fields& all) {
    const auto connection = all.combined("Connection").value_or("");
    for (const auto named : list_members(connection)) {
        if (!among(never, named)) all.erase(named);
    }
    for (const auto name : always) all.erase(name);
}

}  // namespace posy::http_cache
