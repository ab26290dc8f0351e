#include "posy/http_cache/partial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "heads.hpp"
#include "posy/http_cache/policy.hpp"
#include "posy/http_cache/ranges.hpp"
#include "posy/http_cache/store.hpp"
#include "posy/http_cache/validation.hpp"
#include "support.hpp"
#include "watcher.hpp"

namespace posy::http_cache {
namespace {

constexpr std::string_view page = "http://example.org/";

exchange_times now() {
    exchange_times times{noon, noon};
    times.asked = next_moment();
    times.answered = next_moment();
    return times;
}

// Bytes of a page of 60, from `first` on; each version has a letter of its own.
std::string bytes_of(char version, const byte_range& at) {
    std::string all;
    for (auto i = at.first; i <= at.last; ++i) all += static_cast<char>(i % 2 ? version : 'A' + i % 26);
    return all;
}
constexpr std::uint64_t length = 60;

response_head head_of(char version, field_list more = {}) {
    auto head = answer(206, {{"Cache-Control", "max-age=60"}, {"Date", noon_text}, {"X-A", "1"}});
    head.fields.add("ETag", std::string("\"") + version + '"');
    for (const auto& [name, value] : more) head.fields.set(name, value);
    return head;
}
stored part(char version, const byte_range& at, exchange_times times = now(), field_list more = {}) {
    return make_partial(page, get(), head_of(version, more),
                        {length, at.first, std::make_shared<const std::string>(bytes_of(version, at))},
                        times);
}
stored whole(char version, exchange_times times = now()) {
    return make_stored(std::string(page), get(), head_of_whole(head_of(version)),
                       std::make_shared<const std::string>(bytes_of(version, {0, length - 1})), times);
}
std::unique_ptr<store> memory(observer* watching = nullptr) {
    return *store::open({{.bytes = 16 << 20, .shards = 1}, std::nullopt}, watching);
}

TEST(partial, what_a_206_carries) {
    const auto carried = [](std::string_view range, field_list more = {}) {
        auto head = answer(206, {{"Content-Range", range}});
        for (const auto& [name, value] : more) head.fields.add(name, value);
        return carried_by(head);
    };
    const auto found = carried(" bytes 4-9/10 ", {{"Content-Length", "6"}});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->at, (byte_range{4, 9}));
    EXPECT_EQ(found->length, 10u);
    EXPECT_TRUE(carried("BYTES 0-0/1"));
    for (const auto* wrong : {"", "bytes", "bytes 4-9", "bytes 4-9/*", "bytes */10", "bytes 4-10/10",
                              "bytes 9-4/10", "lines 4-9/10", "bytes 4-9/10, bytes 0-1/10", "bytes -9/10",
                              "bytes 4-/10", "bytes 0-1/99999999999999999999", "bytes 4/9-10", "4-9/10"}) {
        EXPECT_FALSE(carried(wrong)) << wrong;
    }
    EXPECT_FALSE(carried("bytes 4-9/10", {{"Content-Length", "5"}}));
    EXPECT_FALSE(carried("bytes 4-9/10", {{"Content-Range", "bytes 0-1/10"}}));
    EXPECT_FALSE(carried("bytes 4-9/10", {{"Content-Type", "Multipart/Byteranges; boundary=x"}}));
    EXPECT_FALSE(carried_by(answer(200, {{"Content-Range", "bytes 4-9/10"}})));
}

TEST(partial, needs_a_strong_validator) {
    EXPECT_TRUE(part('a', {0, 1}));
    EXPECT_FALSE(part('a', {0, 1}, now(), {{"ETag", "W/\"a\""}}));
    EXPECT_FALSE(part('a', {0, 1}, now(), {{"ETag", "a"}}));
    auto dated = head_of('a', {{"Last-Modified", "Mon, 01 Jan 2024 11:00:00 GMT"}});
    dated.fields.erase("ETag");
    const auto made = [&] {
        return make_partial(page, get(), dated, {length, 0, std::make_shared<const std::string>("x")}, now());
    };
    EXPECT_TRUE(made());
    dated.fields.set("Last-Modified", noon_text);  // may have changed twice in that second
    EXPECT_FALSE(made());
    dated.fields.erase("Last-Modified");
    EXPECT_FALSE(made());
}

TEST(partial, has_the_head_of_the_whole) {
    const auto made =
        part('a', {10, 19}, now(), {{"Content-Range", "bytes 10-19/60"}, {"Content-Length", "10"}});
    EXPECT_EQ(made->head.status, 200u);
    EXPECT_EQ(made->head.fields.find("Content-Length"), "60");
    EXPECT_FALSE(made->head.fields.has("Content-Range"));
    EXPECT_EQ(url_of_key(made->url), page);
    EXPECT_TRUE(is_parts_key(made->url));
    EXPECT_FALSE(is_parts_key(page));
    EXPECT_GT(made->size, 10u + stored_overhead);
}

TEST(partial, answers_what_is_here) {
    const auto held = part('a', {10, 19});
    const auto answers = [&](field_list fields, std::string method = "GET") {
        return answers_in_part(get(fields, std::move(method)), *held);
    };
    EXPECT_TRUE(answers({}, "HEAD"));
    EXPECT_FALSE(answers({}));
    EXPECT_TRUE(answers({{"Range", "bytes=10-19"}}));
    EXPECT_TRUE(answers({{"Range", "bytes=12-13"}}));
    EXPECT_TRUE(answers({{"Range", "bytes=60-"}}));  // 416: the length is known
    EXPECT_FALSE(answers({{"Range", "bytes=9-12"}}));
    EXPECT_FALSE(answers({{"Range", "bytes=12-"}}));
    EXPECT_FALSE(answers({{"Range", "bytes=12-13,40-41"}}));
    EXPECT_FALSE(answers({{"Range", "lines=12-13"}}));
    EXPECT_TRUE(answers({{"Range", "bytes=12-13"}, {"If-Range", "\"a\""}}));
    EXPECT_FALSE(answers({{"Range", "bytes=12-13"}, {"If-Range", "\"b\""}}));
    EXPECT_FALSE(answers({{"Range", "bytes=12-13"}}, "POST"));
    const auto given = partial_of(get({{"Range", "bytes=12-13"}}), *held);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->head.fields.find("Content-Range"), "bytes 12-13/60");
    EXPECT_EQ(held->slices(given->parts[0].at), std::vector<std::string_view>{bytes_of('a', {12, 13})});
}

TEST(partial, a_newer_part_updates_the_head) {
    const auto tiers = memory();
    tiers->put(part('a', {0, 9}, now(), {{"X-A", "1"}, {"X-B", "1"}}));
    tiers->put(part('a', {20, 29}, now(), {{"X-A", "2"}}));
    const auto held = tiers->find_parts(page, get());
    ASSERT_TRUE(held);
    EXPECT_EQ(held->head.fields.find("X-A"), "2");
    EXPECT_EQ(held->head.fields.find("X-B"), "1");
    EXPECT_TRUE(held->parts->covers({0, 9}) && held->parts->covers({20, 29}));
}

TEST(partial, is_validated_with_its_range_and_confirmed) {
    const auto held = part('a', {10, 19});
    const auto asking = conditional(get({{"Range", "bytes=10-11"}, {"If-None-Match", "\"x\""}}), *held);
    EXPECT_EQ(asking.fields.find("If-None-Match"), "\"a\"");
    EXPECT_EQ(asking.fields.find("Range"), "bytes=10-11");
    const auto fresh = freshened(*held, get(), answer(304, {{"X-A", "9"}}), now());
    ASSERT_TRUE(fresh);
    EXPECT_EQ(fresh->parts, held->parts);
    EXPECT_EQ(fresh->head.fields.find("X-A"), "9");
    EXPECT_EQ(fresh->head.fields.find("Content-Length"), "60");
    const auto tiers = memory();
    tiers->put(held);
    EXPECT_TRUE(tiers->put(fresh));
    EXPECT_EQ(tiers->find_parts(page, get())->head.fields.find("X-A"), "9");
}

TEST(partial, is_no_object_of_the_store) {
    watcher heard;
    const auto tiers = memory(&heard);
    EXPECT_TRUE(tiers->put(part('a', {0, 9})));
    EXPECT_TRUE(tiers->has_parts(page));
    EXPECT_FALSE(tiers->has(page));
    EXPECT_FALSE(tiers->find(page, get()));
    EXPECT_TRUE(heard.urls().empty() && urls_in(*tiers).empty());
    EXPECT_TRUE(tiers->erase(page));
    EXPECT_FALSE(tiers->has_parts(page));
    EXPECT_EQ(tiers->memory_counts().bytes, 0u);
}

TEST(partial, gives_way_to_the_whole) {
    const auto tiers = memory();
    tiers->put(part('a', {0, 9}));
    EXPECT_TRUE(tiers->put(whole('b')));
    EXPECT_FALSE(tiers->has_parts(page));
    EXPECT_FALSE(tiers->put(part('a', {0, 9})));  // beside a whole one
    EXPECT_FALSE(tiers->has_parts(page));
}

TEST(partial, the_newest_wins) {
    const auto tiers = memory();
    const auto early = now(), before = now();
    tiers->put(part('b', {0, 9}));
    EXPECT_FALSE(tiers->put(part('a', {0, 9}, early)));
    EXPECT_FALSE(tiers->put(whole('a', early)));
    EXPECT_TRUE(tiers->put(part('b', {20, 29}, early)));  // of the same version, when does not matter
    tiers->erase(page);
    EXPECT_FALSE(tiers->put(part('b', {0, 9}, before)));
    // Two that overlap, and nobody can tell: neither.
    auto first = now(), second = now();
    std::swap(first.answered, second.asked);
    std::swap(first.answered, second.answered);
    tiers->put(part('a', {0, 9}, second));
    EXPECT_FALSE(tiers->put(part('b', {0, 9}, first)));
    EXPECT_FALSE(tiers->has_parts(page));
}

TEST(partial, variants_are_apart) {
    const auto tiers = memory();
    const auto of = [](std::string_view language, std::uint64_t first) {
        return make_partial(page, get({{"Accept-Language", language}}),
                            head_of('a', {{"Vary", "Accept-Language"}}),
                            {length, first, std::make_shared<const std::string>("xyz")}, now());
    };
    tiers->put(of("en", 0));
    tiers->put(of("de", 10));
    const auto english = tiers->find_parts(page, get({{"Accept-Language", "en"}}));
    ASSERT_TRUE(english);
    EXPECT_TRUE(english->parts->covers({0, 2}) && !english->parts->covers({10, 12}));
    EXPECT_FALSE(tiers->find_parts(page, get()));
}

TEST(partial, many_parts_are_packed_and_too_many_are_dropped) {
    const auto tiers = *store::open({{.bytes = 16 << 20, .shards = 1}, std::nullopt});
    const auto put = [&](std::uint64_t first) {
        return tiers->put(make_partial(page, get(), head_of('a'),
                                       {100000, first, std::make_shared<const std::string>("x")}, now()));
    };
    const auto count = [&] { return tiers->find_parts(page, get())->parts->count(); };
    for (std::uint64_t i = 0; i < 500; ++i) {
        ASSERT_TRUE(put(i));
        ASSERT_LE(count(), body_parts::most_parts);
    }
    EXPECT_TRUE(tiers->find_parts(page, get())->parts->covers({0, 499}));
    for (std::uint64_t i = 0; i < 500; ++i) {
        ASSERT_TRUE(put(1000 + 2 * i));
        ASSERT_LE(count(), body_parts::most_parts);
    }
    EXPECT_TRUE(tiers->find_parts(page, get())->parts->covers({1998, 1998}));
    EXPECT_FALSE(tiers->find_parts(page, get())->parts->covers({0, 499}));
}

// What is held must be what a simple model holds: of the newest version that was seen, each byte that came.
TEST(partial, the_store_agrees_with_a_reference) {
    std::mt19937_64 random(2);
    std::size_t checked = 0, completed = 0;
    for (int round = 0; round < 100; ++round) {
        const auto tiers = memory();
        char version = 'a';
        std::vector<std::optional<char>> held(length);
        bool complete = false;
        std::vector<std::pair<char, exchange_times>> earlier;
        const auto fill = [&](const byte_range& at) {
            const auto bytes = bytes_of(version, at);
            for (auto i = at.first; i <= at.last; ++i) held[i] = bytes[i - at.first];
        };
        for (int step = 0; step < 40; ++step) {
            const auto first = random() % length;
            const byte_range at{first, std::min(length - 1, first + random() % 30)};
            const auto kind = random() % 20;
            if (kind == 0) {
                tiers->erase(page);
                held.assign(length, std::nullopt), complete = false;
                earlier.clear();
            } else if (kind == 1) {  // the page changes
                ++version;
                held.assign(length, std::nullopt);
                if (complete) tiers->erase(page), complete = false;
                tiers->put(part(version, at));
                fill(at);
            } else if (kind == 2 && !earlier.empty()) {  // one that was long on its way
                const auto& [of, when] = earlier[random() % earlier.size()];
                const bool counts = tiers->put(part(of, at, when));
                EXPECT_EQ(counts, of == version && !complete);
                if (counts) fill(at);
            } else if (!complete) {
                const auto times = now();
                EXPECT_TRUE(tiers->put(part(version, at, times)));
                earlier.emplace_back(version, times);
                fill(at);
            }
            const auto found = tiers->find_parts(page, get());
            EXPECT_EQ(found == nullptr,
                      complete || std::ranges::none_of(held, [](const auto& c) { return c.has_value(); }));
            if (!found) continue;
            for (std::uint64_t i = 0; i < length; ++i) {
                ASSERT_EQ(found->parts->covers({i, i}), held[i].has_value()) << i;
                if (!held[i]) continue;
                ASSERT_EQ(found->slices({i, i})[0][0], *held[i]);
                ++checked;
            }
            if (const auto all = whole_of(*found, tiers->room())) {
                EXPECT_EQ(*all->body, bytes_of(version, {0, length - 1}));
                EXPECT_TRUE(tiers->put(all));
                complete = true;
                ++completed;
            }
        }
    }
    EXPECT_GT(checked, 20000u);
    EXPECT_GT(completed, 20u);
}

}  // namespace
}  // namespace posy::http_cache
