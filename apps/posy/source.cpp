#include "source.hpp"

#include "numbers.hpp"
#include "secret_file.hpp"
#include "tool.hpp"
#ifdef POSY_NODE
#include "node/remote.hpp"
#endif

namespace posy::tool {

bool is_url(const std::string& path) { return path.starts_with("http://") || path.starts_with("https://"); }

void fetch_options::refuse_for_file(const command_line& command, const std::string& path) const {
    if (!offered || is_url(path)) return;
    for (const char* option : {"--timeout", "--max-time", "--max-size", "--token-file", "--tls-ca"}) {
        if (command.given(option))
            throw failure(std::string(option) + " is for a URL, and " + display_name(path) +
                          " is not; leave it out");
    }
}

#ifdef POSY_NODE

void fetch_options::add_to(command_line& command) {
    offered = true;
    command.add_option("--timeout SECONDS", timeout, "For a URL: seconds to wait for the server's next byte")
        .between(0.001, 86'400.0)
        .shows_default();
    command
        .add_option("--max-time SECONDS", max_time,
                    "For a URL: seconds for the whole answer, however steadily it comes; at least --timeout")
        .between(0.001, 86'400.0)
        .shows_default();
    add_amount(command, "--max-size SIZE", max_size,
               "For a URL: largest answer to accept, in bytes, e.g. 64MiB; the array in it may take as much, "
               "or less if --max-array is smaller")
        .shows_default();
    command.add_option("--token-file FILE", token_file,
                       "For a URL: file with the token that the server wants, sent as Authorization: Bearer "
                       "(default: none)");
    command
        .add_option("--tls-ca FILE", tls_authority,
                    "For an https URL: PEM file of the authorities to trust (default: those of the system)")
        .existing_file();
}

node::remote fetch_options::remote(const std::string& url, const read_limits& limits) const {
    node::remote from;
    auto where = http::parse_url(url);
    if (!where) throw failure(url + ": not a URL; write http://HOST:PORT/PATH or https://HOST/PATH");
    from.where = std::move(*where);
    from.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000));
    from.max_time = std::chrono::milliseconds(static_cast<std::int64_t>(max_time * 1000));
    from.max_bytes = parse_amount(max_size);
    from.limits = limits;
    from.tls_authority = tls_authority;
    if (!token_file.empty()) from.token = read_secret("--token-file", token_file);
    return from;
}

std::string fetch(const std::string& url, const fetch_options& how, const read_limits& limits) {
    const node::remote from = how.remote(url, limits);
    try {
        http::system_time time;
        return node::fetch(from, time);
    } catch (const std::runtime_error& e) {
        throw failure(url + ": " + e.what());
    }
}

#else

void fetch_options::add_to(command_line&) {}

std::string fetch(const std::string& url, const fetch_options&, const read_limits&) {
    throw failure(url + ": this posy was built without HTTP (POSY_NODE); fetch it with another tool");
}

#endif

}  // namespace posy::tool
