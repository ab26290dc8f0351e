// Messages are the same however their bytes are cut: what fuzz/http_fuzz.cpp looks for, on a few thousand
// inputs.
#include <gtest/gtest.h>

#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace posy::http {
namespace {

const std::string starts[] = {
    "POST /keys HTTP/1.1\r\nHost: n\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\n+a\n\r\n0\r\nX: "
    "y\r\n\r\nGET / HTTP/1.0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: \"1a\"\r\n\r\nokHTTP/1.1 304 Not Modified\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 4\n\n\r\n\r\nHTTP/1.1 200\r\nA : b\r\n c\r\nTransfer-Encoding: "
    "chunked\r\n\r\n2 \r\nok\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nA: 1\nContent-Length : 0\r\n\r\n",
    "https://[::1]:8080/a%20b?c#d",
};

void look_at(const std::string& bytes, std::size_t piece) {
    const std::string input = bytes + static_cast<char>(piece - 1);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// It aborts where it finds something.
TEST(cut, messages_are_the_same_however_they_are_cut) {
    for (const auto& bytes : starts)
        for (std::size_t piece = 1; piece <= 256; ++piece) look_at(bytes, piece);
}

TEST(cut, so_are_damaged_ones) {
    std::mt19937 random(1);
    const auto below = [&](std::size_t most) { return random() % most; };
    for (int round = 0; round < 10'000; ++round) {
        std::string bytes = starts[below(std::size(starts))];
        for (auto changes = 1 + below(4); changes > 0; --changes) {
            const auto at = below(bytes.size());
            switch (below(4)) {
                case 0:
                    bytes[at] = "\r\n\t :0\xff"[below(7)];
                    break;
                case 1:
                    bytes.erase(at, 1 + below(3));
                    break;
                case 2:
                    bytes.insert(at, "\r\n");
                    break;
                default:
                    bytes.insert(at, starts[below(std::size(starts))]);
            }
            if (bytes.empty()) bytes = "\n";
        }
        look_at(bytes, 1 + below(100));
    }
}

}  // namespace
}  // namespace posy::http
