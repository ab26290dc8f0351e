#include "posy/overlay/mesh_directory.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "posy/publisher.hpp"
#include "support.hpp"

namespace posy::overlay {
namespace {

constexpr posy::geometry shape{1 << 14, 5, layout_id::spread};

publisher new_publisher(std::uint64_t seed = 0) {
    posy::geometry g = shape;
    g.seed.low = seed;
    return *publisher::make(*counting_filter::make(g), {.history = 4});
}

// A peer with its keys, and those it has published.
struct member {
    std::string name;
    publisher set;
    std::set<std::string> keys, published;

    void change(std::string key) {
        const auto d = set.set().hash()(key);
        if (keys.erase(key) > 0) {
            set.remove(d);
        } else {
            set.insert(d);
            keys.insert(std::move(key));
        }
    }
    void publish() {
        ASSERT_TRUE(set.publish(0));
        published = keys;
    }
};

// Members change and publish. Their messages arrive, get lost or are damaged. A member that published a key
// and was heard since is always named, and others hardly ever.
TEST(mesh_directory, names_all_peers_that_have_a_key) {
    std::mt19937_64 random(1);
    const auto draw = [&](std::uint64_t below) { return random() % below; };
    std::vector<member> members;
    for (int i = 0; i < 6; ++i)
        members.push_back({"peer" + std::to_string(i), new_publisher(i % 2 ? 7 : 0), {}, {}});
    mesh_directory directory;
    std::map<std::string, std::set<std::string>> heard;
    std::uint64_t lookups = 0, false_hits = 0;
    for (std::uint64_t now = 1; now <= 400; ++now) {
        auto& m = members[draw(members.size())];
        for (int i = 0; i < 20; ++i) m.change("key" + std::to_string(draw(600)));
        if (draw(2)) m.publish();
        const auto reply = m.set.answer(directory.edition_of(m.name))->message;
        if (!reply) {
            directory.confirm(m.name, now);
        } else if (draw(4) == 0) {  // damaged on its way
            auto bytes = *reply;
            bytes[draw(bytes.size())] ^= static_cast<std::byte>(1 + draw(255));
            EXPECT_EQ(directory.receive(m.name, bytes, now), reception::damaged);
        } else {
            const auto became = directory.receive(m.name, *reply, now);
            EXPECT_TRUE(became == reception::replaced || became == reception::updated);
            heard[m.name] = m.published;
        }
        const auto key = "key" + std::to_string(draw(600));
        std::set<std::string> named;
        for (const auto& [peer, age] : directory.who(key, now)) {
            EXPECT_TRUE(named.empty() || *named.rbegin() < peer);
            EXPECT_LE(age, now);
            named.insert(peer);
        }
        for (const auto& [peer, keys] : heard) {
            if (keys.contains(key)) {
                EXPECT_TRUE(named.contains(peer));
            } else {
                ++lookups;
                false_hits += named.contains(peer);
            }
        }
        EXPECT_EQ(directory.summaries(now).size(), heard.size());
    }
    // At most 600 keys in 2^14 bits by 5 hashes: a rate below 0.00014, so below 0.3 of some 2,000 lookups.
    // More than 8 come by chance once in 10^10 runs.
    EXPECT_GT(lookups, 1000u);
    EXPECT_LE(false_hits, 8u);
}

TEST(mesh_directory, keeps_what_it_holds_through_poison) {
    auto p = new_publisher(), impostor = new_publisher();
    p.insert(p.set().hash()("mine"));
    impostor.insert(impostor.set().hash()("theirs"));
    ASSERT_TRUE(p.publish(0));
    ASSERT_TRUE(impostor.publish(0));
    mesh_directory directory(read_limits{.max_bytes = 1 << 16});
    // Nothing that is not a summary makes a peer known.
    EXPECT_EQ(directory.receive("p", {}, 1), reception::damaged);
    EXPECT_FALSE(directory.receive_squid("p", as_byte_view("no digest"), 1));
    EXPECT_TRUE(directory.summaries(1).empty());
    EXPECT_EQ(directory.have("p"), std::nullopt);
    ASSERT_EQ(directory.receive("p", *p.full(), 2), reception::replaced);
    EXPECT_EQ(directory.have("p"), 2u);

    const auto whole = *p.full();
    for (std::size_t size = 0; size < whole.size(); size += 7)
        EXPECT_EQ(directory.receive("p", byte_view(whole).first(size), 3), reception::damaged);
    auto twice = whole;
    twice.insert(twice.end(), whole.begin(), whole.end());
    EXPECT_EQ(directory.receive("p", twice, 3), reception::damaged);
    const auto large = to_bytes(*bloom_filter::make({std::uint64_t{1} << 20, 3, layout_id::spread}),
                                {.want = coding::raw, .generation = 9});
    EXPECT_EQ(directory.receive("p", large, 3), reception::too_large);
    EXPECT_FALSE(directory.receive_squid("p", whole, 3));
    const auto holds = [&](std::string_view key) { return directory.who(key, 10).size() == 1; };
    EXPECT_TRUE(holds("mine"));
    EXPECT_FALSE(holds("theirs"));
    EXPECT_EQ(directory.who("mine", 10)[0].age, 8u);

    // A delta against other bits is not applied, and only the whole will do from then on.
    impostor.insert(impostor.set().hash()("more"));
    ASSERT_TRUE(impostor.publish(0));
    EXPECT_EQ(directory.receive("p", **impostor.delta_from(2), 4), reception::wrong_base);
    EXPECT_TRUE(holds("mine"));
    EXPECT_EQ(directory.have("p"), std::nullopt);
    EXPECT_EQ(directory.receive("p", *p.answer(directory.edition_of("p"))->message, 5), reception::replaced);
    EXPECT_EQ(directory.have("p"), 2u);

    directory.forget("p");
    EXPECT_TRUE(directory.who("mine", 10).empty());
    directory.confirm("p", 11);  // of an unknown peer
    EXPECT_TRUE(directory.summaries(11).empty());
}

TEST(mesh_directory, mixes_dialects_and_hashes) {
    mesh_directory directory;
    auto plain = new_publisher(), seeded = new_publisher(99);
    auto squid = *squid_digest::make(100);
    for (auto* p : {&plain, &seeded}) {
        p->insert(p->set().hash()("http://a/"));
        ASSERT_TRUE(p->publish(0));
    }
    squid.insert("http://a/");
    directory.receive("b", *plain.full(), 5);
    directory.receive("c", *seeded.full(), 5);
    ASSERT_TRUE(directory.receive_squid("a", squid.to_bytes(), 5));
    const auto found = directory.who("http://a/", 7);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].peer + found[1].peer + found[2].peer, "abc");
    EXPECT_EQ(found[0].age, 2u);
    EXPECT_TRUE(directory.who("http://b/", 7).empty());
    EXPECT_EQ(directory.have("a"), std::nullopt);
    directory.confirm("a", 9);
    EXPECT_EQ(directory.who("http://a/", 9)[0].age, 0u);
    // Looked at a moment before the message came, or by a clock that was set back.
    EXPECT_EQ(directory.who("http://a/", 3)[0].age, 0u);
    EXPECT_EQ(directory.summaries(3)[1].age, 0u);
    // A peer may change its dialect.
    EXPECT_EQ(directory.receive("a", *plain.full(), 10), reception::replaced);
    EXPECT_EQ(directory.have("a"), 2u);
    ASSERT_TRUE(directory.receive_squid("b", squid.to_bytes(), 10));
    EXPECT_EQ(directory.have("b"), std::nullopt);
    EXPECT_EQ(directory.who("http://a/", 11).size(), 3u);
}

// Peers that change their hashes from time to time: every combination of seeds is in use at some moment, in
// any order, and a peer that has a key is named throughout.
TEST(mesh_directory, follows_peers_through_changes_of_their_hashes) {
    mesh_directory directory;
    constexpr int peers = 5;
    std::vector<publisher> sets;
    for (int i = 0; i < peers; ++i) sets.push_back(new_publisher());
    std::mt19937_64 random(1);
    constexpr std::array families{hash_family::xxh3, hash_family::siphash, hash_family::multiply_shift};
    for (std::uint64_t now = 1; now <= 60; ++now) {
        const auto i = random() % peers;
        auto& set = sets[i];
        posy::geometry g = shape;
        g.bits = shape.bits << random() % 2;
        g.hash = families[random() % families.size()];
        g.seed.low = random() % 2;
        auto reseeded = *counting_filter::make(g);
        reseeded.insert(reseeded.hash()("key" + std::to_string(i)));
        reseeded.insert(reseeded.hash()("all"));
        ASSERT_TRUE(set.rebase(std::move(reseeded), now));
        const auto name = std::to_string(i);
        // There is no delta between different hashes: the whole is asked for.
        ASSERT_EQ(directory.receive(name, *set.answer(directory.edition_of(name))->message, now),
                  reception::replaced);
        std::set<std::string> known;
        for (const auto& s : directory.summaries(now)) known.insert(s.peer);
        EXPECT_EQ(directory.who("all", now).size(), known.size());
        for (const auto& peer : known) {
            const auto found = directory.who("key" + peer, now);
            ASSERT_EQ(found.size(), 1u);
            EXPECT_EQ(found[0].peer, peer);
        }
    }
}

std::vector<std::byte> whole_of(std::uint64_t bytes, std::uint64_t generation) {
    return to_bytes(*bloom_filter::make({8 * bytes, 3, layout_id::spread}),
                    {.want = coding::smallest, .generation = generation});
}

// The memory of all peers together is bounded, and those that came first keep no other from its share.
TEST(mesh_directory, shares_its_memory) {
    constexpr std::uint64_t budget = 4096;
    mesh_directory directory({}, budget);
    directory.share_among(4);  // 1,024 each
    const auto bytes = [&](const std::string& peer) {
        const auto held = directory.summary_of(peer, 0);
        return held ? held->bytes : 0;
    };
    std::string why;
    EXPECT_EQ(directory.receive("a", whole_of(5000, 1), 1, sequence::any, &why), reception::too_large);
    EXPECT_NE(why.find("5000 bytes, above the limit of 4096"), std::string::npos) << why;
    EXPECT_EQ(directory.receive("a", whole_of(4000, 1), 1), reception::replaced);  // there is room
    EXPECT_EQ(directory.receive("b", whole_of(1025, 1), 1), reception::too_large);
    EXPECT_EQ(bytes("a"), 4000u);
    EXPECT_EQ(directory.receive("b", whole_of(1024, 1), 1), reception::replaced);  // its share
    EXPECT_EQ(bytes("a"), 0u);
    EXPECT_EQ(directory.have("a"), std::nullopt);
    EXPECT_EQ(directory.memory_use().evicted, 1u);
    EXPECT_EQ(directory.receive("a", whole_of(4000, 2), 1), reception::too_large);
    EXPECT_EQ(directory.receive("a", whole_of(2000, 2), 1), reception::replaced);
    EXPECT_EQ(directory.receive("c", whole_of(1024, 1), 1), reception::replaced);
    EXPECT_EQ(directory.receive("d", whole_of(900, 1), 1), reception::replaced);
    EXPECT_EQ(bytes("a"), 0u);
    EXPECT_EQ(bytes("b") + bytes("c") + bytes("d"), 2948u);
    // What shrinks makes room.
    EXPECT_EQ(directory.receive("b", whole_of(100, 2), 1), reception::replaced);
    EXPECT_EQ(directory.receive("a", whole_of(2000, 3), 1), reception::replaced);
    EXPECT_EQ(directory.memory_use().used, 4024u);
    // Whatever four peers send, in any order: the budget is kept, and a peer that asks for its share gets it.
    std::mt19937_64 random(1);
    for (std::uint64_t i = 10; i < 3000; ++i) {
        const std::string peer(1, static_cast<char>('a' + random() % 4));
        const std::uint64_t size = 64 + random() % 4200;
        const auto became = directory.receive(peer, whole_of(size, i), i);
        ASSERT_TRUE(became == reception::replaced || size > 1024) << size;
        ASSERT_LE(directory.memory_use().used, budget);
        if (became == reception::replaced) {
            ASSERT_EQ(bytes(peer), size);
        }
    }
}

// A summary that says yes to everything is held, and named nowhere until a better one comes.
TEST(mesh_directory, an_absurd_summary_is_not_asked) {
    mesh_directory directory;
    auto honest = new_publisher();
    honest.insert(honest.set().hash()("key"));
    ASSERT_TRUE(honest.publish(0));
    directory.receive("honest", *honest.full(), 1);
    const auto filled = [](double fill, std::uint64_t generation) {
        auto filter = *bloom_filter::make({100'000, 1, layout_id::spread});
        for (std::uint64_t i = 0; static_cast<double>(i) < 100'000 * fill; ++i) filter.bits().set(i);
        return to_bytes(filter, {.want = coding::smallest, .generation = generation});
    };
    for (const double fill : {1.0, 0.77}) {
        ASSERT_EQ(directory.receive("liar", filled(fill, 5), 1, sequence::any), reception::replaced);
        EXPECT_TRUE(directory.summary_of("liar", 1)->absurd());
        for (std::uint64_t key = 0; key < 100; ++key)
            EXPECT_TRUE(directory.who(std::to_string(key), 1).empty());
        EXPECT_EQ(directory.who("key", 1).size(), 1u);
        ASSERT_EQ(directory.receive("liar", filled(0.75, 4), 1, sequence::any), reception::replaced);
        EXPECT_FALSE(directory.summary_of("liar", 1)->absurd());
        std::size_t named = 0;
        for (std::uint64_t key = 0; key < 100; ++key) named += directory.who(std::to_string(key), 1).size();
        EXPECT_GE(named, 40u);  // of Binomial(100, 0.75), 8 deviations below
    }
}

// No question waits for a message that takes long to decode. One thread decodes it while another asks. The
// test does not look at how long that takes, but at whether questions are answered meanwhile.
TEST(mesh_directory, answers_while_a_message_is_decoded) {
    mesh_directory directory;
    auto p = new_publisher();
    p.insert(p.set().hash()("key"));
    ASSERT_TRUE(p.publish(0));
    directory.receive("steady", *p.full(), 1);
    auto slow = *bloom_filter::make({std::uint64_t{1} << 27, 1, layout_id::spread});
    std::mt19937_64 random(1);
    for (int i = 0; i < 3'000'000; ++i) slow.bits().set(random() % (1 << 27));
    const auto message = to_bytes(slow, {.want = coding::smallest, .generation = 5});
    const auto answered_meanwhile = [&] {
        directory.forget("slow");
        std::atomic<bool> began{false}, done{false};
        std::thread teacher([&] {
            began = true;
            EXPECT_EQ(directory.receive("slow", message, 1), reception::replaced);
            done = true;
        });
        while (!began) std::this_thread::yield();
        std::uint64_t answered = 0;
        while (!done) {
            EXPECT_GE(directory.who("key", 1).size(), 1u);
            (void)directory.summaries(1);
            directory.confirm("steady", 1);
            answered += !done;
        }
        teacher.join();
        return answered;
    };
    // Under a common lock one call waits for all of it. Here some thousands fit; on a busy machine a few, or
    // none, if this thread does not run meanwhile.
    std::uint64_t most = 0;
    for (int round = 0; round < 5 && most <= 5; ++round) most = std::max(most, answered_meanwhile());
    EXPECT_GT(most, 5u);
}

// Questions while summaries come and go. What was heard before all threads started is always found.
TEST(mesh_directory, is_asked_while_it_learns) {
    mesh_directory directory;
    auto p = new_publisher();
    p.insert(p.set().hash()("always"));
    ASSERT_TRUE(p.publish(0));
    directory.receive("steady", *p.full(), 1);
    const auto whole = *p.full();
    std::atomic<bool> done{false};
    std::thread teacher([&] {
        for (std::uint64_t i = 0; i < 300; ++i) {
            directory.receive("comes and goes", whole, i);
            p.insert(p.set().hash()(i));
            if (!p.publish(0)) break;
            if (const auto delta = p.answer(directory.edition_of("steady"))->message)
                directory.receive("steady", *delta, i);
            directory.forget("comes and goes");
        }
        done = true;
    });
    std::uint64_t asked = 0, found = 0;
    do {
        for (const auto& [peer, age] : directory.who("always", 1000)) found += peer == "steady";
        (void)directory.summaries(1000);
        ++asked;
    } while (!done);
    teacher.join();
    EXPECT_EQ(found, asked);
    EXPECT_EQ(directory.have("steady"), p.generation());
}

}  // namespace
}  // namespace posy::overlay
