#include "proxy/access_log.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>

namespace posy::proxy {
namespace {

TEST(access_log, a_line_per_request_with_the_time_it_was_given) {
    setenv("TZ", "UTC", 1);
    tzset();
    const auto path = testing::TempDir() + "access_log_test." + std::to_string(getpid());
    {
        access_log log(path);
        EXPECT_TRUE(log.on());
        log.write("10.0.0.1", "GET", "http://x/a\"b\n", 200, 5, 0);
        log.write("::1", "CONNECT", "x:443", 502, 0, 1'794'758'523);
    }
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    unlink(path.c_str());
    EXPECT_EQ(text.str(),
              "10.0.0.1 - - [01/Jan/1970:00:00:00 +0000] \"GET http://x/a\\x22b\\x0a HTTP/1.1\" 200 5\n"
              "::1 - - [15/Nov/2026:16:02:03 +0000] \"CONNECT x:443 HTTP/1.1\" 502 0\n");
}

TEST(access_log, none_is_written_without_a_file) {
    access_log log("");
    EXPECT_FALSE(log.on());
    log.write("::1", "GET", "x", 200, 0, 0);
    EXPECT_THROW(access_log("/nowhere/log"), std::runtime_error);
}

}  // namespace
}  // namespace posy::proxy
