// One request on its way through the proxy.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <span>
#include <string>

#include "heads.hpp"
#include "posy/http_cache/ranges.hpp"
#include "proxy.hpp"

namespace posy::proxy {

struct proxy::exchange {
    http::request& request;
    target to;
    std::shared_ptr<const terms> on;
    http_cache::cache_status status{};          // without our name
    std::shared_ptr<flights::flight> flight{};  // others wait for it
    bool from_disk = false;                     // what was found in the store
    http_cache::stored begun{};                 // parts that do not answer it, but are here
    bool stands_for_get = false;                // the answer to a POST, which may be stored
    std::string lines{};  // of the answer's head, for this client alone: Age, cookies of a 304
    // An answer from the store while it is sent: the object, what is not of it, and the buffers of both.
    http_cache::stored object{};
    std::string head{}, ending{};
    std::optional<http_cache::partial_answer> partial{};
    boost::container::small_vector<boost::asio::const_buffer, 3> parts{};
    std::span<const boost::asio::const_buffer> unsent() const { return {parts.data(), parts.size()}; }
};

// How a client learns where the body ends.
enum class framing { absent, length, chunks, close };
framing framing_of(const http::request&, unsigned status, bool length_is_known);

// The address that a client wrote in place of a name, in whatever form: also 127.1, 2130706433 and 127.0.0.1.
std::optional<http::address> written_address(std::string host);
bool server_error(unsigned status);
// Does it answer the request without asking the origin again?
bool serves(const http_cache::request_head&, const http_cache::stored_response&, http_cache::seconds now);
// The same for others who send this request without directives of their own.
bool serves_others(http_cache::request_head, const http_cache::stored_response&, http_cache::seconds now);

}  // namespace posy::proxy
