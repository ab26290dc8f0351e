#include "posy/base/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>

#include "support.hpp"

namespace posy::base {
namespace {

std::string contents(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(file, a_pipe_is_read_as_far_as_it_is_filled) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const descriptor from(ends[0]);
    descriptor to(ends[1]);
    std::array<std::byte, 64> into{};
    ASSERT_TRUE(write_fully(to.get(), as_byte_view("some")));
    EXPECT_EQ(*read_waiting(from.get(), into), 4u);  // and does not wait for more
    ASSERT_TRUE(write_fully(to.get(), as_byte_view("more")));
    EXPECT_EQ(*read_waiting(from.get(), std::span(into).first(3)), 3u);
    to = descriptor();
    EXPECT_EQ(*read_waiting(from.get(), into), 1u);
    EXPECT_EQ(*read_waiting(from.get(), into), 0u);
}

TEST(file, appears_when_committed_and_not_before) {
    const scratch_directory scratch;
    {
        auto file = *atomic_file::create(scratch / "new");
        ASSERT_TRUE(write_fully(file.get(), as_byte_view("hello")));
        EXPECT_FALSE(std::filesystem::exists(scratch / "new"));
        ASSERT_TRUE(file.commit());
    }
    EXPECT_EQ(contents(scratch / "new"), "hello");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST(file, what_is_not_committed_leaves_the_old_one) {
    const scratch_directory scratch;
    std::ofstream(scratch / "old") << "old";
    {
        auto file = *atomic_file::create(scratch / "old");
        ASSERT_TRUE(write_fully(file.get(), as_byte_view("new")));
    }
    EXPECT_EQ(contents(scratch / "old"), "old");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST(file, a_replaced_file_keeps_its_mode) {
    const scratch_directory scratch;
    std::ofstream(scratch / "secret") << "old";
    std::filesystem::permissions(scratch / "secret",
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    auto file = *atomic_file::create(scratch / "secret");
    ASSERT_TRUE(file.commit());
    EXPECT_EQ(std::filesystem::status(scratch / "secret").permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(file, a_full_device_is_an_error) {
    auto file = *atomic_file::create("/dev/full");
    const auto written = write_fully(file.get(), as_byte_view("x"));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "cannot write: No space left on device");
    EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(file, what_cannot_be_opened_says_why) {
    EXPECT_EQ(open_for_reading("/no/such/file").error().message, "cannot open: No such file or directory");
    EXPECT_EQ(atomic_file::create("/no/such/file").error().message,
              "cannot create: No such file or directory");
}

TEST(file, reads_through_short_reads_of_a_pipe) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    descriptor read_end(ends[0]), write_end(ends[1]);
    ASSERT_TRUE(write_fully(write_end.get(), as_byte_view("abc")));
    ASSERT_TRUE(write_fully(write_end.get(), as_byte_view("def")));
    write_end = descriptor();
    std::array<std::byte, 10> bytes;
    EXPECT_EQ(*read_fully(read_end.get(), bytes), 6u);
    EXPECT_EQ(regular_size(read_end.get()), std::nullopt);
}

}  // namespace
}  // namespace posy::base
