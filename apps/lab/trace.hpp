// A trace: which client asked for what, in order. Read from our own columns, from tables with a header line
// and from logs in the common format, compressed with gzip or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace posy::lab {

struct trace {
    struct item {
        std::uint32_t proxy;   // the one that its client uses
        std::uint32_t object;  // index into objects
    };
    struct object {
        std::string name;     // a path, without a slash in front
        std::uint64_t bytes;  // of the largest answer seen
    };
    std::vector<item> requests;
    std::vector<object> objects;
};

// A table starts with a line of names: it needs "object" or "url", and may have "proxy" (a number; without it
// clients are assigned by "host"), "bytes" and "method" (methods other than GET are left out). A line of a
// log is host - - [time] "GET url HTTP/1.0" status bytes. At most `limit` requests. Throws
// std::runtime_error.
trace read_trace(const std::string& path, std::uint32_t proxies, std::size_t limit);

// A synthetic trace: `requests` of Zipf popularity 0.8 over `objects`, spread over the proxies at random.
trace made_up_trace(std::uint32_t proxies, std::size_t requests, std::size_t objects);

}  // namespace posy::lab
