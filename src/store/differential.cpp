#include "posy/store/differential.hpp"

#include <utility>
#include <vector>

#include "posy/store/filter_of.hpp"

namespace posy::store {
namespace {

// What the changes hold for a key: a byte that says what became of it, and its value.
constexpr char written = '=', erased = '-';

std::string entry_of(const change& made) {
    return made.value ? written + *made.value : std::string(1, erased);
}

result<change> change_of(std::string_view key, std::string_view entry) {
    if (entry.starts_with(written)) return change{std::string(key), std::string(entry.substr(1))};
    if (entry == std::string_view(&erased, 1)) return change{std::string(key), {}};
    return error::damaged("the changes of the differential file have an entry that is not one: key '" +
                          std::string(key) + "'; was this store written by something else?");
}

// The changes from `first` on, at most `most`.
result<std::vector<change>> next_changes(const pairs& changes, std::string_view first, std::size_t most) {
    std::vector<change> found;
    result<void> readable;
    auto done = changes.each(first, [&](std::string_view key, std::string_view entry) {
        auto one = change_of(key, entry);
        if (!one) {
            readable = one.error();
            return false;
        }
        found.push_back(std::move(*one));
        return found.size() < most;
    });
    if (!done) return done.error();
    if (!readable) return readable.error();
    return found;
}

}  // namespace

result<filter<std::string>> differential::filter_of_changes(const pairs& changes,
                                                            const differential_options& options,
                                                            std::uint64_t room) {
    return filter_of<std::string>(
        [&](const key_visitor<std::string>& visit) {
            return changes.each({}, [&](std::string_view key, std::string_view) {
                visit(key);
                return true;
            });
        },
        room, options.rate, options.hash);
}

result<differential> differential::open(pairs& base, pairs& changes, const differential_options& options) {
    if (options.batch == 0) return error::invalid("a merge needs batches of at least one change");
    auto made = filter_of_changes(changes, options, options.changes);
    if (!made) return made.error();
    return differential(base, changes, options, std::move(*made));
}

result<std::optional<std::string>> differential::get(std::string_view key) {
    ++counters_.reads;
    if (filter_.may_contain(key)) {
        ++counters_.change_reads;
        const auto entry = changes_->get(key);
        if (!entry) return entry.error();
        if (*entry) {
            auto made = change_of(key, **entry);
            if (!made) return made.error();
            return std::move(made->value);
        }
        ++counters_.false_positives;
    }
    ++counters_.base_reads;
    return base_->get(key);
}

// The filter first: if the store then fails, it may only be asked in vain.
result<void> differential::write(std::span<const change> made) {
    std::vector<change> entries;
    for (const change& one : made) {
        if (!filter_.may_contain(one.key)) filter_.insert(one.key);
        entries.push_back({one.key, entry_of(one)});
    }
    if (auto done = changes_->write(entries); !done) return done;
    const std::uint64_t held = filter_.items().value_or(0);
    if (held <= filter_.untyped().provenance().planned->items) return {};
    auto larger = filter_of_changes(*changes_, options_, 2 * held);
    // Without it the old one is still right, if slower; the changes are written.
    if (larger) filter_ = std::move(*larger);
    return {};
}

result<void> differential::put(std::string_view key, std::string_view value) {
    const change one{std::string(key), std::string(value)};
    return write({&one, 1});
}

result<void> differential::erase(std::string_view key) {
    const change one{std::string(key), {}};
    return write({&one, 1});
}

result<bool> differential::merge_step() {
    auto batch = next_changes(*changes_, merged_, options_.batch);
    if (!batch) return batch.error();
    if (batch->empty()) {
        auto made = filter_of_changes(*changes_, options_, options_.changes);
        if (!made) return made.error();
        filter_ = std::move(*made);
        merged_.clear();
        return false;
    }
    if (auto done = base_->write(*batch); !done) return done.error();
    std::string behind = batch->back().key + '\0';  // the least key after it
    for (change& one : *batch) one.value.reset();
    if (auto done = changes_->write(*batch); !done) return done.error();
    merged_ = std::move(behind);
    return true;
}

result<void> differential::merge() {
    for (;;) {
        const auto more = merge_step();
        if (!more) return more.error();
        if (!*more) return {};
    }
}

}  // namespace posy::store
