#include "proxy/users.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace posy::proxy {
namespace {

// Of "secret".
const std::string bcrypt = "$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a";
const std::string sha512 =
    "$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc1E5n0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1";
const user_files names{"u", "t", "g"};

TEST(Users, HavePasswordsGroupsAndTokens) {
    const std::string passwords = fmt::format("# staff\n\nalice:{}\r\n  bob:{}  \n", bcrypt, sha512);
    // printf %s token | sha256sum
    const std::string digest = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";
    const auto all =
        *users::parse({passwords, "carol:" + digest, "staff: alice carol\nguests:bob, gone\n"}, names);
    EXPECT_TRUE(all->has_password("alice", "secret"));
    EXPECT_TRUE(all->has_password("bob", "secret"));
    for (const auto* wrong : {"", "Secret", "secret ", "secre"}) {
        EXPECT_FALSE(all->has_password("alice", wrong)) << wrong;
        EXPECT_FALSE(all->has_password("bob", wrong)) << wrong;
    }
    EXPECT_FALSE(all->has_password("carol", "secret"));  // has a token, and no password
    EXPECT_FALSE(all->has_password("nobody", "secret"));
    EXPECT_FALSE(all->has_password("alice", std::string("secret\0", 7)));
    EXPECT_FALSE(all->has_password("alice", std::string(100'000, 'x')));
    EXPECT_EQ(all->by_token("token")->name, "carol");
    EXPECT_EQ(all->by_token("Token"), nullptr);
    EXPECT_EQ(all->by_token(""), nullptr);
    EXPECT_EQ(all->find("alice")->groups, std::vector<std::string>{"staff"});
    EXPECT_EQ(all->find("carol")->groups, std::vector<std::string>{"staff"});
    EXPECT_EQ(all->find("gone"), nullptr);
    EXPECT_TRUE(all->has_group("guests"));
    EXPECT_FALSE(all->has_group("admins"));
}

// The time itself is not tested: that of an unknown name is the time of this hash.
TEST(Users, ThatAreUnknownTakeAsLongAsTheCostliestHash) {
    const auto sha = [](std::string_view rounds) { return "$6$" + std::string(rounds) + sha512.substr(3); };
    const auto bcrypt_of = [](std::string_view cost) {
        return "$2b$" + std::string(cost) + bcrypt.substr(6);
    };
    const auto sha256 = "$5$rounds=9999$salt$" + std::string(43, 'x');
    // From cheap to costly.
    const std::vector<std::string> order{
        sha("rounds=1500$"),   sha512,         bcrypt, sha256, sha("rounds=200000$"), bcrypt_of("10"),
        sha("rounds=300000$"), bcrypt_of("12")};
    const auto costliest = [](std::initializer_list<std::string> hashes) {
        std::string text;
        for (const auto& each : hashes) text += fmt::format("user{}:{}\n", text.size(), each);
        return (*users::parse({text, "", ""}, names))->costliest_hash();
    };
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        EXPECT_EQ(costliest({order[i], order[i + 1]}), order[i + 1]);
        EXPECT_EQ(costliest({order[i + 1], order[i]}), order[i + 1]);
    }
    // Fewer rounds than 1,000 are 1,000 for libcrypt.
    EXPECT_EQ(costliest({sha("rounds=1000$"), sha("rounds=1$")}), sha("rounds=1000$"));
    EXPECT_EQ(costliest({bcrypt, bcrypt_of("05")}), bcrypt);
    EXPECT_EQ(costliest({}), "");
}

TEST(Users, AreRefusedWithTheLine) {
    const std::vector<std::pair<std::string, std::string>> table{
        {"a:" + bcrypt + "\nb:secret", "u:2: user 'b': the password is not hashed"},
        {"a:$apr1$x$y", "u:1: user 'a': MD5"},
        {"a:$1$x$y", "MD5"},
        {"a:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "SHA-1"},
        {"a:ab01FAX.bQRSU", "not hashed, or by crypt"},
        {"a:" + bcrypt.substr(0, 59), "not whole"},
        {"a:$6$salt$short", "not whole"},
        {"a:$2b$31" + bcrypt.substr(6), "the cost"},
        {"a:$6$rounds=99999999$salt$" + sha512.substr(12), "rounds"},
        {"a", "write NAME:HASH"},
        {":" + bcrypt, "write NAME:HASH"},
        {"a,b:" + bcrypt, "write NAME:HASH"},
        {"a:" + bcrypt + "\na:" + bcrypt, "u:2: user 'a' is there twice"},
    };
    for (const auto& [text, wanted] : table) {
        const auto made = users::parse({text, "", ""}, names);
        ASSERT_FALSE(made) << text;
        EXPECT_NE(made.error().message.find(wanted), std::string::npos) << made.error().message;
        EXPECT_EQ(made.error().message.find("secret"), std::string::npos);
    }
    EXPECT_NE(users::parse({"", "\n\na:12", ""}, names).error().message.find("t:3: write NAME:SHA256"),
              std::string::npos);
    EXPECT_NE(users::parse({"", "", "staff"}, names).error().message.find("g:1: write GROUP:"),
              std::string::npos);
}

TEST(Users, SayWhoTheyAre) {
    using scheme = credentials::scheme;
    const auto basic = parse_credentials("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    EXPECT_EQ(basic.how, scheme::basic);
    EXPECT_EQ(basic.name, "Aladdin");
    EXPECT_EQ(basic.secret, "open sesame");
    EXPECT_EQ(parse_credentials("bAsIc  YTpiOmM=").secret, "b:c");
    EXPECT_EQ(parse_credentials("Basic Og==").name, "");
    EXPECT_EQ(parse_credentials("Bearer abc.def").secret, "abc.def");
    for (const auto* bad : {"", "Basic", "Basic ", "Basic Og=", "Basic Og",
                            "Basic O===", "Basic ====", "Basic YQ==", "Basic Y@Q=", "Basic YTpi YTpi",
                            "Basic YTpi, Basic YTpi", "Digest username=a", "Bearer"})
        EXPECT_EQ(parse_credentials(bad).how, scheme::other) << bad;
}

}  // namespace
}  // namespace posy::proxy
