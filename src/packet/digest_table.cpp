#include "posy/packet/digest_table.hpp"

#include <algorithm>
#include <string>

namespace posy::packets {

void sightings::ask(const digest_page& page, const imprint& packet, double page_rate) {
    ++pages;
    none_falsely *= 1 - page_rate;
    if (page.may_contain(packet)) seen.push_back(page.when);
}

result<digest_table> digest_table::make(const digest_settings& settings) {
    if (settings.interval == 0) return error::invalid("the interval of a page must be longer than nothing");
    const auto page = choose({.items = settings.packets,
                              .rate = settings.rate,
                              .layout = layout_id::blocked,
                              .hash = hash_family::siphash});
    if (!page) return page.error();
    if (page->memory_bytes() > settings.memory / 2)
        return error::invalid("two pages of " + std::to_string(page->memory_bytes()) +
                              " bytes do not fit into a memory of " + std::to_string(settings.memory) +
                              "; plan fewer packets per page");
    return digest_table(settings, *page);
}

// The oldest page's memory is given back before the new one's is taken.
result<void> digest_table::begin_page(std::uint64_t time) {
    while (!pages_.empty() && (pages_.size() + 1) * plan_.memory_bytes() > settings_.memory) {
        pages_.pop_front();
        ++dropped_;
    }
    // The seed of a page is published with it, and says nothing about those of other pages.
    const digest own = hasher(hash_family::siphash, settings_.seed)(begun_);
    const hash_seed seed{own.low, own.high};
    auto filter = bloom_filter::make(plan_.geometry(plan_.hash, seed));
    if (!filter) return filter.error();
    filter->set_planned(plan_.promise());
    pages_.push_back({std::move(*filter), {time, time}});
    start_ = time;
    ++begun_;
    return {};
}

result<void> digest_table::insert(const imprint& packet, std::uint64_t time) {
    if (pages_.empty() || interval_over(time) || *pages_.back().filter.items() >= settings_.packets) {
        if (auto begun = begin_page(time); !begun) return begun.error();
    }
    digest_page& page = pages_.back();
    page.filter.insert(page.filter.hash()(packet.bytes()));
    page.when = {std::min(page.when.from, time), std::max(page.when.to, time)};
    return {};
}

sightings digest_table::find(const imprint& packet, const time_window& window) const {
    sightings found;
    for (const digest_page& page : pages_)
        if (page.when.meets(window)) found.ask(page, packet);
    return found;
}

std::optional<digest_page> digest_table::take(std::uint64_t now) {
    if (pages_.empty() || (pages_.size() == 1 && !interval_over(now))) return {};
    digest_page oldest = std::move(pages_.front());
    pages_.pop_front();
    return oldest;
}

}  // namespace posy::packets
