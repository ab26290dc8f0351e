#include "proxy/access_log.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <sstream>

#include "manual_time.hpp"

namespace posy::proxy {
namespace {

using namespace std::chrono_literals;

class AccessLog : public testing::Test {
  protected:
    AccessLog() {
        setenv("TZ", "UTC", 1);
        tzset();
    }
    ~AccessLog() override {
        unlink(path_.c_str());
        unlink((path_ + ".1").c_str());
    }
    std::string text(const std::string& of) const {
        std::ostringstream all;
        all << std::ifstream(of).rdbuf();
        return all.str();
    }
    std::string line(log_format format, const log_entry& e) {
        unlink(path_.c_str());
        {
            access_log log(path_, format, journal_);
            log.write(e);
        }
        return text(path_);
    }

    const std::string path_ = testing::TempDir() + "access_log_test." + std::to_string(getpid());
    manual_time time_;
    std::vector<std::string> told_;
    http::journal journal_{time_, http::journal::style::priorities,
                           [this](std::string_view line) { told_.emplace_back(line); }};
};

const log_entry hit{.who = "10.0.0.1",
                    .method = "GET",
                    .target = "http://x/a\"b\n",
                    .agent = "curl/8 \"x\"",
                    .version = 11,
                    .status = 200,
                    .bytes = 5,
                    .result = "hit",
                    .at = 1'794'758'523'250ms,
                    .took = 1'234us};
const log_entry turned_away{.who = "::1", .status = 429, .result = "denied", .why = "too many"};

TEST_F(AccessLog, formats) {
    const std::string common =
        "10.0.0.1 - - [15/Nov/2026:16:02:03 +0000] \"GET http://x/a\\x22b\\x0a HTTP/1.1\" 200 5";
    const std::string combined = common + " \"-\" \"curl/8 \\x22x\\x22\"";
    EXPECT_EQ(line(log_format::common, hit), common + "\n");
    EXPECT_EQ(line(log_format::combined, hit), combined + "\n");
    EXPECT_EQ(line(log_format::cache, hit), combined + " hit 1.234\n");
    EXPECT_EQ(line(log_format::json, hit),
              "{\"time\":\"2026-11-15T16:02:03.250Z\",\"client\":\"10.0.0.1\",\"method\":\"GET\","
              "\"url\":\"http://x/a\\\"b\\n\",\"version\":\"1.1\",\"status\":200,\"bytes\":5,"
              "\"agent\":\"curl/8 \\\"x\\\"\",\"result\":\"hit\",\"seconds\":0.001234}\n");
}

TEST_F(AccessLog, no_request_and_no_bytes) {
    EXPECT_EQ(line(log_format::common, turned_away), "::1 - - [01/Jan/1970:00:00:00 +0000] \"-\" 429 -\n");
    EXPECT_EQ(line(log_format::json, turned_away),
              "{\"time\":\"1970-01-01T00:00:00.000Z\",\"client\":\"::1\",\"status\":429,\"bytes\":0,"
              "\"result\":\"denied\",\"reason\":\"too many\",\"seconds\":0.000000}\n");
    auto known = hit;
    known.user = "two words";
    known.version = 10;
    known.target = "\xff";
    EXPECT_EQ(line(log_format::common, known),
              "10.0.0.1 - two_words [15/Nov/2026:16:02:03 +0000] \"GET \\xff HTTP/1.0\" 200 5\n");
    EXPECT_NE(line(log_format::json, known).find("\"url\":\"\xef\xbf\xbd\""), std::string::npos);
}

TEST_F(AccessLog, goes_on_in_a_new_file) {
    access_log log(path_, log_format::common, journal_);
    log.write(hit);
    ASSERT_EQ(rename(path_.c_str(), (path_ + ".1").c_str()), 0);
    log.reopen();
    log.write(turned_away);
    log.flush();
    EXPECT_NE(text(path_ + ".1").find("\" 200 5\n"), std::string::npos);
    EXPECT_NE(text(path_).find("\"-\" 429 -\n"), std::string::npos);
    EXPECT_TRUE(told_.empty());
    ASSERT_EQ(rename(path_.c_str(), (path_ + ".1").c_str()), 0);
    ASSERT_EQ(mkdir(path_.c_str(), 0755), 0);
    log.reopen();
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_EQ(told_[0], "<3>--access-log " + path_ +
                            ": cannot be written: Is a directory; the old file stays in use\n");
    log.write(hit);
    log.flush();
    EXPECT_NE(text(path_ + ".1").find("\" 200 5\n"), std::string::npos);
    ASSERT_EQ(rmdir(path_.c_str()), 0);
}

TEST_F(AccessLog, says_before_whether_a_file_can_be_written) {
    for (const auto& good : {std::string(), std::string("-"), path_, path_ + "-folder/log"})
        EXPECT_NO_THROW(access_log::check(good)) << good;
    EXPECT_EQ(::access(path_.c_str(), F_OK), -1);  // none was made
    EXPECT_EQ(::access((path_ + "-folder").c_str(), F_OK), -1);
    EXPECT_THROW(access_log::check("/"), std::runtime_error);
    for (const auto* bad : {"/dev/null/log", "/proc/nowhere/log"}) {
        EXPECT_THROW(access_log::check(bad), std::runtime_error) << bad;
        EXPECT_THROW(access_log::open(bad), std::runtime_error) << bad;
    }
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    EXPECT_NO_THROW(access_log::check(path_));  // without waiting for a reader
}

TEST_F(AccessLog, what_cannot_be_written_is_told_once_and_counted) {
    access_log log("/dev/full", log_format::common, journal_);
    for (int i = 0; i < 3; ++i) {
        log.write(hit);
        log.flush();
    }
    EXPECT_EQ(log.lost(), 3U);
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_EQ(told_[0], "<3>the access log /dev/full: No space left on device; its lines are lost\n");
    log.use(path_, log_format::common, access_log::open(path_));
    log.write(hit);
    log.flush();
    ASSERT_EQ(told_.size(), 2U);
    EXPECT_EQ(told_[1], "<4>the access log " + path_ + " is written again; 3 lines were lost\n");
}

// A line of which only a part found room does not spoil the next one.
TEST_F(AccessLog, half_a_line_ends_before_the_next) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    access_log log(path_, log_format::common, journal_);
    const rlimit small{100, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    log.write(hit);
    log.write(hit);
    log.flush();
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(log.lost(), 1U);
    log.write(turned_away);
    log.flush();
    const auto all = text(path_);
    EXPECT_EQ(std::ranges::count(all, '\n'), 3);
    EXPECT_TRUE(all.ends_with("\n::1 - - [01/Jan/1970:00:00:00 +0000] \"-\" 429 -\n")) << all;
}

TEST_F(AccessLog, none_is_written_without_a_file) {
    access_log log("", log_format::common, journal_);
    EXPECT_FALSE(log.on());
    log.write(hit);
    EXPECT_THROW(access_log("/proc/nowhere/log", log_format::common, journal_), std::runtime_error);
}

}  // namespace
}  // namespace posy::proxy
