// Callers branch on the kind of an error: one example of each kind, as a caller meets it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "posy/algebra.hpp"
#include "posy/base/file_lock.hpp"
#include "posy/message.hpp"

namespace posy {
namespace {

using std::chrono_literals::operator""ms;

std::vector<std::byte> message_bytes() { return to_bytes(*bloom_filter::make({4096, 3, layout_id::spread})); }

error_kind kind_of(byte_view bytes, const read_limits& limits = {}) {
    const auto read = from_bytes(bytes, limits);
    EXPECT_FALSE(read);
    return read.error().kind;
}

TEST(error_kinds, of_arguments) {
    EXPECT_EQ(bloom_filter::make({0, 3, layout_id::spread}).error().kind, error_kind::invalid);
    EXPECT_EQ(bloom_filter::make({512, 3, layout_id{99}}).error().kind, error_kind::unsupported);
    auto one = *bloom_filter::make({4096, 3, layout_id::spread});
    const auto other = *bloom_filter::make({4096, 4, layout_id::spread});
    EXPECT_EQ(unite(one, other).error().kind, error_kind::mismatch);
}

TEST(error_kinds, of_messages) {
    const auto good = message_bytes();
    EXPECT_EQ(kind_of(byte_view(good).first(good.size() - 1)), error_kind::damaged);
    auto flipped = good;
    flipped[100] ^= std::byte{1};
    EXPECT_EQ(kind_of(flipped), error_kind::damaged);
    auto later = good;
    later[4] = std::byte{2};  // the version
    EXPECT_EQ(kind_of(later), error_kind::unsupported);
    auto unknown = good;
    unknown[5] = std::byte{99};  // the kind
    EXPECT_EQ(kind_of(unknown), error_kind::unsupported);
    auto layout = good;
    layout[8] = std::byte{99};
    EXPECT_EQ(kind_of(layout), error_kind::unsupported);
    auto misplaced = good;
    misplaced[6] = std::byte{5};  // a codec of counting filters
    EXPECT_EQ(kind_of(misplaced), error_kind::damaged);
    EXPECT_EQ(kind_of(good, read_limits::exactly(511)), error_kind::too_large);
    EXPECT_EQ(from_bytes(good, read_limits::exactly(511)).error().limit, 511u);
    EXPECT_EQ(from_bytes(unknown).error().limit, std::nullopt);
}

TEST(error_kinds, of_files) {
    EXPECT_EQ(load("/proc/nowhere/at/all.posy").error().kind, error_kind::input_output);
    EXPECT_EQ(load("/proc/nowhere/at/all.posy").error().system, ENOENT);
    EXPECT_EQ(load("/proc/nowhere/at/all.posy").error().behind("it").system, ENOENT);
    const auto path =
        std::filesystem::temp_directory_path() / ("posy-error-kinds-" + std::to_string(getpid()));
    const auto lock = base::file_lock::take(path, {});
    ASSERT_TRUE(lock) << lock.error().text();
    EXPECT_EQ(base::file_lock::take(path, {.limit = 1ms}).error().kind, error_kind::busy);
}

// What is wrong keeps its kind and its limit when more is said about where.
TEST(error_kinds, survive_what_is_added) {
    const error inner{error_kind::too_large, "an array", 3, 1000};
    EXPECT_EQ(inner.in_part_at(10).kind, error_kind::too_large);
    EXPECT_EQ(inner.in_part_at(10).text(), "at byte 13: an array");
    EXPECT_EQ(inner.in_part_at(10).limit, 1000u);
    EXPECT_EQ(inner.behind("x.posy").kind, error_kind::too_large);
    EXPECT_EQ(inner.behind("x.posy").limit, 1000u);
    EXPECT_EQ(inner.behind("x.posy").text(), "x.posy: at byte 3: an array");
}

}  // namespace
}  // namespace posy
