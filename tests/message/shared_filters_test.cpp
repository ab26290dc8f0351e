#include "posy/shared_filters.hpp"

#include "posy/publisher.hpp"
#include "posy/subscriber.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr posy::geometry shape{4096, 3, layout_id::spread};

TEST(shared_filters, equal_messages_on_equal_bases_are_decoded_once) {
    auto p = *publisher::make(*counting_filter::make(shape));
    shared_filters pool;
    subscriber a, b, alone;
    a.share(&pool), b.share(&pool);
    for (subscriber* s : {&a, &b, &alone}) EXPECT_EQ(s->receive(*p.full(), 1), reception::replaced);
    EXPECT_EQ(a.filter(), b.filter());
    EXPECT_NE(a.filter(), alone.filter());
    const auto before = a.shared_filter();

    p.insert(p.set().hash()(7));
    ASSERT_TRUE(p.publish(2));
    const auto delta = **p.delta_from(1);
    for (subscriber* s : {&a, &b, &alone}) EXPECT_EQ(s->receive(delta, 3), reception::updated);
    EXPECT_EQ(a.filter(), b.filter());
    EXPECT_EQ(*a.filter(), *alone.filter());
    EXPECT_EQ(a.edition(), alone.edition());
    EXPECT_FALSE(before->may_contain(before->hash()(7)));
    EXPECT_EQ(*pool.whole(a.shared_filter(), 2), *p.full());
    EXPECT_EQ(pool.whole(a.shared_filter(), 2), pool.whole(b.shared_filter(), 2));
}

TEST(shared_filters, what_nobody_holds_is_dropped) {
    shared_filters pool;
    std::uint64_t held = 0;
    for (std::uint64_t generation = 1; generation <= 5000; ++generation) {
        subscriber s;
        s.share(&pool);
        const auto p = *publisher::make(*counting_filter::make(shape), {.first_generation = generation});
        held += s.receive(*p.full(), generation) == reception::replaced;
        (void)pool.whole(s.shared_filter(), generation);
    }
    EXPECT_EQ(held, 5000u);
    EXPECT_LE(pool.size(), 1024u);
}

TEST(publisher, a_renumbered_generation_replaces_what_others_hold) {
    auto p = *publisher::make(*counting_filter::make(shape));
    subscriber s;
    EXPECT_EQ(s.receive(*p.full(), 1), reception::replaced);
    p.renumber(9);
    EXPECT_EQ(p.generation(), 9u);
    const auto answer = *p.answer(s.edition());
    EXPECT_EQ(answer.what, publisher::reply::kind::whole);
    EXPECT_EQ(s.receive(*answer.message, 2), reception::replaced);
    EXPECT_EQ(s.generation(), 9u);
}

}  // namespace
}  // namespace posy
