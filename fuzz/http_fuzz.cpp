// What arrives at the HTTP edge, as requests, as responses, and as what stands in their fields. The last byte
// says how the others are cut into pieces.
//
// Messages are read one after the other, as a server or a client does, until one is refused or the bytes end;
// a refusal or a message, within the limits. However the bytes are cut, the messages are the same.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "http/message.hpp"
#include "manual_time.hpp"

namespace {

using namespace posy;
using namespace posy::http;

constexpr limits small{.head = 2048, .fields = 20, .body = 4096};

// Bytes that are there already, handed out in pieces.
class recorded final : public transport {
  public:
    recorded(std::string_view bytes, std::size_t piece, tcp_socket& nowhere, watch& w)
        : transport(nowhere, w), bytes_(bytes), piece_(piece), nowhere_(nowhere) {}
    task<void> accept_handshake() override { co_return; }
    task<void> connect_handshake(const std::string& /*host*/) override { co_return; }
    task<std::size_t> begin_read(std::span<char> into, boost::system::error_code& /*failed*/) override {
        const auto size = std::min({piece_, into.size(), bytes_.size()});
        std::copy_n(bytes_.begin(), size, into.begin());
        bytes_.remove_prefix(size);
        co_return size;
    }
    task<void> write(std::span<const asio::const_buffer> /*buffers*/) override { co_return; }
    std::size_t write_now(std::span<const asio::const_buffer> buffers) override {
        return asio::buffer_size(buffers);
    }
    void finish_writing() override {}
    bool encrypted() const override { return false; }

  private:
    tcp_socket& socket() override { return nowhere_; }
    std::string_view bytes_;
    std::size_t piece_;
    tcp_socket& nowhere_;
};

// All that was understood, written down, and whether it ended in a refusal.
struct heard {
    std::vector<std::string> messages;
    bool refused = false;
    friend bool operator==(const heard&, const heard&) = default;
};

template <class Head>
task<void> listen(transport& from, heard& all) {
    reader r(from);
    try {
        for (;;) {
            parser<Head> message(small);
            const bool any = co_await r.head(message);
            if (!any) co_return;
            const std::string head = to_text(message.head);
            const std::string body = co_await r.body(message);
            if (body.size() > small.body) std::abort();
            all.messages.push_back(head + "\n" + body);
            if (!message.keep_alive()) co_return;
        }
    } catch (const refusal& why) {
        if (why.status < 400 || why.status > 599) std::abort();
        all.refused = true;
    }
}

template <class Head>
heard hear(std::string_view bytes, std::size_t piece) {
    static asio::io_context context;
    static manual_time time;
    context.restart();
    watch w(context, time);
    tcp_socket nowhere(context);
    recorded from(bytes, piece, nowhere, w);
    heard all;
    asio::co_spawn(context, listen<Head>(from, all), asio::detached);
    context.run();
    return all;
}

template <class Head>
void compare(std::string_view bytes, std::size_t piece) {
    const auto whole = hear<Head>(bytes, bytes.size() + 1), cut = hear<Head>(bytes, piece);
    if (whole != cut) std::abort();
}

// What they accept means the same when it is written down and read again.
void small_parsers(std::string_view text) {
    if (const auto at = parse_authority(text, 80); at && parse_authority(at->text(), 80) != at) std::abort();
    if (const auto where = parse_url(text)) {
        const auto again =
            parse_url((where->secure ? "https://" : "http://") + where->authority.text() + where->path);
        if (!again || *again != *where) std::abort();
    }
    if (const auto plain = percent_decoded(text); plain && percent_decoded(percent_encoded(*plain)) != plain)
        std::abort();
    std::size_t size = 0;
    for (const auto member : http_cache::list_members(text)) {
        if (member.empty() || member.data() < text.data() ||
            member.data() + member.size() > text.data() + text.size())
            std::abort();
        size += member.size();
    }
    if (size > text.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size - 1);
    const std::size_t piece = 1 + data[size - 1];
    compare<request_head>(bytes, piece);
    compare<response_head>(bytes, piece);
    small_parsers(bytes);
    return 0;
}
