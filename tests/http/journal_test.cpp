#include "http/journal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manual_time.hpp"

namespace posy::http {
namespace {

using namespace std::chrono_literals;

struct lines {
    manual_time time;
    std::string text;
    journal::sink sink() {
        return [this](std::string_view line) { text += line; };
    }
};

TEST(journal, a_line_has_its_time_and_level) {
    lines l;
    journal j(l.time, journal::style::times, l.sink());
    j.info("{} listens on {}", "px", 1);
    l.time.advance(61'042ms);
    j.error("no room");
    EXPECT_EQ(l.text,
              "2023-11-14T22:13:20.000Z info px listens on 1\n"
              "2023-11-14T22:14:21.042Z error no room\n");
}

TEST(journal, systemd_gets_priorities) {
    lines l;
    journal j(l.time, journal::style::priorities, l.sink());
    j.error("a");
    j.warning("b");
    j.info("c");
    EXPECT_EQ(l.text, "<3>a\n<4>b\n<6>c\n");
}

TEST(journal, less_grave_events_are_left_out) {
    lines l;
    journal j(l.time, journal::style::priorities, l.sink());
    j.set_level(log_level::warning);
    j.info("a");
    j.warning("b");
    j.set_level(log_level::error);
    j.warning("c");
    EXPECT_EQ(l.text, "<4>b\n");
    journal().error("nobody hears it");
}

TEST(journal, a_crowd_of_lines_is_a_line_per_second) {
    lines l;
    journal j(l.time, journal::style::priorities, l.sink());
    for (int i = 1; i <= 200; ++i) j.sparingly(log_level::info, "backend", "backend {} is dead", i);
    j.sparingly(log_level::warning, "name", "another kind");
    j.catch_up();
    EXPECT_EQ(l.text, "<6>backend 1 is dead\n<4>another kind\n");
    l.text.clear();
    l.time.advance(1s);
    j.sparingly(log_level::info, "backend", "backend {} is dead", 201);
    j.catch_up();
    j.catch_up();
    EXPECT_EQ(l.text, "<6>backend 201 is dead (199 more like it since 2023-11-14T22:13:20.000Z)\n");
    l.text.clear();
    j.sparingly(log_level::info, "backend", "backend {} is dead", 202);
    l.time.advance(1s);
    j.catch_up();
    EXPECT_EQ(l.text, "<6>backend 202 is dead\n");
    l.text.clear();
    l.time.advance(1s);
    j.sparingly(log_level::info, "backend", "backend {} is dead", 203);
    EXPECT_EQ(l.text, "<6>backend 203 is dead\n");
    l.text.clear();
    j.sparingly(log_level::info, "backend", "backend {} is dead", 204);
    j.catch_up();
    EXPECT_EQ(l.text, "");
    j.finish();
    EXPECT_EQ(l.text, "<6>backend 204 is dead\n");
    j.set_level(log_level::error);
    j.sparingly(log_level::info, "backend", "backend {} is dead", 205);
    journal().sparingly(log_level::error, "nobody", "hears it");
    journal().catch_up();
    journal().finish();
}

TEST(journal, nobody_else_writes_lines) {
    lines l;
    journal j(l.time, journal::style::priorities, l.sink());
    j.info("{}", "a\n<0>b\r\x1b[2J\n");
    EXPECT_EQ(l.text, "<6>a\\x0a<0>b\\x0d\\x1b[2J\n");
}

TEST(journal, knows_who_reads_standard_error) {
    struct stat at {};
    ASSERT_EQ(fstat(STDERR_FILENO, &at), 0);
    EXPECT_TRUE(reads_standard_error(fmt::format("{}:{}", at.st_dev, at.st_ino)));
    EXPECT_FALSE(reads_standard_error(fmt::format("{}:{}", at.st_dev, at.st_ino + 1)));
    EXPECT_FALSE(reads_standard_error(""));
}

}  // namespace
}  // namespace posy::http
