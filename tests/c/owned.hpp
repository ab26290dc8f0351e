// Handles of C that give themselves back, and the questions that all tests ask.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "posy.h"
#include "posy/bytes.hpp"

namespace posy::testing {

struct give_back {
    void operator()(posy_filter* p) const { posy_filter_free(p); }
    void operator()(posy_delta* p) const { posy_delta_free(p); }
    void operator()(posy_counting* p) const { posy_counting_free(p); }
    void operator()(posy_growing* p) const { posy_growing_free(p); }
    void operator()(posy_window* p) const { posy_window_free(p); }
    void operator()(posy_sealed* p) const { posy_sealed_free(p); }
    void operator()(posy_map* p) const { posy_map_free(p); }
    void operator()(posy_counts* p) const { posy_counts_free(p); }
    void operator()(posy_hitters* p) const { posy_hitters_free(p); }
    void operator()(posy_foreign* p) const { posy_foreign_free(p); }
};
template <class Handle>
using owned = std::unique_ptr<Handle, give_back>;

// What a function hands out through its last but one argument: made<posy_filter>(posy_filter_make, 100,
// 0.01).
template <class Handle, class Function, class... Arguments>
owned<Handle> made(Function function, Arguments... arguments) {
    Handle* handle = nullptr;
    posy_error why;
    const posy_status status = function(arguments..., &handle, &why);
    EXPECT_EQ(status, POSY_OK) << why.text;
    EXPECT_EQ(why.status, status);
    EXPECT_NE(handle, nullptr);
    return owned<Handle>(handle);
}

// The status of a call that must fail, and hand out nothing.
template <class Handle, class Function, class... Arguments>
posy_error refused(Function function, Arguments... arguments) {
    auto* handle = reinterpret_cast<Handle*>(std::uintptr_t{8});
    posy_error why;
    EXPECT_EQ(function(arguments..., &handle, &why), why.status);
    EXPECT_NE(why.status, POSY_OK);
    EXPECT_STRNE(why.text, "");
    EXPECT_EQ(handle, nullptr);
    return why;
}

template <class Handle, class Function>
std::string bytes_of(Function to_bytes, const Handle& handle, int coding = POSY_RAW) {
    void* bytes = nullptr;
    std::size_t size = 0;
    posy_error why;
    EXPECT_EQ(to_bytes(handle.get(), coding, &bytes, &size, &why), POSY_OK) << why.text;
    std::string copy(static_cast<const char*>(bytes), size);
    posy_free(bytes);
    return copy;
}

inline std::string as_string(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::vector<std::string> words(std::size_t count, const std::string& prefix = "key") {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(prefix + std::to_string(i));
    return all;
}
inline std::vector<posy_bytes> bytes_in(const std::vector<std::string>& words) {
    std::vector<posy_bytes> all;
    for (const auto& word : words) all.push_back({word.data(), word.size()});
    return all;
}

// A folder for the files of a test.
class scratch {
  public:
    scratch() {
        std::string name = ::testing::TempDir() + "posy-c-XXXXXX";
        folder_ = mkdtemp(name.data());
    }
    ~scratch() { std::filesystem::remove_all(folder_); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    std::string operator/(const char* name) const { return (folder_ / name).string(); }

  private:
    std::filesystem::path folder_;
};

// Every message that is cut short, or has bytes behind it, is refused; so is one with a changed byte.
template <class Handle, class Function>
void expect_damage_is_refused(Function from_bytes, const std::string& message) {
    // A copy of exactly this size, so that a sanitizer sees a read behind it.
    const auto read = [&](const std::string& bytes) {
        const std::vector<char> exact(bytes.begin(), bytes.end());
        return refused<Handle>(from_bytes, exact.data(), exact.size(), std::uint64_t{0}).status;
    };
    for (std::size_t size = 0; size < message.size(); size += 1 + message.size() / 200) {
        EXPECT_EQ(read(message.substr(0, size)), POSY_DAMAGED) << size;
        std::string changed = message;
        changed[size] = static_cast<char>(changed[size] ^ 0x20);
        read(changed);
    }
    EXPECT_EQ(read(message + "x"), POSY_DAMAGED);
}

}  // namespace posy::testing
