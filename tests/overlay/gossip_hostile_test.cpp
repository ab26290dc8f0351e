// Messages that no honest node sends: each changes nothing, or no more than the limits allow, and is counted.
#include <random>

#include "gossip_world.hpp"
#include "overlay/gossip_wire.hpp"
#include "posy/message.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

constexpr node_id stranger = 666;

// A node and what a stranger can do to it, without a network.
struct victim {
    explicit victim(const gossip_settings& settings = quick_settings())
        : how(settings),
          node(*gossip_node::make(1, "here", *counting_filter::make(gossip_world::shape), how, 1, 0)) {}

    outbox send(const gossip::message& m) { return send_bytes(gossip::write(m)); }
    outbox send_bytes(byte_view bytes) {
        outbox out;
        node.receive(stranger, bytes, now, out);
        return out;
    }
    // As after a greeting that mentions the member: the node asks for it, and this is the answer.
    void give(const member_version& v, const std::vector<byte_view>& messages) {
        send(gossip::greeting{++nonce, {}, {v}});
        send(gossip::records{{{v, "somewhere", messages}}});
    }
    const gossip_directory::member* find(node_id id) const { return node.directory().find(id); }

    gossip_settings how;
    gossip_node node;
    std::uint64_t now = 1000, nonce = 0;
};

std::vector<std::byte> summary(std::uint64_t generation, bool all_ones = false,
                               posy::geometry shape = gossip_world::shape) {
    auto filter = *bloom_filter::make(shape);
    for (std::uint64_t i = 0; i < shape.bits; ++i) {
        if (all_ones) filter.bits().flip(i);
    }
    return to_bytes(filter, {.want = coding::smallest, .generation = generation});
}

TEST(gossip_hostile, noise_is_counted_and_changes_nothing) {
    victim v;
    const auto hash = v.node.directory().hash();
    std::mt19937_64 random(1);
    std::uint64_t sent = 0;
    for (; sent < 20'000; ++sent) {
        std::vector<std::byte> bytes(random() % 64);
        for (std::byte& b : bytes) b = static_cast<std::byte>(random());
        // Not a kind of this overlay.
        if (!bytes.empty()) bytes[0] = static_cast<std::byte>(0x40 + random() % 64);
        EXPECT_TRUE(v.send_bytes(bytes).empty());
    }
    EXPECT_EQ(v.node.counts().bad_messages, sent);
    EXPECT_EQ(v.node.directory().hash(), hash);
}

TEST(gossip_hostile, truncated_and_extended_messages_are_refused) {
    const auto body = summary(1);
    const member_version m{7, 1, standing::alive, 1};
    const std::vector<gossip::message> all{
        gossip::greeting{1, 5, {m}},
        gossip::reply{1, false, {true}, {m}},
        gossip::want{{{7, edition{1, 2}}}},
        gossip::records{{{m, "somewhere", {body}}}},
        gossip::parts{},
        gossip::versions{1, {m}},
    };
    at_least cut(300);
    for (const auto& message : all) {
        auto bytes = gossip::write(message);
        const auto read = gossip::read(bytes, {});
        ASSERT_TRUE(read);
        EXPECT_EQ(gossip::write(*read), bytes);
        for (std::size_t size = 0; size < bytes.size(); ++size, ++cut)
            EXPECT_FALSE(gossip::read(byte_view(bytes).first(size), {}));
        bytes.push_back({});
        EXPECT_FALSE(gossip::read(bytes, {}));
    }
}

TEST(gossip_hostile, counts_that_the_bytes_cannot_hold_take_no_memory) {
    // A greeting with 2^60 versions, and an incarnation that nobody could go beyond.
    victim v;
    for (const auto& text :
         {std::string("\x20\x01\x00\x80\x80\x80\x80\x80\x80\x80\x80\x10", 12),
          std::string("\x20\x01\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff"
                      "\xff\xff\xff\xff\x01\x01",
                      24)})
        EXPECT_TRUE(v.send_bytes(as_byte_view(text)).empty());
    EXPECT_EQ(v.node.counts().bad_messages, 2u);
}

TEST(gossip_hostile, records_that_nobody_asked_for_are_ignored) {
    victim v;
    const auto body = summary(1);
    v.send(gossip::records{{{{7, 1, standing::alive, 1}, "somewhere", {body}}}});
    EXPECT_EQ(v.find(7), nullptr);
    EXPECT_EQ(v.node.counts().unsolicited, 1u);
    v.send(gossip::reply{99, true, {}, {}});
    EXPECT_EQ(v.node.counts().unsolicited, 2u);
}

TEST(gossip_hostile, a_filter_of_ones_is_held_but_not_asked) {
    victim v;
    const auto ones = summary(1, true);
    v.give({7, 1, standing::alive, 1}, {ones});
    ASSERT_NE(v.find(7), nullptr);
    EXPECT_EQ(v.find(7)->version.generation, 1u);
    EXPECT_TRUE(v.node.who("anything").empty());
}

TEST(gossip_hostile, summaries_of_a_wrong_size_or_damaged_are_refused) {
    auto how = quick_settings();
    how.limits = {4096, 4096, 0};
    victim v(how);
    const auto huge = summary(1, false, {1 << 20, 5, layout_id::spread});
    v.give({7, 1, standing::alive, 1}, {huge});
    EXPECT_EQ(v.node.counts().refused, 1u);
    EXPECT_EQ(v.node.summary_bytes(), 0u);
    auto damaged = summary(1);
    damaged[damaged.size() / 2] ^= std::byte{1};
    v.give({8, 1, standing::alive, 1}, {damaged});
    EXPECT_EQ(v.node.counts().refused, 2u);
    EXPECT_EQ(v.find(8)->summary.filter(), nullptr);
}

TEST(gossip_hostile, summaries_stay_within_the_budget_and_members_within_their_number) {
    auto how = quick_settings();
    how.budget = 10 * gossip_world::shape.bits / 8;
    how.max_members = 20;
    victim v(how);
    const auto body = summary(1);
    for (node_id id = 100; id < 200; ++id) v.give({id, 1, standing::alive, 1}, {body});
    EXPECT_LE(v.node.summary_bytes(), how.budget);
    EXPECT_EQ(v.node.directory().members().size(), how.max_members);
    EXPECT_GE(v.node.counts().refused, 80u);
}

TEST(gossip_hostile, a_flood_of_changes_of_one_member_is_throttled) {
    victim v;
    std::vector<std::vector<std::byte>> generations;
    std::uint64_t taken = 0;
    for (std::uint64_t g = 1; g <= 1000; ++g) {
        const auto body = summary(g);
        v.give({7, g, standing::alive, g}, {body});
        taken += v.find(7)->version.generation == g;
    }
    EXPECT_LE(taken, static_cast<std::uint64_t>(v.how.burst));
    EXPECT_GE(v.node.counts().throttled, 900u);
    // Later it is heard again.
    v.now += 100 * v.how.calm;
    const auto body = summary(2000);
    v.give({7, 2000, standing::alive, 2000}, {body});
    EXPECT_EQ(v.find(7)->version.generation, 2000u);
}

TEST(gossip_hostile, claims_about_the_node_itself_are_answered_by_a_higher_incarnation) {
    victim v;
    v.send(gossip::greeting{1, {}, {{1, 5, standing::gone, 0}}});
    EXPECT_EQ(v.find(1)->version.status, standing::alive);
    EXPECT_EQ(v.find(1)->version.incarnation, 6u);
    EXPECT_EQ(v.node.counts().objections, 1u);
    v.send(gossip::greeting{2, {}, {{1, 6, standing::alive, 50}}});
    EXPECT_EQ(v.find(1)->version.generation, 51u);
    for (std::uint64_t i = 0; i < 1000; ++i)
        v.send(gossip::greeting{3, {}, {{1, 6, standing::alive, 100 + 2 * i}}});
    EXPECT_LE(v.find(1)->version.generation, 100 + 2 * static_cast<std::uint64_t>(v.how.burst));
}

TEST(gossip_hostile, a_claim_that_somebody_is_gone_gives_it_time_to_object) {
    victim v;
    const auto body = summary(1);
    v.give({7, 1, standing::alive, 1}, {body});
    v.send(gossip::greeting{50, {}, {{7, 1, standing::gone, 1}}});
    EXPECT_EQ(v.find(7)->version.status, standing::suspect);
    v.send(gossip::greeting{51, {}, {{7, 1, standing::gone, 1}}});
    EXPECT_EQ(v.find(7)->version.status, standing::suspect);
    v.send(gossip::greeting{52, {}, {{7, 2, standing::alive, 1}}});
    EXPECT_EQ(v.find(7)->version.status, standing::alive);
}

TEST(gossip_hostile, a_question_for_everything_is_answered_within_limits) {
    auto how = quick_settings();
    how.max_answer = 10'000;
    victim v(how);
    const auto body = summary(1, true);
    for (node_id id = 100; id < 400; ++id) v.give({id, 1, standing::alive, 1}, {body});
    gossip::want all;
    for (node_id id = 100; id < 400; ++id) all.items.push_back({id, std::nullopt});
    std::size_t bytes = 0;
    for (const letter& l : v.send(all)) bytes += l.message.size();
    EXPECT_GT(bytes, 1000u);
    EXPECT_LE(bytes, how.max_answer);
}

}  // namespace
}  // namespace posy::overlay
