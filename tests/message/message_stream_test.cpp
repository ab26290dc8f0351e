// Messages in files, pipes and streams.
#include <unistd.h>

#include <thread>

#include "posy/base/file.hpp"
#include "posy/message.hpp"
#include "posy/message_length.hpp"
#include "samples.hpp"
#include "support.hpp"

namespace posy {
namespace {

TEST(message_stream, files_are_mapped_and_saved_whole) {
    const scratch_directory scratch;
    const auto filter = filter_sample({1 << 20, 5}, 1000);
    ASSERT_TRUE(save(scratch / "f.posy", filter));
    EXPECT_EQ(scratch.files(), 1u);
    auto read = load(scratch / "f.posy");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(std::get<bloom_filter>(read->body), filter);
    // A mapped filter can be changed without changing the file.
    std::get<bloom_filter>(read->body).insert(filter.hash()("new"));
    EXPECT_EQ(std::get<bloom_filter>(load(scratch / "f.posy")->body), filter);
    EXPECT_EQ(load(scratch / "none").error().message, "cannot open: No such file or directory");
}

TEST(message_stream, messages_concatenate_in_files_and_pipes) {
    const scratch_directory scratch;
    std::vector<std::byte> stream;
    for (const int keys : {1, 20, 300}) {
        const auto bytes = to_bytes(filter_sample({6000, 3, layout_id::spread}, keys));
        stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    const auto check_stream = [&](int file) {
        message_reader reader(file);
        for (const int keys : {1, 20, 300}) {
            auto next = reader.next();
            ASSERT_TRUE(next) << next.error().text();
            ASSERT_TRUE(next->has_value());
            EXPECT_EQ(std::get<bloom_filter>((**next).body),
                      filter_sample({6000, 3, layout_id::spread}, keys));
        }
        const auto end = reader.next();
        ASSERT_TRUE(end);
        EXPECT_FALSE(end->has_value());
    };
    write_file(scratch / "three", stream);
    check_stream(base::open_for_reading(scratch / "three")->get());

    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    base::descriptor in(ends[0]), out(ends[1]);
    std::jthread writer([&] {
        ASSERT_TRUE(base::write_fully(out.get(), stream));
        out = base::descriptor();
    });
    check_stream(in.get());
}

TEST(message_stream, errors_in_a_stream_count_from_its_start) {
    const scratch_directory scratch;
    const auto one = to_bytes(filter_sample({600, 3, layout_id::spread}));
    auto stream = one;
    stream.insert(stream.end(), one.begin(), one.end() - 3);
    write_file(scratch / "cut", stream);
    const auto file = *base::open_for_reading(scratch / "cut");
    message_reader reader(file.get());
    ASSERT_TRUE(reader.next());
    const auto cut = reader.next();
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().offset, stream.size());
    write_file(scratch / "empty", {});
    EXPECT_EQ(load(scratch / "empty").error().message, "it is empty; a Posy message was expected");
}

TEST(message_stream, the_length_of_a_message_is_known_from_its_header) {
    for (const auto want : {coding::raw, coding::smallest}) {
        auto bytes = to_bytes(filter_sample({600, 3, layout_id::spread}), {.want = want});
        const auto length = bytes.size();
        bytes.resize(length + 9);  // the next one has begun
        std::size_t known = 0;
        for (std::size_t there = 0; there <= bytes.size(); ++there) {
            const auto found = message_length(byte_view(bytes).first(there));
            ASSERT_TRUE(found) << there;
            known += found->has_value();
            if (*found) EXPECT_EQ(**found, length) << there;
        }
        EXPECT_GT(known, bytes.size() / 3);
    }
    std::vector<std::byte> none(8, std::byte{'x'});
    EXPECT_FALSE(message_length(none));
}

}  // namespace
}  // namespace posy
