// Which packets went through here, and when (SPIE: Snoeren et al. 2001; Broder and Mitzenmacher 2004, 8.2).
//
// Time is cut into pages, each a Bloom filter of the imprints (posy/packet/imprint.hpp) of its packets. A
// page ends when it has lasted for the interval or has taken the packets that it is planned for, so that no
// page exceeds its rate, however fast packets come: then pages are shorter. The oldest page is dropped when
// the memory is used up. A packet that was recorded in a page that is still there is always found.
//
// Packets come from strangers, so digests are SipHash with a secret seed, and each page has its own. So the
// false positives of pages, and of routers, are independent of each other.
//
// Time is handed in, in microseconds since 1970. A packet that is older than the page in use goes into that
// page, whose time is widened. Cost: about 50 ns per packet. Thread safety: none; const calls may run
// together.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/packet/imprint.hpp"
#include "posy/plan.hpp"

namespace posy::packets {

struct digest_settings {
    std::uint64_t packets = 1'000'000;              // most in one page
    double rate = 0.001;                            // of a full page
    std::uint64_t interval = 10'000'000;            // µs
    std::uint64_t memory = std::uint64_t{1} << 28;  // bytes of all pages; at least those of two
    hash_seed seed{};                               // random and secret
};

// From µs to µs, both included.
struct time_window {
    std::uint64_t from = 0, to = ~std::uint64_t{0};

    bool meets(const time_window& other) const { return from <= other.to && other.from <= to; }
    friend bool operator==(const time_window&, const time_window&) = default;
};

struct digest_page {
    bloom_filter filter;
    time_window when;  // the first and the last packet

    bool may_contain(const imprint& packet) const {
        return filter.may_contain(filter.hash()(packet.bytes()));
    }
};

// What pages say about a packet.
struct sightings {
    std::vector<time_window> seen;  // the pages that say yes
    std::uint64_t pages = 0;        // that were asked
    double none_falsely = 1;        // the probability that a packet that never came is in none of them

    void ask(const digest_page& page, const imprint& packet) {
        ask(page, packet, page.filter.false_positive_rate());
    }
    // For those who ask a page for many packets: its rate takes longer to compute than an answer.
    void ask(const digest_page&, const imprint&, double page_rate);
    // The probability that a packet that never came seems to have been seen.
    double false_positive_rate() const { return 1 - none_falsely; }
};

class digest_table {
  public:
    // An error when the settings are impossible, or the memory is less than that of two pages.
    static result<digest_table> make(const digest_settings&);
    // Moved, not copied, as its filters are.
    digest_table(digest_table&&) = default;
    digest_table& operator=(digest_table&&) = default;

    // An error if there is no memory for another page; then the packet is not recorded.
    result<void> insert(const imprint&, std::uint64_t time);

    sightings find(const imprint&, const time_window& = {}) const;

    // Of one page.
    const plan& page_plan() const { return plan_; }
    // The oldest first; the last is in use.
    const std::deque<digest_page>& pages() const { return pages_; }
    // Pages dropped because the memory was used up.
    std::uint64_t dropped() const { return dropped_; }
    std::uint64_t memory_bytes() const { return pages_.size() * plan_.memory_bytes(); }

    // Takes the oldest page that has ended by this time, for those who keep pages elsewhere. At the end of
    // all time, every page has.
    std::optional<digest_page> take(std::uint64_t now);

  private:
    digest_table(const digest_settings& settings, const plan& page) : settings_(settings), plan_(page) {}
    bool interval_over(std::uint64_t time) const {
        return time > start_ && time - start_ >= settings_.interval;
    }
    result<void> begin_page(std::uint64_t time);

    digest_settings settings_;
    plan plan_;
    std::deque<digest_page> pages_;
    std::uint64_t begun_ = 0, dropped_ = 0;  // pages
    std::uint64_t start_ = 0;                // of the page in use
};

}  // namespace posy::packets
