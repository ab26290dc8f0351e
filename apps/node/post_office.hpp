// Letters that leave this node: a box for each destination that has mail, and one batch at a time on its way
// there.
//
// Sending waits for nobody: a letter that finds its box full is dropped and counted, as is all mail of a box
// whose destination cannot be reached. The machines of the overlay repeat what matters. A destination that
// answers 429 or 503 gets the same batch again after a pause, a few times. That a destination is out of reach
// is told once, and once that it is back.
//
// Thread safety: send() on the worker's thread; counted() and reach() from any.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "http/server.hpp"
#include "options.hpp"
#include "posy/overlay/mail.hpp"
#include "reach_book.hpp"

namespace posy::node {

class post_office {
  public:
    struct counts {
        std::atomic<std::uint64_t> letters{0}, batches{0}, bytes{0};  // bytes: with all that HTTP adds
        std::atomic<std::uint64_t> undelivered{0}, overflowed{0};     // letters
    };

    post_office(const options& how, http::worker& here) : how_(how), here_(here) {}

    // `named`: addresses of nodes that the letter names.
    void send(const std::string& address, const std::vector<std::string>& named,
              overlay::message_bytes message);
    bool empty() const { return boxes_.empty(); }
    const counts& counted() const { return counts_; }
    const reach_book& reach() const { return reach_; }

    static constexpr std::size_t most_boxes = 4096, most_in_box = std::size_t{16} << 20,
                                 most_in_all = std::size_t{128} << 20;

  private:
    struct mail {
        overlay::message_bytes message;
        std::vector<std::string> named;
    };
    struct box {
        std::vector<mail> waiting;
        std::size_t bytes = 0;
    };
    http::task<void> carry(std::string address);
    http::task<bool> deliver(const std::string& address, const std::string& body);
    void note_answer(const std::string& address, unsigned status, const std::string& text);
    void note_failure(const std::string& address, const std::string& why);
    std::vector<mail> take_batch(box&);
    static std::string body_of(const std::vector<mail>&);

    const options& how_;
    http::worker& here_;
    std::map<std::string, box> boxes_;
    std::set<std::string> complained_;  // destinations that refused, told once
    reach_book reach_;
    std::size_t held_ = 0;
    std::uint64_t sealed_at_ = 0;  // the last batch: each is sealed later than the one before
    counts counts_;
};

}  // namespace posy::node
