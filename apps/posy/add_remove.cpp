// posy add, posy remove: change a filter in its file.
#include <fmt/core.h>

#include <mutex>

#include "keys.hpp"
#include "locking.hpp"
#include "numbers.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    std::string filter, output;
    key_options keys;
    lock_options lock;
    reading_options reading;

    std::string target() const { return output.empty() ? filter : output; }
};

// Calls use(digests) for all keys, one batch at a time.
template <class Use>
void for_each_batch_in_turn(const key_options& keys, const hasher& hash, const std::string& title, Use use) {
    std::mutex one_at_a_time;
    for_each_batch(keys, hash, title, [&](std::span<const digest> batch) {
        const std::lock_guard lock(one_at_a_time);
        use(batch);
    });
}

void run_add(const options& o) {
    o.keys.refuse_both_from_stdin(o.filter);
    const auto lock = change_lock::to_change({o.filter}, o.target(), o.lock);
    message m = load_message(o.filter, o.reading.limits());
    if (auto* counting = std::get_if<counting_filter>(&m.body)) {
        for_each_batch_in_turn(o.keys, counting->hash(), "adding",
                               [&](std::span<const digest> batch) { counting->insert(batch); });
    } else if (auto* growing = std::get_if<growing_filter>(&m.body)) {
        for_each_batch_in_turn(o.keys, growing->hash(), "adding", [&](std::span<const digest> batch) {
            take(growing->insert(batch), display_name(o.filter));
        });
    } else {
        auto plain = plain_of(std::move(m.body), display_name(o.filter));
        insert_keys(plain, o.keys, plain.hash(), "adding");
        m.body = std::move(plain);
    }
    save_body(o.target(), m.body, {}, &lock);
    warn_if_past_plan(m.body, o.target());
}

void run_remove(const options& o) {
    o.keys.refuse_both_from_stdin(o.filter);
    const auto lock = change_lock::to_change({o.filter}, o.target(), o.lock);
    message m = load_message(o.filter, o.reading.limits());
    auto* counting = std::get_if<counting_filter>(&m.body);
    if (!counting) {
        throw failure(
            display_name(o.filter) +
            ": keys cannot be removed from a plain filter; only one built with --counting can remove keys");
    }
    std::uint64_t refused = 0;
    for_each_batch_in_turn(o.keys, counting->hash(), "removing", [&](std::span<const digest> batch) {
        const std::unique_ptr<bool[]> removed(new bool[batch.size()]);
        refused += batch.size() - counting->remove(batch, {removed.get(), batch.size()});
    });
    save_body(o.target(), m.body, {}, &lock);
    if (refused > 0) {
        fmt::print(stderr, "posy: keys that were certainly not in the set and were not removed: {}\n",
                   count(static_cast<double>(refused)));
        throw answer_is_no{};
    }
}

}  // namespace

void add_add_and_remove(command_line& app) {
    const auto command = [&](const std::string& name, const std::string& what, const std::string& examples,
                             auto run) {
        const auto o = std::make_shared<options>();
        command_line sub = add_command(app, name, what, examples);
        sub.add_option(
               "FILTER", o->filter,
               "File of the filter, which is changed in place unless -o is given; with -o it may be a URL")
            .required();
        o->keys.add_to(sub);
        sub.add_option("-o,--output FILE", o->output,
                       "File to write instead of FILTER; - for standard output (default: FILTER itself)");
        o->lock.add_to(sub);
        o->reading.add_to(sub);
        sub.runs([o, run] { run(*o); });
    };
    command("add", "Add keys to a filter",
            "  posy add seen.posy new.txt\n"
            "  echo http://example.org/ | posy add cache.posy",
            run_add);
    command("remove", "Remove keys from a counting filter",
            "  posy remove cache.posy evicted.txt\n"
            "Exit status: 0 if all keys were removed, 1 if some were certainly absent, 2 on an error.",
            run_remove);
}

}  // namespace posy::tool
