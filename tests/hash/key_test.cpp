// What a key stands for is pinned: bytes that change make every file in the world unreadable.
#include "posy/key.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "posy/key_batches.hpp"

namespace posy {
namespace {

enum class small : std::uint8_t { seven = 7 };
enum class negative : int { one = -1 };

struct user {
    std::string name;
    int id;
};
auto posy_key(const user& u) { return std::tie(u.name, u.id); }

// A key can stand for text, for an integer, or for another key.
struct host {
    std::string name;
    operator std::string_view() const { return name; }
};
struct account {
    user owner;
};
const user& posy_key(const account& a) { return a.owner; }
struct port {
    unsigned number;
};
unsigned posy_key(const port& p) { return p.number; }

struct stranger {
    int a, b;
};

template <class Key>
std::string bytes_of(const Key& key) {
    return keys::with_bytes(key, [](auto bytes) {
        if constexpr (std::integral<decltype(bytes)>) {
            const auto eight = key_bytes(bytes);
            return std::string(reinterpret_cast<const char*>(eight.data()), eight.size());
        } else {
            return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        }
    });
}
std::string eight(std::uint64_t number) { return bytes_of(number); }

// Every family sees these bytes.
template <class Key>
void expect_bytes(const Key& key, const std::string& bytes) {
    EXPECT_EQ(bytes_of(key), bytes);
    for (const hash_family family : hash_families())
        EXPECT_EQ(hash_key(hasher(family), key), hasher(family)(bytes)) << name_of(family);
}

TEST(key, text_is_its_bytes) {
    using namespace std::string_literals;
    const char* const pointer = "posy";
    for (const std::string& text : {"posy"s}) {
        expect_bytes(text, "posy");
        expect_bytes(std::string_view(text), "posy");
        expect_bytes(pointer, "posy");
        expect_bytes("posy", "posy");
        expect_bytes(u8"posy", "posy");
        expect_bytes(std::u8string(u8"posy"), "posy");
        expect_bytes(host{text}, "posy");
    }
    expect_bytes(std::string(), "");
    expect_bytes("nul\0inside"s, "nul\0inside"s);
}

TEST(key, bytes_are_as_they_are) {
    expect_bytes(std::vector<char>{'a', 'b'}, "ab");
    expect_bytes(std::vector<unsigned char>{'a', 'b'}, "ab");
    expect_bytes(std::vector<std::byte>{std::byte{'a'}, std::byte{'b'}}, "ab");
    expect_bytes(std::array<char, 2>{'a', 'b'}, "ab");
    const std::vector<std::byte> none;
    expect_bytes(std::span(none), "");
    const std::array<std::byte, 8> eight_bytes{std::byte{7}};
    expect_bytes(eight_bytes, eight(7));
}

TEST(key, integers_are_eight_bytes) {
    const std::string seven("\x07\0\0\0\0\0\0\0", 8), minus_one(8, '\xff');
    expect_bytes(7, seven);
    expect_bytes(7L, seven);
    expect_bytes(std::uint8_t{7}, seven);
    expect_bytes(std::int16_t{7}, seven);
    expect_bytes(small::seven, seven);
    expect_bytes(port{7}, seven);
    expect_bytes('\7', seven);
    expect_bytes(true, eight(1));
    expect_bytes(-1, minus_one);
    expect_bytes(-1LL, minus_one);
    expect_bytes(negative::one, minus_one);
    expect_bytes(~0u, eight(0xffffffff));
}

TEST(key, pairs_are_their_parts) {
    const std::string bytes = eight(4) + "posy" + eight(7);
    expect_bytes(std::pair("posy", 7), bytes);
    expect_bytes(std::pair(std::string("posy"), small::seven), bytes);
    expect_bytes(std::tuple(std::string_view("posy"), 7L), bytes);
    expect_bytes(user{"posy", 7}, bytes);
    expect_bytes(account{{"posy", 7}}, bytes);
    expect_bytes(std::tuple(std::vector<char>{'p', 'o', 's', 'y'}, port{7}), bytes);
    // A pair in a pair is its parts.
    expect_bytes(std::pair(std::pair(1, 2), 3), eight(1) + eight(2) + eight(3));
    expect_bytes(std::tuple(1, std::tuple(2, 3)), eight(1) + eight(2) + eight(3));
    expect_bytes(std::array<int, 3>{1, 2, 3}, eight(1) + eight(2) + eight(3));
    expect_bytes(std::pair(user{"a", 1}, "b"), eight(1) + "a" + eight(1) + eight(1) + "b");
    expect_bytes(std::tuple<>(), "");
    // Where one part ends and the next begins is in the bytes.
    EXPECT_NE(bytes_of(std::pair("ab", "c")), bytes_of(std::pair("a", "bc")));
    // Beyond what is copied on the stack.
    for (const std::size_t size : {239u, 240u, 241u, 5000u}) {
        const std::string text(size, 'x');
        expect_bytes(std::pair(text, 1), eight(size) + text + eight(1));
    }
}

TEST(key, pairs_have_these_digests) {
    const hasher fold64(hash_family::fold64), xxh3(hash_family::xxh3);
    const std::pair<std::string, int> named("posy", 7);
    const std::pair<int, int> numbers(1, -2);
    EXPECT_EQ(hash_key(xxh3, named), (digest{0x3b687e8bcab2fa7d, 0xda6672a298c945fb}));
    EXPECT_EQ(hash_key(fold64, named), (digest{0xf4dcff08c39e96db, 0xdeaf90cb86b0741c}));
    EXPECT_EQ(hash_key(xxh3, numbers), (digest{0xf77fe1371cc45e27, 0x12d734a2c379249c}));
    EXPECT_EQ(hash_key(fold64, numbers), (digest{0xf0ec057f1a06502f, 0x419381538c9fe19a}));
    EXPECT_EQ(hash_key(fold64, "posy"), (digest{0x1cba91fba7aadf6b, 0x5560942f5f2a2c1d}));
    EXPECT_EQ(hash_key(fold64, 7), (digest{0xf0ebf5ddc68e4a67, 0xf91306c4b92f1677}));
}

// What can be no key, and is refused with a reason where it is used.
template <class T>
constexpr bool is_key =
    keys::integer<T> || keys::text<T> || keys::bytes<T> || keys::told<T> || keys::parts<T>;
static_assert(is_key<std::string> && is_key<const char*> && is_key<int> && is_key<bool> && is_key<small>);
static_assert(is_key<user> && is_key<std::pair<int, int>> && is_key<std::vector<std::byte>>);
static_assert(!is_key<float> && !is_key<double> && !is_key<long double>);
static_assert(!is_key<int*> && !is_key<void*> && !is_key<std::nullptr_t> && !is_key<const user*>);
static_assert(!is_key<std::unique_ptr<int>> && !is_key<std::optional<int>>);
static_assert(!is_key<stranger> && !is_key<std::vector<int>> && !is_key<std::vector<std::string>>);
static_assert(!is_key<std::wstring> && !is_key<std::vector<bool>>);

static_assert(std::same_as<key_argument<std::string>, std::string_view>);
static_assert(std::same_as<key_argument<const char*>, std::string_view>);
static_assert(std::same_as<key_argument<const int&>, int>);
static_assert(std::same_as<key_argument<small>, small>);
static_assert(std::same_as<key_argument<user>, const user&>);
static_assert(std::same_as<key_argument<std::vector<std::byte>>, std::span<const std::byte>>);

// A range of keys is not itself a key.
static_assert(range_of_keys<std::vector<std::string>, std::string>);
static_assert(range_of_keys<std::vector<const char*>&, std::string>);
static_assert(range_of_keys<const std::vector<int>&, long>);
static_assert(range_of_keys<std::vector<std::vector<std::byte>>, std::vector<std::byte>>);
static_assert(range_of_keys<std::string, char>);
static_assert(!range_of_keys<std::string, std::string>);
static_assert(!range_of_keys<const char (&)[4], std::string>);
static_assert(!range_of_keys<std::vector<std::byte>, std::vector<std::byte>>);
static_assert(!range_of_keys<std::vector<int>, std::string>);
static_assert(!range_of_keys<std::vector<std::string>, int>);
static_assert(!range_of_keys<int, int>);
static_assert(!range_of_keys<std::vector<stranger>, user>);

}  // namespace
}  // namespace posy
