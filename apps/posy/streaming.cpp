#include "streaming.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "base64.hpp"
#include "posy/base/file.hpp"
#include "posy/digest.hpp"
#include "shared_allowance.hpp"

namespace posy::tool {
namespace {

constexpr std::string_view key = "filter\t";

std::string_view as_text(byte_view bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Calls use(line, its number) for each line of a file, without its end.
template <class Use>
void for_each_line(int file, const std::string& name, const Use& use) {
    std::vector<std::byte> block(1 << 16);
    std::string line;
    std::uint64_t number = 0;
    while (const std::size_t size = take(base::read_waiting(file, block), name)) {
        std::string_view rest = as_text(byte_view(block).first(size));
        for (;;) {
            const std::size_t end = rest.find('\n');
            line += rest.substr(0, end);
            if (end == std::string_view::npos) break;
            use(std::exchange(line, {}), ++number);
            rest.remove_prefix(end + 1);
        }
    }
    if (!line.empty()) use(std::move(line), ++number);
}

message message_of(std::string_view line, const std::string& place, const read_limits& limits) {
    if (!line.starts_with(key))
        throw failure(place +
                      ": it does not begin with 'filter' and a tab; lines must come from 'posy build "
                      "--streaming'");
    const auto bytes = from_base64(line.substr(key.size()));
    if (!bytes) throw failure(place + ": what follows the tab is not base64; the line may be cut off");
    message read = take(from_bytes(as_byte_view(*bytes), limits), place);
    if (read.size != bytes->size()) throw failure(place + ": there are bytes after the message");
    return read;
}

}  // namespace

void print_streaming(body_ref body) {
    const std::vector<std::byte> bytes = to_bytes(body);
    print(std::string(key) + base64(as_text(bytes)) + "\n");
}

void for_each_streamed(const std::vector<std::string>& paths,
                       const std::function<void(message, const std::string&)>& use,
                       const read_limits& limits) {
    const hasher digest_of;
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (const std::string& path : paths) {
        const std::string name = display_name(path);
        const auto file =
            path == "-" ? base::descriptor(dup(STDIN_FILENO)) : take(base::open_for_reading(path), name);
        shared_allowance allowance(limits);
        for_each_line(file.get(), name, [&](const std::string& line, std::uint64_t number) {
            const digest d = digest_of(line);
            if (!seen.emplace(d.low, d.high).second) return;
            const std::string place = fmt::format("{}: line {}", name, number);
            message next = message_of(line, place, limits);
            allowance.charge(next, name);
            use(std::move(next), place);
        });
    }
    if (seen.empty()) throw failure("there are no lines to unite; did the mappers run?");
}

}  // namespace posy::tool
