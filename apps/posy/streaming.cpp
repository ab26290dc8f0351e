#include "streaming.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
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

failure no_key(const std::string& place) {
    return failure(
        place + ": it does not begin with 'filter' and a tab; lines must come from 'posy build --streaming'");
}

// What a line may be, by its first part: as soon as it is wrong, no more of it is kept.
struct line_rules {
    std::string name;
    read_limits limits;

    std::string place(std::uint64_t number) const { return fmt::format("{}: line {}", name, number); }
    // The base64 of an array of the largest size, and of what a message has besides.
    std::uint64_t longest() const {
        constexpr std::uint64_t besides = 1 << 20;
        return key.size() + std::min(limits.max_bytes, ~std::uint64_t{0} / 4) / 3 * 4 + besides;
    }
    void check(std::string_view part, std::uint64_t number) const {
        if (!part.starts_with(key.substr(0, part.size()))) throw no_key(place(number));
        if (part.size() > longest())
            throw failure(
                fmt::format("{}: it is longer than {} bytes, what a message of {} takes as a line; if "
                            "you trust the sender, raise it (--max-array)",
                            place(number), longest(), limits.max_bytes));
    }
};

// Calls use(line, its number) for each line of a file, without its end.
template <class Use>
void for_each_line(int file, const line_rules& rules, const Use& use) {
    std::vector<std::byte> block(1 << 16);
    std::string line;
    std::uint64_t number = 0;
    while (const std::size_t size = take(base::read_waiting(file, block), rules.name)) {
        std::string_view rest = as_text(byte_view(block).first(size));
        for (;;) {
            const std::size_t end = rest.find('\n');
            line += rest.substr(0, end);
            rules.check(line, number + 1);
            if (end == std::string_view::npos) break;
            use(std::exchange(line, {}), ++number);
            rest.remove_prefix(end + 1);
        }
    }
    if (!line.empty()) use(std::move(line), ++number);
}

message message_of(std::string_view line, const std::string& place, const read_limits& limits) {
    if (!line.starts_with(key)) throw no_key(place);
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
        const line_rules rules{name, limits};
        for_each_line(file.get(), rules, [&](const std::string& line, std::uint64_t number) {
            const digest d = digest_of(line);
            if (!seen.emplace(d.low, d.high).second) return;
            const std::string place = rules.place(number);
            message next = message_of(line, place, limits);
            allowance.charge(next, name);
            use(std::move(next), place);
        });
    }
    if (seen.empty()) throw failure("there are no lines to unite; did the mappers run?");
}

}  // namespace posy::tool
