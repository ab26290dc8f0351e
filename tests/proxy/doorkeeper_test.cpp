#include "proxy/doorkeeper.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace posy::proxy {
namespace {

rule_list rules_of(std::initializer_list<const char*> texts) {
    return *rule_list::parse(std::vector<std::string>(texts.begin(), texts.end()));
}

// A file of tokens; it is gone after the test.
class token_file {
  public:
    explicit token_file(const std::string& text) { write(text); }
    token_file(const token_file&) = delete;
    token_file& operator=(const token_file&) = delete;
    ~token_file() { std::filesystem::remove(path); }
    void write(const std::string& text) const { std::ofstream(path) << text; }
    std::string path = (std::filesystem::temp_directory_path() /
                        ("doorkeeper" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
                         "-" + std::to_string(getpid())))
                           .string();
};

const std::string one(64, '1'), two(64, '2');

TEST(Doorkeeper, ReplacesRulesAsAWhole) {
    const doorkeeper first(rules_of({"allow rate 1"}), {});
    const auto before = first.book();
    const rule_usage::moment now{rule_usage::time_point(std::chrono::seconds(1000)), 1'000'000};
    EXPECT_FALSE(before->usage(1).enter("a", now));
    EXPECT_FALSE(before->usage(1).enter("a", now));
    // The same text keeps what was used.
    const doorkeeper same(rules_of({"allow rate 1"}), {}, &first);
    EXPECT_TRUE(same.book()->usage(1).enter("a", now));
    const doorkeeper other(rules_of({"deny to x", "allow rate 1"}), {}, &same);
    EXPECT_EQ(other.book()->rules().size(), 2U);
    EXPECT_FALSE(other.book()->usage(2).enter("a", now));
    EXPECT_EQ(before->rules().size(), 1U);  // for whoever still has it
    const doorkeeper none(rule_list(), {}, &other);
    EXPECT_EQ(none.book(), nullptr);
    EXPECT_EQ(doorkeeper(rules_of({"deny"}), {}, &none).book()->rules().size(), 1U);
}

TEST(Doorkeeper, IsNotMadeWhenAFileIsWrong) {
    const token_file tokens("alice:" + one + "\n");
    const user_files files{{}, tokens.path, {}};
    doorkeeper doors(rules_of({"allow user alice,bob", "allow group staff"}), files);
    EXPECT_EQ(doors.doubts(), (std::vector<std::string>{"rule 1: there is no user 'bob'",
                                                        "rule 2: there is no group 'staff'"}));
    EXPECT_EQ(doors.challenges(), std::vector<std::string>{"Bearer realm=\"posy\""});
    tokens.write("nonsense\n");
    EXPECT_THROW(doorkeeper({}, files, &doors), std::runtime_error);
    EXPECT_THROW(doorkeeper({}, user_files{tokens.path + "-not", {}, {}}), std::runtime_error);
    EXPECT_TRUE(doors.users()->find("alice"));
    tokens.write("bob:" + two + "\n");
    const doorkeeper next({}, files, &doors);
    EXPECT_FALSE(next.users()->find("alice"));
    EXPECT_TRUE(next.users()->find("bob"));
}

TEST(Doorkeeper, OpensWhatARuleNames) {
    using boost::asio::ip::make_address;
    rule_book book(rules_of({"allow to 10.1.0.0/16", "allow"}));
    const auto near = make_address("10.1.2.3"), far = make_address("10.2.2.3");
    EXPECT_EQ(book.refusal(1, near, {}), "");
    EXPECT_NE(book.refusal(1, far, {}), "");
    EXPECT_NE(book.refusal(2, near, {}), "");
    EXPECT_EQ(book.refusal(2, far, *http::parse_networks("private")), "");
    const http::clock::time_point now{};
    EXPECT_NE(book.recent_refusal(2, near, {}, now), "");
    EXPECT_EQ(book.recent_refusal(1, near, {}, now), "");  // another rule, another answer
    // What was found is good for a second.
    const auto all = *http::parse_networks("private");
    EXPECT_NE(book.recent_refusal(2, near, all, now + std::chrono::milliseconds(999)), "");
    EXPECT_EQ(book.recent_refusal(2, near, all, now + std::chrono::seconds(1)), "");
}

}  // namespace
}  // namespace posy::proxy
