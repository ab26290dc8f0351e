// posy seen: which of these keys were not seen within the last window of time.
//
// A window filter (posy/window_filter.hpp), asked and told key by key in the order of the input: time comes
// from a field of the records, or from the clock when they are read. It is told in microseconds.
#include <fmt/core.h>

#include <chrono>
#include <csignal>

#include "filter_options.hpp"
#include "keys.hpp"
#include "locking.hpp"
#include "numbers.hpp"
#include "ordered_blocks.hpp"
#include "periodically.hpp"
#include "stop_signal.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    key_options keys;
    hash_options hash;
    lock_options lock;
    reading_options reading;
    std::string window, items = "1M", state, save_every = "1m";
    double rate = 0.01;
    unsigned generations = 6;
    std::string time_field;  // empty: the clock
    bool invert = false;
    std::optional<command_line> command;
};

constexpr unsigned decimals = 6;                           // of a second: microseconds
constexpr std::uint64_t latest = 100'000'000'000'000'000;  // in the year 5138

std::uint64_t window_of(const options& o) {
    return static_cast<std::uint64_t>(parse_duration("--window", o.window).count());
}

// What the state file was planned for stays; an option that says otherwise is an error.
window_filter go_on(const options& o) {
    // This command wrote it: a large array in few bytes is one that is nearly empty.
    const read_limits most = o.reading.limits();
    message m = load_message(o.state, most.holding(most.max_bytes));
    auto* filter = std::get_if<window_filter>(&m.body);
    if (!filter)
        throw failure(o.state + ": this command needs what 'posy seen --state' saved, and this is " +
                      kind_name(m.body));
    const std::uint64_t remembered = filter->remembered_at_least();
    const std::string window = duration(std::chrono::microseconds(remembered));
    const auto keep = [&](const std::string& option, bool same, const std::string& made_with) {
        if (o.command->given(option) && !same)
            throw failure(
                fmt::format("{}: its window of {} was made with {}; leave {} out, or name another file",
                            o.state, window, made_with, option));
    };
    const unsigned g = filter->generations();
    const auto [items, rate] = filter->planned();
    keep("--generations", o.generations == g, fmt::format("--generations {}", g));
    keep("--window", o.window.empty() || (window_of(o) + g - 1) / g * g == remembered, "--window " + window);
    keep("--items", parse_amount(o.items) == items, fmt::format("--items {}", items));
    keep("--fpr", o.rate == rate, fmt::format("--fpr {}", rate));
    const std::string family(name_of(filter->hash().family()));
    keep("--hash", o.hash.given() == filter->hash().family(), "--hash " + family);
    const bool same_seed = !o.hash.has_seed() || o.hash.seed() == filter->hash().seed();
    keep("--seed", same_seed, "another seed");  // which may be a secret
    keep("--seed-file", same_seed, "another seed");
    return std::move(*filter);
}

window_filter open(const options& o) {
    if (!o.state.empty()) check_output(o.state);
    if (!o.state.empty() && std::filesystem::exists(o.state)) return go_on(o);
    if (o.window.empty()) throw failure("seen: the time to remember keys is missing; give it with --window");
    return take(window_filter::with_rate(parse_amount(o.items), o.rate, window_of(o), o.generations,
                                         layout_id::blocked, hasher(o.hash.family(), o.hash.seed())),
                "seen");
}

// Warns when a window has more keys than planned: at once if there are twice as many or more (a pipe may
// never end), and at the end with the final number.
class overload {
  public:
    explicit overload(const window_filter& filter) : filter_(filter), next_(filter.most_items() + 1) {}

    void look(std::uint64_t time) {
        const std::uint64_t items = filter_.items(time);
        if (items < next_) return;
        next_ = items + items / 100 + 1;
        items_ = items;
        rate_ = filter_.false_positive_rate(time);
        if (items / 2 > std::max(told_, filter_.most_items())) tell();
    }
    void tell() {
        if (items_ == told_) return;
        told_ = items_;
        const auto [planned, rate] = filter_.planned();
        fmt::print(stderr,
                   "posy: {} keys were remembered at once, more than a window for {} has (at most {}): "
                   "up to {:.2g} % of new keys were taken for seen then, not {:.2g} %\n",
                   count(static_cast<double>(items_)), count(static_cast<double>(planned)),
                   count(static_cast<double>(filter_.most_items())), 100 * rate_, 100 * rate);
    }

  private:
    const window_filter& filter_;
    std::uint64_t next_, items_ = 0, told_ = 0;
    double rate_ = 0;
};

struct sight {
    digest key;
    std::uint64_t time;
    std::string_view record;
};

std::vector<sight> sights_in(const options& o, const hasher& hash, const block& piece) {
    std::vector<sight> all;
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const auto now =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
    const auto time_of = [&](std::string_view record) -> std::optional<std::uint64_t> {
        if (o.time_field.empty()) return now;
        const auto text = text_in(o.keys, piece, record, o.time_field);
        return text ? parse_time(*text, decimals) : std::nullopt;
    };
    for_each_key(o.keys, piece, [&](std::string_view key, std::string_view record) {
        const auto time = time_of(record);
        if (!time)
            return o.keys.missing(
                piece, record, "a time in field " + o.time_field + ", in seconds or as 2026-05-01T12:30:00Z");
        if (*time > latest)
            throw failure(
                where(piece, record) + ": the time in field " + o.time_field +
                " lies beyond the year 5000; are these milliseconds or microseconds? It is read in seconds");
        all.push_back({o.keys.hash(hash, key), *time, record});
    });
    return all;
}

// What seen() remembers, on its way to the state file: now and then, and at the end, however that comes.
class kept_state {
  public:
    explicit kept_state(options& o) : o_(o) {
        if (o.state.empty()) return;
        lock_.emplace(change_lock::to_change({o.state}, o.state, o.lock));
        o.keys.stop = stop_on_signal();  // what was printed is remembered, even if a signal ends the input
        std::signal(SIGPIPE, SIG_IGN);   // or the reader of the output
    }
    std::chrono::microseconds interval() const {
        return o_.state.empty() ? std::chrono::microseconds(0)
                                : parse_duration("--save-every", o_.save_every);
    }
    void save(const window_filter& filter) const {
        if (!o_.state.empty()) save_body(o_.state, filter, {}, &*lock_);
    }

  private:
    const options& o_;
    std::optional<change_lock> lock_;
};

void run(options& o) {
    o.keys.also_reads(o.time_field);
    const kept_state state(o);
    window_filter filter = open(o);
    overload load(filter);
    std::uint64_t late = 0, printed = 0;
    std::mutex changing;
    const periodically saves(state.interval(), [&] {
        const std::lock_guard lock(changing);
        state.save(filter);
    });
    const auto look = [&](const std::vector<sight>& sights) {
        const std::lock_guard lock(changing);
        std::string out;
        for (const auto& [key, time, record] : sights) {
            const bool seen = filter.may_contain(key, time);
            if (!filter.insert(key, time)) ++late;
            load.look(time);
            if (seen != o.invert) continue;
            ++printed;
            (out += record) += o.keys.record_end();
        }
        print(out);
    };
    try {
        for_each_block_in_order(o.keys, "looking", [&](const block& piece) {
            return [&, sights = sights_in(o, filter.hash(), piece)] { look(sights); };
        });
    } catch (const closed_pipe&) {
        state.save(filter);
        throw;
    }
    state.save(filter);
    load.tell();
    if (late > 0)
        fmt::print(stderr,
                   "posy: {} keys were more than a window older than others; they were not remembered\n",
                   count(static_cast<double>(late)));
    if (printed == 0) throw answer_is_no{};
}

}  // namespace

void add_seen(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "seen", "Print the keys that were not seen lately",
        "  posy seen --window 10m --time-field 1 --field 2 log.csv      no repetitions within 10 minutes\n"
        "  posy seen --window 1d --state seen.posy new.txt              what is new since yesterday's runs\n"
        "A key is remembered from when it was last seen, for the window and up to one generation more.\n"
        "Of the new keys, a share of at most --fpr is taken for seen, however unevenly keys come, as long\n"
        "as no window has more than --items. A generation ends after its part of the window or of --items,\n"
        "whichever comes first; a key that comes back within a generation counts once, and one that comes\n"
        "back later again. With --state, SIGINT, SIGTERM and a closed pipe end the input: what was read\n"
        "until then is remembered.\n"
        "Exit status: 0 if a key was printed, 1 if none, 2 on an error.");
    o->keys.add_to(command);
    command.add_option("--window TIME", o->window,
                       "How long to remember a key, e.g. 90s, 0.5s, 10m, 1.5h or 7d; a number alone is in "
                       "seconds (default: that of the --state file; needed if there is none)");
    add_amount(command, "-n,--items N", o->items,
               "Largest number of keys per window; a key counts once in each generation that sees it")
        .shows_default();
    command
        .add_option("-f,--fpr RATE", o->rate,
                    "Highest false-positive rate: the share of new keys that are taken for seen")
        .shows_default();
    command.add_option("--generations N", o->generations, "Number of steps in which a window is forgotten")
        .shows_default();
    command.add_option("--time-field COLUMN", o->time_field,
                       "Column with the time, in seconds or as in 2026-05-01T12:30:00.5Z: its number or "
                       "name, or its path if "
                       "--json-path is given (default: the time of the clock)");
    o->reading.add_to(command);
    command.add_option("--state FILE", o->state,
                       "File to continue from and to save to; if it does not exist, it is made by the other "
                       "options (default: nothing is saved)");
    command
        .add_option(
            "--save-every TIME", o->save_every,
            "How often --state is saved while input comes, e.g. 30s; it is always saved at the end; 0 for "
            "only then")
        .shows_default();
    command.add_flag("-v,--invert", o->invert, "Print the keys that may have been seen");
    o->lock.add_to(command);
    for (const char* option : {"--save-every", "--lock-wait", "--max-array"})
        command.find(option).needs("--state");
    o->hash.add_to(command);
    o->command = command;
    command.runs([o] { run(*o); });
}

}  // namespace posy::tool
