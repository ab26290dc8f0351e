#include "table_filter.hpp"

#include "hex.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy::stores {
namespace {

constexpr filter_form forms[] = {filter_form::sealed, filter_form::paired, filter_form::blocked};

// Of every form and many sizes, at every alignment: members are found, one by one and in batches, the size is
// what was asked for, and absent keys pass at the rate expected of the form.
TEST(TableFilter, MembersRatesAndSizes) {
    constexpr std::size_t others = 20'000;
    for (const filter_form form : forms) {
        // At 10 bits per key. 0.1 % and 5 deviations.
        const double rate = form == filter_form::sealed   ? 0.00105
                            : form == filter_form::paired ? 0.0087
                                                          : 0.0102;
        for (const std::size_t size : {1u, 100u, 3000u, 50'000u}) {
            const auto digests = random_digests(size + others, size);
            const auto members = std::span(digests).first(size);
            const auto filter = make_table_filter(members, 10, form);
            std::vector<std::byte> memory(filter.size() + 1);
            std::ranges::copy(filter, memory.begin() + size % 2);
            const table_filter reader(byte_view(memory).subspan(size % 2, filter.size()));
            for (const digest d : members) ASSERT_TRUE(reader.may_contain(d));
            const std::unique_ptr<bool[]> answers(new bool[digests.size()]);
            reader.may_contain(digests, {answers.get(), digests.size()});
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < digests.size(); ++i) {
                ASSERT_EQ(answers[i], reader.may_contain(digests[i]));
                wrong += i >= size && answers[i];
            }
            if (size < 3000) continue;
            EXPECT_NEAR(8.0 * static_cast<double>(filter.size()) / static_cast<double>(size), 10, 0.2)
                << size;
            EXPECT_LT(static_cast<double>(wrong), rate * others + 5 * std::sqrt(rate * others)) << size;
            EXPECT_GT(wrong, 0) << size;
        }
    }
}

TEST(TableFilter, NoKeysNoFilter) {
    for (const filter_form form : forms) EXPECT_TRUE(make_table_filter({}, 10, form).empty());
    EXPECT_TRUE(table_filter({}).may_contain({1, 2}));
}

// Filters are stored: these bytes never change.
TEST(TableFilter, GoldenBytes) {
    const hasher hash = table_filter::hash();
    std::vector<digest> digests;
    for (int i = 0; i < 100; ++i) digests.push_back(hash("key" + std::to_string(i)));
    const auto zeros = [](std::string start) { return start + std::string(64, '0'); };  // a header
    const auto of = [&](filter_form form) { return hex(make_table_filter(digests, 10, form)); };
    EXPECT_EQ(of(filter_form::sealed),
              zeros("01000000000000003528b74e93d39656") +
                  "05006400646401896a118a24466071742950d581ab0457de7930d692f4d1016007360f518291581a99777e1c"
                  "dea175a0fa29e8a801824dbf059a89171b04271fb300efeb920f");
    EXPECT_EQ(of(filter_form::paired),
              zeros("02080000000000009ef4f8a4d9797c39") +
                  "487f6678e62473d39aed55d1d2aadd1e4f04bacba5f3c7faa02c60d7e5ede3d1129b8e908db5b7b0945e09db"
                  "e751873c9296dfb352ffae6d5dd42ecf246fc22f359cea82bc85825fbd62b8136cf6ad9c5edbea25f9198a95"
                  "9dccdec7ce7da237a9cb1373bfc1c874a9d2551f549819f5e46a4d5bbe712d0bff55b89dade6a9f5");
    EXPECT_EQ(of(filter_form::blocked),
              zeros("03040000000000006b66378ef19127e4") +
                  "487f6678e62473d39aed55d1d2aadd1e4f04bacba5f3c7faa02c60d7e5ede3d1129b8e908db5b7b0945e09db"
                  "e751873c9296dfb352ffae6d5dd42ecf246fc22f");
}

// The checksum has 64 bits: no damage is missed.
TEST(TableFilter, DamagedFiltersSayYes) {
    std::mt19937_64 random(5);
    at_least damaged(6000);
    const auto members = random_digests(200, 9);
    for (const filter_form form : forms) {
        const auto whole = make_table_filter(members, 8, form);
        for (int i = 0; i < 2000; ++i, ++damaged) {
            auto filter = whole;
            if (i % 4 == 0) filter.resize(random() % filter.size());
            for (int times = 0; times <= i % 3 && !filter.empty(); ++times)
                filter[random() % filter.size()] ^= static_cast<std::byte>(1 + random() % 255);
            if (filter == whole) continue;
            const table_filter reader(filter);
            ASSERT_TRUE(reader.may_contain(digest{random(), random()})) << hex(filter);
            ASSERT_TRUE(reader.may_contain(members[0]));
        }
    }
}

}  // namespace
}  // namespace posy::stores
