#include "posy/overlay/geographic.hpp"

#include <gtest/gtest.h>

#include <random>

#include "overlay/geographic_mail.hpp"
#include "simulate/network.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

namespace mail = geographic_mail;

constexpr unsigned levels = 3, side = 1U << levels;

// A field of 64 stations, and hosts that walk about in it.
class field_of_stations {
  public:
    explicit field_of_stations(double loss = 0)
        : field_(std::make_shared<geographic_field>(*geographic_field::plan(levels, 1000, 0.02))),
          net({.latency = {}, .loss = loss}, 1) {
        for (std::uint32_t y = 0; y < side; ++y) {
            for (std::uint32_t x = 0; x < side; ++x)
                net.join(node_of({0, x, y}), *geographic_station::make(field_, {0, x, y}, 0));
        }
    }
    square random_cell() {
        return {0, static_cast<std::uint32_t>(random() % side), static_cast<std::uint32_t>(random() % side)};
    }
    void appear(int hosts) {
        for (int i = 0; i < hosts; ++i) {
            at.push_back(random_cell());
            moves.push_back(0);
            net.at(node_of(at.back()),
                   [&](auto& s, auto now, auto& out) { s.appear(at.size() - 1, now, out); });
        }
    }
    void move(std::size_t host) {
        const square to = random_cell(), from = std::exchange(at[host], to);
        if (to == from) return;
        net.at(node_of(to),
               [&](auto& s, auto now, auto& out) { s.arrive(host, node_of(from), ++moves[host], now, out); });
    }
    void ask(host_id host) {
        net.at(node_of(random_cell()), [&](auto& s, auto now, auto& out) { s.search(host, now, out); });
    }
    std::vector<geographic_station::answer> answers() {
        std::vector<geographic_station::answer> all;
        net.each([&](node_id, geographic_station& s) {
            std::ranges::move(s.take_answers(), std::back_inserter(all));
        });
        return all;
    }
    bool rest() { return net.run_to_rest(net.now() + 10'000'000); }

    // Every filter is that of the hosts in its square, and every station has the newest.
    void expect_exact() {
        net.each([&](node_id who, geographic_station& s) {
            for (unsigned level = 0; level < levels; ++level) {
                const square own = around(cell_of(who), level);
                for (const square sibling : siblings(own)) {
                    auto truth = *bloom_filter::make(field_->summaries[level]);
                    for (host_id host = 0; host < at.size(); ++host) {
                        if (contains(sibling, at[host])) truth.insert(truth.hash()(host));
                    }
                    const bloom_filter* held = s.summary_of(sibling);
                    ASSERT_NE(held, nullptr);
                    EXPECT_EQ(*held, truth);
                }
                EXPECT_EQ(s.summary_of(own), nullptr);
            }
        });
    }

  private:
    std::shared_ptr<const geographic_field> field_;

  public:
    simulate::network<geographic_station> net;
    std::mt19937_64 random{1};
    std::vector<square> at;
    std::vector<std::uint64_t> moves;
};

TEST(GeographicStation, SummariesAreExactAfterARest) {
    field_of_stations f;
    f.appear(1000);
    ASSERT_TRUE(f.rest());
    f.expect_exact();
    for (int i = 0; i < 3000; ++i) {
        f.move(f.random() % 1000);
        f.net.run_until(f.net.now() + 20);
    }
    ASSERT_TRUE(f.rest());
    f.expect_exact();
    f.net.each([](node_id, geographic_station& s) { EXPECT_EQ(s.refused(), 0U); });
}

TEST(GeographicStation, FindsEveryHostWhileAllMove) {
    field_of_stations f;
    f.appear(1000);
    ASSERT_TRUE(f.rest());
    at_least found(2000, "answers");
    for (int i = 0; i < 2000; ++i) {
        for (int j = 0; j < 3; ++j) f.move(f.random() % 1000);
        f.ask(f.random() % 1000);
        f.net.run_until(f.net.now() + 50);
    }
    ASSERT_TRUE(f.rest());
    for (const auto& a : f.answers()) {
        EXPECT_TRUE(a.at) << a.host;
        ++found;
    }
}

TEST(GeographicStation, RecoversFromLostMessages) {
    field_of_stations f(0.1);
    f.appear(1000);
    ASSERT_TRUE(f.rest());
    // Every square changes again, so that every station sees what it has missed.
    for (int round = 0; round < 12; ++round) {
        for (std::size_t host = 0; host < 1000; ++host) f.move(host);
        ASSERT_TRUE(f.rest());
    }
    at_least right(1000, "hosts where they are");
    for (host_id host = 0; host < 1000; ++host) {
        ASSERT_TRUE(f.net.find(node_of(f.at[host]))->has(host));
        ++right;
    }
    // A summary may be late, but reports are not lost: the heads count exactly.
    f.net.each([&](node_id who, geographic_station& s) {
        for (unsigned level = 0; level < levels; ++level) {
            if (const auto* own = s.publishes(level)) {
                const square region = around(cell_of(who), level);
                const auto there = std::ranges::count_if(f.at, [&](square c) { return contains(region, c); });
                EXPECT_EQ(own->set().items(), static_cast<std::uint64_t>(there));
            }
        }
    });
}

TEST(GeographicStation, AskingEveryCellFindsAHostThatNoSummaryShows) {
    field_of_stations f;
    f.appear(100);  // and no time for summaries
    f.net.at(node_of({0, 0, 0}), [](auto& s, auto now, auto& out) { s.search_everywhere(42, now, out); });
    f.net.run_until(2'000);
    const auto all = f.answers();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].at, node_of(f.at[42]));
    EXPECT_EQ(f.net.sent().messages_of_kind[static_cast<int>(mail::kind::call)], 1U + 4 + 16 + 64);
}

TEST(GeographicStation, AHostThatIsSwitchedOffIsForgotten) {
    field_of_stations f;
    f.appear(1000);
    ASSERT_TRUE(f.rest());
    f.net.at(node_of(f.at[7]), [](auto& s, auto now, auto& out) {
        EXPECT_TRUE(s.vanish(7, now, out));
        EXPECT_FALSE(s.vanish(7, now, out));
    });
    f.at[7] = {levels, 9, 9};  // nowhere
    ASSERT_TRUE(f.rest());
    f.expect_exact();
}

TEST(GeographicStation, ChangesNothingForBadMessages) {
    field_of_stations f;
    f.appear(1000);
    ASSERT_TRUE(f.rest());
    const node_id victim = node_of({0, 2, 2});
    const auto all_ones = [] {
        auto filter = *bloom_filter::make({64, 1, layout_id::spread});
        return to_bytes(filter, {.generation = 1'000'000});
    }();
    std::vector<std::vector<std::byte>> bad{
        {},
        {std::byte{0}},
        {std::byte{200}, std::byte{1}},
        mail::bytes_of_summary({0, 3, 2}, all_ones),        // a wrong geometry
        mail::bytes_of_summary({0, 2, 2}, all_ones),        // no sibling
        mail::bytes_of_summary({9, 0, 0}, all_ones),        // no square of the field
        mail::bytes_of(mail::search{.next = {{0, 3, 3}}}),  // for another station
        mail::bytes_of(mail::search{.origin = 1 << 20, .next = {{0, 2, 2}}}),
        mail::bytes_of(mail::answer{.ticket = 1, .host = 2}),  // to no question
        mail::bytes_of(mail::call{.region = {2, 0, 0}}),       // not from the head above
        mail::bytes_of_want({0, 7, 7}),                        // not below
    };
    std::vector<std::byte> parcel{static_cast<std::byte>(mail::kind::parcel), std::byte{0x7f}};
    std::ranges::copy(mail::bytes_of(mail::change{5, levels, true}), std::back_inserter(parcel));
    bad.push_back(parcel);  // from a station that is no head below
    parcel[2] = std::byte{9};
    bad.push_back(parcel);  // with an unknown record
    at_least refused(bad.size() + 2, "refused");
    for (const auto& message : bad) {
        const std::uint64_t before = f.net.find(victim)->refused();
        f.net.at(victim, [&](auto& s, auto now, auto& out) {
            s.receive(node_of({0, 3, 2}), message, now, out);
        });
        EXPECT_EQ(f.net.find(victim)->refused(), before + 1) << &message - bad.data();
        refused += f.net.find(victim)->refused() - before;
    }
    for (const node_id stranger : {node_id{1} << 40, node_of({0, 200, 2})}) {
        f.net.at(victim, [&](auto& s, auto now, auto& out) { s.receive(stranger, parcel, now, out); });
        ++refused;
    }
    ASSERT_TRUE(f.rest());
    f.expect_exact();
}

TEST(GeographicMail, ComesBackAsItWas) {
    const mail::search s{1, node_of({0, 3, 4}), 99, 5, 77, {{0, 1, 2}, {2, 1, 1}}};
    const auto bytes = mail::bytes_of(s);
    const auto again = mail::read_search(byte_view(bytes).subspan(1), levels);
    ASSERT_TRUE(again);
    EXPECT_EQ(mail::bytes_of(*again), bytes);
    for (std::size_t cut = 1; cut < bytes.size(); ++cut)
        EXPECT_FALSE(mail::read_search(byte_view(bytes).first(cut).subspan(1), levels)) << cut;
    const auto records = mail::bytes_of(mail::move{7, 300});
    ASSERT_TRUE(mail::read_records(records, levels));
    EXPECT_EQ(std::get<mail::move>(mail::read_records(records, levels)->at(0)).moves, 300U);
}

}  // namespace
}  // namespace posy::overlay
