#include "posy/packet/digest_folder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "imprints.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy::packets {
namespace {

namespace fs = std::filesystem;

// Pages of ten packets each, one per second: page p has the packets 10p … 10p + 9.
std::vector<digest_page> some_pages(std::uint64_t count) {
    auto table = *digest_table::make({.packets = 10, .rate = 1e-6, .memory = 1 << 24});
    for (std::uint64_t i = 0; i < 10 * count; ++i) EXPECT_TRUE(table.insert(numbered(i), i * 1'000'000));
    std::vector<digest_page> pages;
    while (auto page = table.take(~0ull)) pages.push_back(std::move(*page));
    return pages;
}

TEST(page_name, reads_what_it_writes) {
    std::mt19937_64 random(1);
    at_least checked(1000);
    for (int i = 0; i < 1000; ++i, ++checked) {
        const std::uint64_t from = random() >> random() % 64, to = from + (~from >> random() % 64);
        const page_name name{{from, to}, random() >> random() % 64};
        const auto again = page_name::parse(name.text());
        ASSERT_TRUE(again) << name.text();
        EXPECT_EQ(*again, name);
    }
    EXPECT_EQ((page_name{{1'500'000, 2'000'001}, 7}).text(), "1.500000-2.000001-7.posy");
}

TEST(page_name, refuses_everything_else) {
    for (const char* text :
         {"", "pages.txt", "1.500000-2.000001-7", "1.500000-2.000001-7.posy-tmp", "1.5-2.000001-7.posy",
          "01.500000-2.000001-7.posy", "2.000001-1.500000-7.posy", "1.500000-2.000001-.posy",
          "-1.0-2.0-0.posy", "1.500000-2.1000000-7.posy", "1.500000-99999999999999.000000-0.posy",
          "1.500000-2.000001-18446744073709551616.posy", "1.500000-2.000001-7.posy\n",
          "../1.500000-2.000001-7.posy"})
        EXPECT_FALSE(page_name::parse(text)) << text;
}

TEST(page_list, is_the_names_of_its_lines) {
    const auto both = parse_page_list("1.500000-2.000001-7.posy\n2.000000-3.000000-0.posy\n");
    ASSERT_TRUE(both);
    EXPECT_EQ(both->size(), 2u);
    EXPECT_TRUE(parse_page_list("")->empty());
    const auto wrong = parse_page_list("1.500000-2.000001-7.posy\n<html>");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().offset, 25u);
}

TEST(digest_folder, keeps_pages_as_they_were) {
    scratch_directory there;
    auto folder = *digest_folder::create(there / "router" / "digests");
    const auto pages = some_pages(3);
    // In another order, and one twice.
    for (const std::size_t i : {2, 0, 1, 1}) ASSERT_TRUE(folder.save(pages[i]));
    const auto names = *folder.pages();
    ASSERT_EQ(names.size(), 4u);
    const auto listed = file_bytes(there / "router" / "digests" / digest_folder::list_name);
    EXPECT_EQ(parse_page_list({reinterpret_cast<const char*>(listed.data()), listed.size()})->size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        const digest_page& page = pages[std::vector{0u, 1u, 1u, 2u}[i]];
        const auto loaded = folder.load(names[i]);
        ASSERT_TRUE(loaded) << loaded.error().text();
        EXPECT_EQ(loaded->when, page.when);
        EXPECT_EQ(loaded->filter, page.filter);
        for (std::uint64_t n = 0; n < 30; ++n)
            EXPECT_EQ(loaded->may_contain(numbered(n)), page.may_contain(numbered(n)));
    }
    EXPECT_NE(names[1].number, names[2].number);
}

TEST(digest_folder, is_not_a_file_and_not_made_by_readers) {
    scratch_directory there;
    EXPECT_FALSE(digest_folder::open(there / "missing"));
    write_file(there / "file", {});
    EXPECT_FALSE(digest_folder::open(there / "file"));
    EXPECT_FALSE(digest_folder::create(there / "file"));
    EXPECT_TRUE(digest_folder::open(there.path()));
}

TEST(digest_folder, removes_the_oldest_pages_first) {
    scratch_directory there;
    auto folder = *digest_folder::create(there.path());
    for (const auto& page : some_pages(5)) ASSERT_TRUE(folder.save(page));
    const auto names = *folder.pages();
    const auto bytes = [&](const page_name& name) { return fs::file_size(there / name.text()); };
    EXPECT_EQ(*folder.keep_within(1 << 30), 0u);
    EXPECT_EQ(*folder.keep_within(bytes(names[3]) + bytes(names[4])), 3u);
    EXPECT_EQ(*folder.pages(), std::vector(names.begin() + 3, names.end()));
    EXPECT_EQ(*folder.keep_within(0), 2u);
    EXPECT_TRUE(folder.pages()->empty());
    EXPECT_EQ(there.files(), 1u) << "only the list is left";
}

TEST(digest_folder, ignores_files_that_are_no_pages) {
    scratch_directory there;
    auto folder = *digest_folder::create(there.path());
    ASSERT_TRUE(folder.save(some_pages(1)[0]));
    write_file(there / "1.000000-2.000000-0.posy.posy-tmp", as_byte_view("half a page"));
    write_file(there / "notes", as_byte_view("text"));
    EXPECT_EQ(folder.pages()->size(), 1u);
    EXPECT_EQ(*folder.keep_within(0), 1u);
    EXPECT_TRUE(fs::exists(there / "notes"));
}

TEST(digest_folder, every_damage_is_an_error_that_names_the_file) {
    scratch_directory there;
    auto folder = *digest_folder::create(there.path());
    const auto name = *folder.save(some_pages(1)[0]);
    const fs::path path = there / name.text();
    const auto whole = file_bytes(path);
    at_least damages(50);
    for (std::size_t i = 0; i < whole.size(); ++i, ++damages) {
        auto flipped = whole;
        flipped[i] ^= std::byte{1};
        write_file(path, flipped);
        const auto loaded = folder.load(name);
        ASSERT_FALSE(loaded) << "byte " << i;
        EXPECT_NE(loaded.error().text().find(name.text()), std::string::npos);
        write_file(path, byte_view(whole).first(i));
        ASSERT_FALSE(folder.load(name)) << i << " bytes";
    }
    // A message, but no filter.
    ASSERT_TRUE(save(path, *counting_filter::make({.bits = 512, .hashes = 2}, 4)));
    EXPECT_FALSE(folder.load(name));
    write_file(path, whole);
    EXPECT_TRUE(folder.load(name));
}

}  // namespace
}  // namespace posy::packets
