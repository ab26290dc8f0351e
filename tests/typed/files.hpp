// What all types with keys promise about files.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "posy/message.hpp"
#include "support.hpp"

namespace posy {

inline void expect_mentions(const std::string& text, std::initializer_list<std::string> words) {
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

// The text of what is thrown.
template <class Call>
std::string thrown_by(Call call) {
    try {
        call();
    } catch (const exception& why) {
        return why.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

// A file holds the object, and nothing else can be taken for one. `other` is a body of another kind.
template <class Type, class Other>
void expect_files(const Type& object, const Other& other) {
    using body = std::remove_cvref_t<decltype(object.untyped())>;
    const scratch_directory scratch;
    object.save(scratch / "file");
    auto again = Type::load(scratch / "file");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(to_bytes(again->untyped()), to_bytes(object.untyped()));

    ASSERT_TRUE(save(scratch / "other", other));
    const auto wrong = Type::load(scratch / "other");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().kind, error_kind::mismatch);
    expect_mentions(wrong.error().text(),
                    {(scratch / "other").string(), std::string(name_of(kind_of_body<Other>)),
                     std::string(name_of(kind_of_body<body>))});

    expect_mentions(thrown_by([&] { *Type::load(scratch / "nothing"); }), {(scratch / "nothing").string()});
    const auto impossible = scratch / "no folder/file";
    expect_mentions(thrown_by([&] { object.save(impossible); }), {impossible.string()});
}

}  // namespace posy
