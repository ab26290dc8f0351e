// posy seen: which of these keys were not seen in the last so much time.
//
// A window filter (posy/window_filter.hpp), asked and told key by key in the order of the input: time comes
// from a field of the records, or from the clock when they are read.
#include <fmt/core.h>

#include <ctime>

#include "keys.hpp"
#include "shape.hpp"
#include "text.hpp"
#include "tool.hpp"
#include "turns.hpp"

namespace posy::tool {
namespace {

struct options {
    key_options keys;
    hash_options hash;
    std::string window, items = "1M", state;
    double rate = 0.01;
    unsigned generations = 6;
    std::size_t time_field = 0;  // 0: the clock
    bool invert = false;
};

window_filter open(const options& o) {
    if (!o.state.empty() && std::filesystem::exists(o.state)) {
        message m = load_message(o.state);
        if (auto* filter = std::get_if<window_filter>(&m.body)) return std::move(*filter);
        throw failure(o.state + ": this needs what 'posy seen --state' saved, and it is " +
                      kind_name(m.body));
    }
    if (o.window.empty()) throw failure("seen: say how long keys are to be remembered, with --window");
    return take(
        window_filter::with_rate(parse_amount(o.items), o.rate, parse_duration("--window", o.window),
                                 o.generations, layout_id::blocked, hasher(o.hash.family(), o.hash.seed())),
        "seen");
}

struct sight {
    digest key;
    std::uint64_t time;
    std::string_view record;
};

std::vector<sight> sights_in(const options& o, const hasher& hash, const block& piece) {
    std::vector<sight> all;
    const auto now = static_cast<std::uint64_t>(std::time(nullptr));
    for_each_key(o.keys, piece, [&](std::string_view key, std::string_view record) {
        const std::uint64_t time = o.time_field == 0 ? now : number_in(o.keys, piece, record, o.time_field);
        all.push_back({o.keys.hash(hash, key), time, record});
    });
    return all;
}

void run(const options& o) {
    window_filter filter = open(o);
    std::uint64_t late = 0, printed = 0;
    for_each_block_in_turn(o.keys, "looking", [&](const block& piece) {
        return [&, sights = sights_in(o, filter.hash(), piece)] {
            std::string out;
            for (const auto& [key, time, record] : sights) {
                const bool seen = filter.may_contain(key, time);
                if (!filter.insert(key, time)) ++late;
                if (seen != o.invert) continue;
                ++printed;
                (out += record) += o.keys.record_end();
            }
            print(out);
        };
    });
    if (!o.state.empty()) save_body(o.state, filter);
    if (late > 0)
        fmt::print(stderr, "posy: {} keys came more than a window behind others; they were not remembered\n",
                   count(static_cast<double>(late)));
    exit_status = printed > 0 ? 0 : 1;
}

}  // namespace

void add_seen(CLI::App& app) {
    const auto o = std::make_shared<options>();
    CLI::App* command = add_command(
        app, "seen", "Print the keys that were not seen lately",
        "  posy seen --window 10m --time-field 1 --field 2 log.csv      without repetitions within 10 "
        "minutes\n"
        "  posy seen --window 1d --state seen.posy new.txt              what is new since yesterday's runs\n"
        "A key is remembered from its last sight on, for the window and up to a generation more. Of the "
        "keys\n"
        "that are new, a share of at most --fpr is taken for seen, if a window has no more than --items.\n"
        "Exit status: 0 if a key was printed, 1 if none, 2 on an error.");
    o->keys.add_to(*command);
    command->add_option("--window", o->window, "How long to remember: 90s, 10m, 6h or 7d");
    command->add_option("-n,--items", o->items, "Most different keys in a window")->capture_default_str();
    command->add_option("-f,--fpr", o->rate, "Highest false-positive rate")->capture_default_str();
    command->add_option("--generations", o->generations, "In how many steps to forget")
        ->capture_default_str();
    command
        ->add_option("--time-field", o->time_field,
                     "The field of a record with its time in seconds (default: the clock)")
        ->check(CLI::Range(1, 1'000'000));
    command->add_option("--state", o->state,
                        "Go on with what this file remembers, and save it there; a new one is made as told");
    command->add_flag("-v,--invert", o->invert, "Print the keys that may have been seen");
    o->hash.add_to(*command);
    command->callback([o] { run(*o); });
}

}  // namespace posy::tool
