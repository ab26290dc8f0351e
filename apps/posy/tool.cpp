#include "tool.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include <cmath>

#include "foreign.hpp"
#include "locking.hpp"
#include "numbers.hpp"
#include "password_file.hpp"
#include "posy/base/file.hpp"
#include "posy/standing.hpp"
#include "shared_allowance.hpp"

namespace posy::tool {

command_line add_command(command_line& program, const std::string& name, const std::string& what,
                         const std::string& examples) {
    return program.add_command(name, what, "Examples:\n" + examples);
}

void add_threads(command_line& command, unsigned& into) {
    command.add_option("--threads N", into, "Number of threads; 0 for one per core")
        .between(0, 1024)
        .shows_default();
}

read_limits reading_options::limits() const {
    return max_array.empty() ? read_limits{} : read_limits::exactly(parse_amount(max_array));
}

void reading_options::add_to(command_line& command) {
    add_amount(
        command, "--max-array SIZE", max_array,
        "Most memory in bytes that decoding one message may take, and that the short messages of one input "
        "may take together, e.g. 2GiB (default: 62 MiB plus 32 times the bytes of the message, at most 4 "
        "GiB)");
}

std::string display_name(const std::string& path, bool output) {
    if (path != "-") return path;
    return output ? "standard output" : "standard input";
}

std::string text_of(const error& why, std::string_view option) {
    return why.limit ? fmt::format("{} ({})", why.text(), option) : why.text();
}

std::uint64_t memory_of(const any_body& body) {
    const auto of_bits = [](std::uint64_t bits) { return bits / 8; };
    return std::visit(
        [&]<class Body>(const Body& b) -> std::uint64_t {
            if constexpr (std::same_as<Body, counting_filter>)
                return of_bits(b.geometry().bits * (1 + b.counters().width()));
            else if constexpr (std::same_as<Body, filter_delta>)
                return of_bits(b.geometry.bits);
            else if constexpr (std::same_as<Body, heavy_hitters>)
                return b.sketch().memory_bytes();
            else if constexpr (requires { b.memory_bytes(); })
                return b.memory_bytes();
            else if constexpr (std::same_as<Body, growing_filter>)
                return of_bits(b.bits());
            else if constexpr (requires { b.geometry().bits; })
                return of_bits(b.geometry().bits);
            else
                return 0;
        },
        body);
}

namespace {

void for_each_message_at(const std::string& url, const std::function<void(message, const std::string&)>& use,
                         read_limits limits, const fetch_options& how) {
    const bool size_is_limit = how.offered && parse_amount(how.max_size) < limits.max_bytes;
    if (size_is_limit) limits.max_bytes = parse_amount(how.max_size);
    const std::string body = fetch(url, how, limits);
    byte_view rest = as_byte_view(body);
    shared_allowance allowance(limits);
    do {
        auto next = from_bytes(rest, limits);
        if (!next) {
            const bool by_size = size_is_limit && limits.most(rest.size()) == limits.max_bytes;
            const std::string why = text_of(next.error(), by_size ? "--max-size" : "--max-array");
            const bool too_large = next.error().kind == error_kind::too_large;
            throw failure(url + (too_large ? ": " : ": the answer is not a message: ") + why);
        }
        rest = rest.subspan(next->size);
        allowance.charge(*next, url);
        use(std::move(*next), url);
    } while (!rest.empty());
}

}  // namespace

void for_each_message(const std::vector<std::string>& paths,
                      const std::function<void(message, const std::string&)>& use, const read_limits& limits,
                      const fetch_options& how) {
    for (const std::string& path : paths) {
        if (is_url(path)) {
            for_each_message_at(path, use, limits, how);
            continue;
        }
        const std::string name = display_name(path);
        const auto file =
            path == "-" ? base::descriptor(dup(STDIN_FILENO)) : take(base::open_for_reading(path), name);
        message_reader reader(file.get(), limits);
        shared_allowance allowance(limits);
        refuse_foreign(path);
        const auto take_next = [&] {
            auto read = reader.next();
            if (!read) read = with_hint_at_format(read.error(), path);
            return take(std::move(read), name);
        };
        while (auto next = take_next()) {
            allowance.charge(*next, name);
            use(std::move(*next), name);
        }
    }
}

message load_message(const std::string& path, const read_limits& limits, const fetch_options& how) {
    std::optional<message> first;
    for_each_message(
        {path},
        [&](message next, const std::string& name) {
            if (first) throw failure(name + ": more than one message; unite them first with 'posy union'");
            first = std::move(next);
        },
        limits, how);
    return std::move(*first);  // the reader does not end without a message or an error
}

std::string kind_name(const any_body& body) {
    switch (kind_of(body)) {
        case message_kind::filter:
            return "a filter";
        case message_kind::counting:
            return "a counting filter";
        case message_kind::delta:
            return "a delta";
        case message_kind::queryable:
            return "a queryable filter";
        case message_kind::sealed:
            return is_password_list(body) ? "a list of passwords" : "a sealed filter";
        case message_kind::map:
            return "a Bloomier map";
        case message_kind::sketch:
            return "a Count-Min sketch";
        case message_kind::spectral:
            return "a spectral filter";
        case message_kind::heavy_hitters:
            return "a list of heavy hitters";
        case message_kind::growing:
            return "a growing filter";
        case message_kind::window:
            return "a window filter";
        case message_kind::reconciliation:
            return "a reconciliation message";
    }
    return {};
}

bloom_filter plain_of(any_body body, const std::string& name) {
    if (auto* plain = std::get_if<bloom_filter>(&body)) return std::move(*plain);
    if (const auto* counting = std::get_if<counting_filter>(&body))
        return take(counting->projection().clone(), name);
    if (const auto* compressed = std::get_if<compressed_filter>(&body))
        return take(compressed->unpack(), name);
    if (const auto* growing = std::get_if<growing_filter>(&body)) {
        if (growing->arrays().size() == 1) {
            bloom_filter plain = take(growing->arrays()[0].clone(), name);
            plain.set_items(growing->items());
            return plain;
        }
        throw failure(
            fmt::format("{}: this command needs a plain filter, and this is a growing filter of {} arrays; "
                        "build one with --items",
                        name, growing->arrays().size()));
    }
    if (std::holds_alternative<filter_delta>(body))
        throw failure(name + ": a delta is not a filter; apply it to its base with 'posy apply'");
    throw failure(name + ": this command needs a plain filter, and this is " + kind_name(body));
}

bloom_filter load_plain(const std::string& path, const read_limits& limits) {
    return plain_of(load_message(path, limits).body, display_name(path));
}

void check_output(const std::string& path) {
    if (path != "-") return void(take(base::atomic_file::create(path), path));
    if (isatty(STDOUT_FILENO))
        throw failure(
            "standard output is a terminal, and a filter is not text; name a file with -o, or redirect the "
            "output");
}

void refuse_both_from_stdin(const std::string& a, const std::string& b) {
    if (a == "-" && b == "-")
        throw failure("both inputs cannot come from standard input; name a file for one of them");
}

void save_body(const std::string& path, body_ref body, const packing& how, const change_lock* held) {
    const std::string name = display_name(path, true);
    check_output(path);
    const change_lock lock = change_lock::to_replace(path, held);
    if (path != "-") return take(save(path, body, how), name);
    take(write_message(STDOUT_FILENO, body, how), name);
}

void warn_if_past_plan(const bloom_filter& filter, const std::string& path) {
    if (!past_plan(filter)) return;
    const auto stands = standing_of(filter);
    const promise planned = *filter.provenance().planned;
    // Filters of as many items differ by chance: a few more than planned do not show in the bits.
    constexpr double surely = 0.999999;
    if (estimate_items(filter, surely).low <= static_cast<double>(planned.items)) return;
    fmt::print(stderr,
               "posy: {}: it holds {} items, {} more than the {} it was planned for, and its false-positive "
               "rate is {} instead of {}; rebuild it with --items {:.0f} or more\n",
               display_name(path, true), count(stands->items),
               count(stands->items - static_cast<double>(planned.items)),
               count(static_cast<double>(planned.items)), rate(filter.false_positive_rate()),
               rate(planned.rate), std::ceil(stands->items));
}

void warn_if_past_plan(const any_body& body, const std::string& path) {
    if (const auto* plain = std::get_if<bloom_filter>(&body)) warn_if_past_plan(*plain, path);
    if (const auto* counting = std::get_if<counting_filter>(&body))
        warn_if_past_plan(counting->projection(), path);
    if (const auto* compressed = std::get_if<compressed_filter>(&body)) {
        const auto planned = compressed->provenance().planned;  // unpacked only if there may be a reason
        if (planned && compressed->items().value_or(0) > planned->items)
            warn_if_past_plan(take(compressed->unpack(), path), path);
    }
}

void print(std::string_view text) {
    const auto written = base::write_fully(STDOUT_FILENO, as_byte_view(text));
    if (!written && errno == EPIPE) throw closed_pipe{};
    take(written, "standard output");
}

}  // namespace posy::tool
