#include "upload.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/co_spawn.hpp>

#include "upstream.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto idle_upload = 60s;     // without a byte moving
constexpr auto patience = 1s;         // with an origin that may not know what an expectation is
constexpr auto until_it_ends = 20ms;  // between two looks

http::task<bool> more_of(http::request& from) {
    try {
        co_return co_await from.reader.more(from.parsing);
    } catch (const http::refusal& r) {
        throw client_fault(r.status, r.what());
    } catch (const boost::system::system_error&) {
        throw client_fault(408, "the body of the request did not arrive in time");
    }
}

}  // namespace

std::shared_ptr<upload> upload::begin(http::request& from, std::shared_ptr<http::transport> to,
                                      http::clock::duration time) {
    auto made = std::make_shared<upload>(from, std::move(to), time);
    from.finish_body = [made](bool failed) { return failed ? made->stop() : made->finish(); };
    auto all = [](std::shared_ptr<upload> self) -> http::task<void> { co_await self->run(); };
    asio::co_spawn(from.here.context, all(made), [made](const std::exception_ptr&) {
        made->over_ = true;
        made->waits_ = made->speaks_ = false;
        made->ending_.stop();
    });
    return made;
}

upload::upload(http::request& from, std::shared_ptr<http::transport> to, http::clock::duration time)
    : from_(from),
      to_(std::move(to)),
      time_(time),
      patience_(from.here.time, from.here.context),
      ending_(from.here.time, from.here.context),
      waits_(from.reader.awaits_continue()) {}

void upload::go_on() {
    waits_ = false;
    patience_.stop();
}

http::task<void> upload::silence() {
    while (speaks_) co_await ending_.pause(until_it_ends);
}

http::task<void> upload::stop() {
    stopped_ = true;
    waits_ = false;
    patience_.stop();
    // What it waits for may have come in this very moment, and then it waits for the next thing once more.
    while (!over_) {
        from_.connection.cancel();
        to_->cancel();
        co_await ending_.pause(until_it_ends);
    }
}

http::task<void> upload::finish() {
    while (!over_) co_await ending_.pause(idle_upload);
}

http::task<void> upload::run() {
    try {
        co_await wait_for_the_word();
        co_await pass_on();
    } catch (const client_fault&) {
        if (stopped_) co_return;  // we ended it
        fault_ = std::current_exception();
        to_->close();  // nobody waits for the answer to half a request
    } catch (const boost::system::system_error&) {
        // The origin takes no more of it. It may have said why.
    }
}

http::task<void> upload::wait_for_the_word() {
    const auto end = from_.here.time.now() + patience;
    while (waits_ && from_.here.time.now() < end) co_await patience_.until(end);
    waits_ = false;
    if (stopped_ || !from_.reader.awaits_continue()) co_return;
    speaks_ = true;
    try {
        co_await from_.reader.say(http::go_on);
    } catch (const boost::system::system_error&) {
        throw client_fault(408, "the client did not wait for its 100");
    }
    speaks_ = false;
}

http::task<void> upload::pass_on() {
    const bool chunked = from_.parsing.chunked();
    while (!stopped_) {
        const bool more = co_await more_of(from_);
        if (!more || stopped_) break;
        from_.connection.expires_after(idle_upload);
        to_->expires_after(idle_upload);
        const auto size = fmt::format("{:x}\r\n", from_.parsing.piece.size());
        const std::array<asio::const_buffer, 3> parts{asio::buffer(size), asio::buffer(from_.parsing.piece),
                                                      asio::buffer("\r\n", 2)};
        if (chunked) {
            co_await to_->write(parts);
        } else {
            co_await to_->write(std::span(parts).subspan(1, 1));
        }
    }
    if (stopped_) co_return;
    const std::string last = chunked ? http::last_chunk(from_.parsing.trailers) : std::string();
    if (chunked) co_await to_->write(last);
    whole_ = true;
    if (answered_) co_return;
    to_->expires_after(time_);
    from_.connection.expires_after(time_ + 10s);
}

}  // namespace posy::proxy
