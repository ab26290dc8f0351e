// The summary of a peer as a stream: one answer, read for as long as it lasts.
//
// A message that cannot be used ends the stream: the next question names what is held, or asks for the whole.
// A peer that is silent for longer than it promised is taken for lost. While a peer rests for what its
// messages cost, its stream is not read, and it merges what it has to say.
#include "peers.hpp"
#include "summary_protocol.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {
constexpr auto message_time = 120s;  // from the first byte of a message to its last
}

http::task<void> peers::rest(peer& from, http::transport& connection, http::clock::duration silence) {
    const auto time = from.schedule.message_over(count_);
    const auto end = here_.time.now() + time;
    from.held_back = from.held_back + std::chrono::duration<double>(time).count();
    connection.ends_by(http::clock::time_point::max());
    connection.expires_after(time + silence);
    while (!from.gone && here_.time.now() < end) co_await from.pause.until(end);  // hints do not shorten it
    connection.expires_after(silence);
}

http::task<peers::outcome> peers::take_stream(peer& from, http::begun made, http::clock::duration silence) {
    auto& connection = *made.on.connection;
    auto& parsing = *made.parsing;
    parsing.body_limit(boost::none);  // of each message there is one
    connection.ends_by(http::clock::time_point::max());
    connection.expires_after(silence);
    answers(from);
    from.schedule.lives();
    stream_messages messages(summary_limits().body);
    auto came = outcome::unchanged;
    std::optional<http::clock::time_point> begun;  // the message that is arriving
    for (bool any = false; !from.gone;) {
        std::exception_ptr failed;
        bool more = false;
        try {
            more = co_await made.on.reader->more(parsing);
        } catch (...) {
            failed = std::current_exception();
        }
        if (failed && !any && connection.expired()) from.schedule.stream_was_silent(here_.time.now());
        if (failed) std::rethrow_exception(failed);
        if (!more) co_return messages.inside() ? outcome::useless : came;
        any = true;
        messages.add(parsing.piece);
        while (auto message = messages.next()) {
            if (from.gone) co_return outcome::useless;
            if (message->empty()) {
                confirm(from);
            } else {
                const auto became = co_await take(from, std::move(*message), sequence::any);
                if (became != outcome::news) co_return became;
                came = outcome::news;
            }
            begun.reset();
            co_await rest(from, connection, silence);
        }
        if (!messages.inside()) continue;
        if (!begun) begun = here_.time.now();
        connection.ends_by(*begun + message_time);  // however often a byte of it comes
    }
    co_return outcome::useless;
}

}  // namespace posy::node
