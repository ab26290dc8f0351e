#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <posy/gates/sqlite_table.hpp>

int main() {
    sqlite3* db = nullptr;
    sqlite3_open(":memory:", &db);
    sqlite3_exec(db, "CREATE TABLE users (name TEXT PRIMARY KEY, mail TEXT)", nullptr, nullptr, nullptr);
    sqlite3_exec(db, "INSERT INTO users VALUES ('ann', 'ann@example.org')", nullptr, nullptr, nullptr);
    {
        const auto users = *posy::gates::sqlite_table<std::string>::open(db, {"users", "name", "mail"});
        auto gate =
            *posy::gate<std::string, std::string>::open(users.store(), {.items = 1'000, .rate = 0.001});
        const auto now = std::chrono::steady_clock::now();
        for (const char* name : {"ann", "bob", "cid"})
            *gate.find(name, now, [name](const std::optional<std::string>& mail) {
                std::printf("%s: %s\n", name, mail ? mail->c_str() : "nobody");
            });
        *gate.flush(now);  // or gate.tick(now) from time to time
    }
    sqlite3_close(db);
}
