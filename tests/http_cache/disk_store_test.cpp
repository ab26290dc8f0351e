#include "posy/http_cache/disk_store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "heads.hpp"
#include "posy/http_cache/stored_bytes.hpp"
#include "support.hpp"
#include "watcher.hpp"

namespace posy::http_cache {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<disk_store> opened(const fs::path& directory, observer* watching = nullptr,
                                   std::uint64_t bytes = 1 << 20) {
    auto store = disk_store::open({directory, bytes}, watching);
    EXPECT_TRUE(store) << store.error().text();
    return std::move(*store);
}

std::vector<fs::path> files_in(const fs::path& directory) {
    std::vector<fs::path> files;
    for (const auto& each : fs::recursive_directory_iterator(directory)) {
        const auto name = each.path().filename();
        if (each.is_regular_file() && name != "key" && name != "lock") files.push_back(each.path());
    }
    return files;
}

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string refusal_of(const fs::path& directory) {
    const auto store = disk_store::open({directory, 1 << 20});
    return store ? "" : store.error().text();
}

bool taken(disk_store& store, const stored& response) {
    const auto put = store.put(*response);
    EXPECT_TRUE(put) << put.error().text();
    return put && *put;
}

TEST(disk_store, survives_a_restart) {
    const scratch_directory temporary;
    const auto vary = answer(200, {{"Vary", "Accept"}});
    {
        watcher heard;
        const auto store = opened(temporary.path(), &heard);
        EXPECT_TRUE(taken(*store, plain(1)));
        EXPECT_TRUE(taken(*store, plain(2)));
        EXPECT_TRUE(taken(*store, plain(2, 500, 'y')));
        EXPECT_TRUE(taken(*store, kept(vary, get({{"Accept", "a"}}), url_of(3), "a")));
        EXPECT_TRUE(taken(*store, kept(vary, get({{"Accept", "b"}}), url_of(3), "b")));
        EXPECT_TRUE(taken(*store, plain(4)));
        EXPECT_TRUE(store->erase(url_of(4)));
        EXPECT_FALSE(store->erase(url_of(4)));
        EXPECT_EQ(heard.urls(), (std::set{url_of(1), url_of(2), url_of(3)}));
        EXPECT_EQ(files_in(temporary.path()).size(), 4u);
    }
    watcher heard;
    const auto store = opened(temporary.path(), &heard);
    EXPECT_EQ(heard.urls(), (std::set{url_of(1), url_of(2), url_of(3)}));
    EXPECT_EQ(urls_in(*store), heard.urls());
    EXPECT_EQ(*store->find(url_of(2), get())->body, std::string(500, 'y'));
    EXPECT_EQ(*store->find(url_of(3), get({{"Accept", "b"}}))->body, "b");
    EXPECT_EQ(store->find(url_of(3), get()), nullptr);
    EXPECT_FALSE(store->has(url_of(4)));
    const auto one = store->find(url_of(1), get());
    EXPECT_EQ(one->wire_head, plain(1)->wire_head);
    EXPECT_EQ(one->lifetime, 60);
    EXPECT_EQ(one->received, noon);
    std::uint64_t bytes = 0;
    for (const auto& file : files_in(temporary.path())) bytes += fs::file_size(file);
    EXPECT_EQ(store->counts().bytes, bytes);
    EXPECT_EQ(store->counts().objects, 4u);
}

// What a kill or a failing disk may leave behind, file by file; whatever it is, the store opens, what is
// whole is found, and what is not is gone from the directory.
TEST(disk_store, opens_whatever_is_there) {
    const scratch_directory temporary;
    { taken(*opened(temporary.path()), plain(1)); }
    const auto whole = files_in(temporary.path()).at(0);
    const auto text = content(whole);
    const auto opens_with = [&](std::string_view changed) {
        write(whole, changed);
        watcher heard;
        const auto store = opened(temporary.path(), &heard);
        EXPECT_EQ(heard.urls(), urls_in(*store));
        const auto found = store->find(url_of(1), get());
        EXPECT_EQ(heard.urls(), urls_in(*store));
        EXPECT_EQ(heard.urls().size(), found ? 1u : 0u);
        EXPECT_EQ(fs::exists(whole), found != nullptr);
        return found != nullptr;
    };
    EXPECT_TRUE(opens_with(text));
    for (std::size_t size = 0; size < text.size(); size += 1 + size / 20) {
        EXPECT_FALSE(opens_with(text.substr(0, size))) << size;
    }
    EXPECT_FALSE(opens_with(text + "x"));
    std::mt19937_64 random(9);
    for (int i = 0; i < 40; ++i) {
        auto flipped = text;
        const auto at = i < 20 ? random() % 200 : random() % text.size();  // the head, and anywhere
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
        EXPECT_FALSE(opens_with(flipped)) << at;
    }
    EXPECT_TRUE(opens_with(text));
}

// A process puts objects and says so after each; it is killed in the middle of another. What it had said is
// there, and what it had not is there whole or not at all.
TEST(disk_store, opens_after_a_kill) {
    for (const int said_before_the_kill : {1, 7, 30}) {
        const scratch_directory temporary;
        int pipe_ends[2];
        ASSERT_EQ(pipe(pipe_ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            const auto store = opened(temporary.path(), nullptr, 1 << 28);
            for (std::uint64_t i = 0;; ++i) {
                if (!taken(*store, plain(i, 200000)) || ::write(pipe_ends[1], "x", 1) != 1) _exit(1);
            }
        }
        for (int i = 0; i < said_before_the_kill; ++i) {
            char said;
            ASSERT_EQ(read(pipe_ends[0], &said, 1), 1);
        }
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        close(pipe_ends[0]);
        close(pipe_ends[1]);
        watcher heard;
        const auto store = opened(temporary.path(), &heard, 1 << 28);
        for (int i = 0; i < said_before_the_kill; ++i)
            EXPECT_TRUE(store->has(url_of(static_cast<unsigned>(i))));
        for (const auto& url : heard.urls()) EXPECT_TRUE(store->find(url, get())) << url;
        EXPECT_EQ(files_in(temporary.path()).size(), heard.urls().size());
    }
}

TEST(disk_store, removes_leftovers_and_leaves_strangers_alone) {
    const scratch_directory temporary;
    { taken(*opened(temporary.path()), plain(1)); }
    const auto whole = files_in(temporary.path()).at(0);
    const auto text = content(whole);
    const std::string digits(32, 'a');
    write(whole.string() + ".posy-tmp", text.substr(0, 50));  // killed before the rename
    write(whole.string() + ".posy-tmp1", text);
    write(whole.string() + ".zip", "mine");
    fs::create_directories(temporary.path() / "aa");
    write(temporary.path() / "aa" / digits, text);                    // under a name that is not its own
    write(temporary.path() / "aa" / (std::string(32, 'b')), "mine");  // no file of this folder has that name
    write(temporary.path() / "aa" / "notes.txt", "mine");
    write(temporary.path() / "README", "mine");
    fs::create_directories(temporary.path() / "bb" / std::string(32, 'b'));
    const auto store = opened(temporary.path());
    EXPECT_EQ(urls_in(*store), std::set{url_of(1)});
    auto files = files_in(temporary.path());
    std::ranges::sort(files);
    std::vector<fs::path> expected{whole, whole.string() + ".zip",
                                   temporary.path() / "aa" / std::string(32, 'b'),
                                   temporary.path() / "aa" / "notes.txt", temporary.path() / "README"};
    std::ranges::sort(expected);
    EXPECT_EQ(files, expected);
}

// Other things under a name of ours, before the start and after it: the store waits for none, follows none
// and reads none to its end.
TEST(disk_store, what_others_put_in_place_of_a_file_is_a_miss) {
    const auto pipe_at = [](const fs::path& at) { ASSERT_EQ(mkfifo(at.c_str(), 0600), 0); };
    const auto folder_at = [](const fs::path& at) { fs::create_directories(at / "mine"); };
    const auto link_at = [](const fs::path& at) {
        write(at.parent_path().parent_path() / "outside", "mine");
        fs::create_symlink("../outside", at);
    };
    const auto device_at = [](const fs::path& at) { fs::create_symlink("/dev/zero", at); };
    const auto grown_at = [](const fs::path& at) {
        write(at, "PSYC");
        fs::resize_file(at, std::uintmax_t{1} << 42);  // all of it would not fit into any memory
    };
    const std::initializer_list<std::function<void(const fs::path&)>> changes{pipe_at, folder_at, link_at,
                                                                              device_at, grown_at};
    for (const auto& change : changes) {
        for (const bool before_the_start : {true, false}) {
            const scratch_directory temporary;
            { taken(*opened(temporary.path()), plain(1)); }
            const auto file = files_in(temporary.path()).at(0);
            auto store = opened(temporary.path());
            fs::remove(file);
            change(file);
            if (before_the_start) store.reset();
            if (before_the_start) store = opened(temporary.path());
            EXPECT_EQ(store->find(url_of(1), get()), nullptr);
            EXPECT_FALSE(store->has(url_of(1)));
            const bool folder = fs::is_directory(fs::symlink_status(file));
            EXPECT_EQ(store->put(*plain(1)).ok(), !folder);
            EXPECT_EQ(store->find(url_of(1), get()) != nullptr, !folder);
            EXPECT_EQ(fs::exists(file / "mine"), folder);
            if (fs::exists(temporary.path() / "outside")) {
                EXPECT_EQ(content(temporary.path() / "outside"), "mine");
            }
        }
    }
}

TEST(disk_store, keeps_its_budget_on_disk) {
    const scratch_directory temporary;
    constexpr std::uint64_t budget = 50000;
    watcher heard;
    const auto used = [&] {
        std::uint64_t bytes = 0;
        for (const auto& file : files_in(temporary.path())) bytes += fs::file_size(file);
        return bytes;
    };
    {
        const auto store = opened(temporary.path(), &heard, budget);
        std::mt19937_64 random(10);
        for (int step = 0; step < 300; ++step) {
            const auto number = random() % 60;
            if (random() % 10 == 0) {
                store->erase(url_of(number));
            } else if (!store->find(url_of(number), get())) {
                const auto size = random() % 7000;
                const auto response = plain(number, size);
                const bool fits = head_bytes(*response).size() + size <= budget / 8;
                ASSERT_EQ(taken(*store, response), fits);
                ASSERT_EQ(store->has(url_of(number)), fits);
            }
            ASSERT_EQ(store->counts().bytes, used());
            ASSERT_LE(used(), budget);
            ASSERT_EQ(heard.urls(), urls_in(*store));
        }
        EXPECT_GT(store->counts().evictions, 10u);
    }
    watcher later;  // opened with less: what does not fit any more goes
    const auto store = opened(temporary.path(), &later, budget / 2);
    EXPECT_LE(used(), budget / 2);
    EXPECT_GT(used(), 0u);
    EXPECT_EQ(later.urls(), urls_in(*store));
    EXPECT_EQ(files_in(temporary.path()).size(), store->counts().objects);
}

TEST(disk_store, an_object_that_cannot_be_written_is_an_error_and_the_old_one_gone) {
    const scratch_directory temporary;
    watcher heard;
    const auto store = opened(temporary.path(), &heard);
    taken(*store, plain(1));
    const auto whole = files_in(temporary.path()).at(0);
    fs::remove_all(whole.parent_path());
    write(whole.parent_path(), "a file where the folder was");
    EXPECT_FALSE(store->put(*plain(1)));
    EXPECT_TRUE(heard.urls().empty());
    EXPECT_EQ(store->find(url_of(1), get()), nullptr);
    EXPECT_NE(refusal_of(whole.parent_path()).find(whole.parent_path().string()), std::string::npos);
}

TEST(disk_store, a_file_taken_away_is_a_miss) {
    const scratch_directory temporary;
    watcher heard;
    const auto store = opened(temporary.path(), &heard);
    taken(*store, plain(1));
    fs::remove(files_in(temporary.path()).at(0));
    EXPECT_EQ(store->find(url_of(1), get()), nullptr);
    EXPECT_TRUE(heard.urls().empty());
    EXPECT_EQ(store->counts().bytes, 0u);
}

TEST(disk_store, from_many_threads) {
    const scratch_directory temporary;
    watcher heard;
    auto store = opened(temporary.path(), &heard, 60000);
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&, thread] {
                std::mt19937_64 random(thread);
                for (int step = 0; step < 150; ++step) {
                    const auto number = random() % 20;
                    if (random() % 10 == 0) store->erase(url_of(number));
                    if (const auto found = store->find(url_of(number), get()))
                        wrong += found->url != url_of(number);
                    wrong += !store->put(*plain(number, 3000 + random() % 1000)).ok();
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(heard.urls(), urls_in(*store));
    EXPECT_EQ(files_in(temporary.path()).size(), store->counts().objects);
    store.reset();
    watcher later;
    const auto again = opened(temporary.path(), &later, 60000);
    EXPECT_EQ(later.urls(), heard.urls());
}

// A folder with files of another owner, whatever they are called, is not taken for a cache; nothing in it is
// touched.
TEST(disk_store, refuses_a_folder_that_never_was_a_cache) {
    const scratch_directory temporary;
    const auto file = temporary.path() / "ab" / ("ab" + std::string(30, '1'));
    fs::create_directories(file.parent_path());
    write(file, "mine");
    const auto why = refusal_of(temporary.path());
    EXPECT_NE(why.find(temporary.path().string()), std::string::npos) << why;
    EXPECT_NE(why.find("no 'key'"), std::string::npos) << why;
    EXPECT_EQ(content(file), "mine");
    fs::remove_all(file.parent_path());
    EXPECT_TRUE(fs::is_empty(temporary.path()));
    // Leftovers of a start that was killed, and of the file system, do not count.
    write(temporary.path() / "key.posy-tmp", "half");
    fs::create_directories(temporary.path() / "lost+found");
    EXPECT_EQ(refusal_of(temporary.path()), "");
}

TEST(disk_store, an_invalid_key_is_an_error) {
    const scratch_directory temporary;
    const auto key = temporary.path() / "key", outside = temporary.path() / "outside";
    const auto refused = [&](const char* what) {
        EXPECT_NE(refusal_of(temporary.path()).find("'key'"), std::string::npos) << what;
        fs::remove(key);
    };
    ASSERT_EQ(mkfifo(key.c_str(), 0600), 0);
    refused("a pipe");
    fs::create_directories(key);
    refused("a folder");
    write(outside, std::string(16, 'k'));
    fs::create_symlink(outside, key);
    refused("a link");
    write(key, "short");
    refused("five bytes");
    EXPECT_EQ(content(outside), std::string(16, 'k'));
}

// ab is a link to a folder of another owner, which has files of such names, too.
TEST(disk_store, goes_through_no_linked_folder) {
    const scratch_directory temporary, outside;
    { taken(*opened(temporary.path()), plain(1)); }
    const auto folder = files_in(temporary.path()).at(0).parent_path();
    const auto stranger = outside.path() / (folder.filename().string() + std::string(30, '1'));
    write(stranger, "mine");
    fs::remove_all(folder);
    fs::create_symlink(outside.path(), folder);
    const auto store = opened(temporary.path());
    EXPECT_EQ(content(stranger), "mine");
    EXPECT_FALSE(store->put(*plain(1)));
    EXPECT_EQ(std::distance(fs::directory_iterator(outside.path()), {}), 1);
}

TEST(disk_store, belongs_to_one_process) {
    const scratch_directory temporary;
    auto store = opened(temporary.path());
    const auto why = refusal_of(temporary.path());
    EXPECT_NE(why.find("another process uses it"), std::string::npos) << why;
    EXPECT_NE(why.find(temporary.path().string()), std::string::npos) << why;
    store.reset();
    EXPECT_EQ(refusal_of(temporary.path()), "");
}

}  // namespace
}  // namespace posy::http_cache
