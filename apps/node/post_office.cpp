#include "post_office.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "letter_seal.hpp"
#include "posy/overlay/letter_batch.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

constexpr auto delivery_time = 5s;
constexpr auto busy_pause = 250ms;
constexpr unsigned deliveries = 8;  // of one batch to a destination that is busy
constexpr std::size_t batch_bytes = std::size_t{1} << 20, batch_letters = 16'384, batch_names = 1024;
constexpr std::size_t most_complaints = 1024;

}  // namespace

void post_office::send(const std::string& address, const std::vector<std::string>& named,
                       overlay::message_bytes message) {
    const std::size_t size = message.size();
    const bool known = boxes_.contains(address);
    if ((!known && boxes_.size() >= most_boxes) || held_ + size > most_in_all ||
        (known && boxes_.at(address).bytes + size > most_in_box) || size > most_in_box / 2) {
        ++counts_.overflowed;
        return;
    }
    box& to = boxes_[address];
    to.waiting.push_back({std::move(message), named});
    to.bytes += size;
    held_ += size;
    if (!known) asio::co_spawn(here_.context, carry(address), asio::detached);
}

std::vector<post_office::mail> post_office::take_batch(box& from) {
    std::size_t number = 0, bytes = 0, names = 0;
    for (const mail& each : from.waiting) {
        const bool full = bytes + each.message.size() > batch_bytes || number == batch_letters ||
                          names + each.named.size() > batch_names;
        if (number > 0 && full) break;
        ++number, bytes += each.message.size(), names += each.named.size();
    }
    const auto end = from.waiting.begin() + static_cast<std::ptrdiff_t>(number);
    std::vector<mail> batch(std::make_move_iterator(from.waiting.begin()), std::make_move_iterator(end));
    from.waiting.erase(from.waiting.begin(), end);
    from.bytes -= bytes;
    held_ -= bytes;
    return batch;
}

std::string post_office::body_of(const std::vector<mail>& batch) {
    std::set<std::string> named;
    std::vector<byte_view> letters;
    for (const mail& each : batch) {
        named.insert(each.named.begin(), each.named.end());
        letters.emplace_back(each.message);
    }
    const std::vector<std::string> addresses(named.begin(), named.end());
    const auto bytes = overlay::write_batch(addresses, letters);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Until the box is empty, or its destination is out of reach.
http::task<void> post_office::carry(std::string address) {
    for (;;) {
        box& from = boxes_.at(address);
        if (from.waiting.empty()) break;
        const auto batch = take_batch(from);
        const std::string body = body_of(batch);
        const bool arrived = co_await deliver(address, body);
        if (arrived) {
            counts_.letters += batch.size();
            ++counts_.batches;
            continue;
        }
        box& left = boxes_.at(address);
        counts_.undelivered += batch.size() + left.waiting.size();
        held_ -= left.bytes;
        break;
    }
    boxes_.erase(address);
}

http::task<bool> post_office::deliver(const std::string& address, const std::string& body) {
    const auto where = http::parse_url(address);
    http::alarm pause(here_.time, here_.context);
    for (unsigned i = 0; i < deliveries; ++i) {
        http::request_head head{"POST", std::string(letters_path), {}};
        head.fields.add("Host", where->authority.text());
        head.fields.add("Content-Length", std::to_string(body.size()));
        sealed_at_ = std::max(here_.time.milliseconds(), sealed_at_ + 1);
        add_to(head.fields, *how_.token.get(), how_.overlay.address, address, sealed_at_, body);
        unsigned status = 0;
        try {
            const auto got = co_await here_.client.ask(where->authority, where->secure, head, body,
                                                       http::short_answer, delivery_time);
            counts_.bytes += got.sent;
            status = got.head.status;
            note_answer(address, status, got.body);
        } catch (const std::exception& e) {
            note_failure(address, e.what());
            co_return false;
        }
        if (status != 429 && status != 503) co_return status < 300;
        co_await pause.pause(busy_pause);
    }
    co_return false;
}

void post_office::note_answer(const std::string& address, unsigned status, const std::string& text) {
    const bool taken = status < 300, busy = status == 429 || status == 503;
    const auto before = reach_.note(address, taken || busy ? reach::reached : reach::refusing);
    if (before == reach::unreachable) how_.log->info("{} is reached again", address);
    if (!taken && !busy && complained_.size() < most_complaints && complained_.insert(address).second)
        how_.log->warning("{} refuses letters: {} {}", address, status, text);
}

void post_office::note_failure(const std::string& address, const std::string& why) {
    const auto before = reach_.note(address, reach::unreachable);
    if (before != reach::unreachable && reach_.of(address) == reach::unreachable)
        how_.log->warning("cannot reach {}: {}", address, why);
}

}  // namespace posy::node
