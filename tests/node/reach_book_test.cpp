#include "node/reach_book.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

TEST(ReachBook, SaysWhatChanged) {
    reach_book book;
    EXPECT_EQ(book.of("a"), reach::unknown);
    EXPECT_EQ(book.note("a", reach::unreachable), reach::unknown);
    EXPECT_EQ(book.note("a", reach::unreachable), reach::unreachable);
    EXPECT_EQ(book.note("a", reach::reached), reach::unreachable);
    EXPECT_EQ(book.of("a"), reach::reached);
    EXPECT_EQ(book.of("b"), reach::unknown);
}

TEST(ReachBook, AddressesAreBounded) {
    reach_book book(2);
    book.note("a", reach::reached);
    book.note("b", reach::unreachable);
    book.note("c", reach::refusing);
    EXPECT_EQ(book.of("a"), reach::unknown);  // made room
    EXPECT_EQ(book.of("b"), reach::unreachable);
    EXPECT_EQ(book.of("c"), reach::refusing);
    book.note("d", reach::unreachable);
    EXPECT_EQ(book.of("d"), reach::unknown);
}

}  // namespace
}  // namespace posy::node
