// What the two sides of a session share: the outbox, and the exchange of the result at the end.
#pragma once

#include <deque>
#include <string>

#include "posy/message.hpp"
#include "posy/reconcile/session.hpp"
#include "reconcile/key_texts.hpp"
#include "reconcile/tree.hpp"

namespace posy::reconcile {

class session::party {
  public:
    party(const digest_set& mine, const settings& how, key_owner owner)
        : mine_(&mine), how_(how), owner_(std::move(owner)) {}
    virtual ~party() = default;

    std::optional<std::vector<std::byte>> send();
    result<void> receive(byte_view message);
    bool done() const { return awaited_ == step::nothing; }
    const outcome& found() const { return found_; }

  protected:
    // What is to come next.
    enum class step { opening, symbols, summary, offer, wants, texts, nothing };

    virtual result<void> take(const envelope&) = 0;

    void post(kind what, byte_view payload);
    template <class Payload>
    void post(kind what, const Payload& payload) {
        std::vector<std::byte> bytes;
        payload.append_to(bytes);
        post(what, byte_view(bytes));
    }
    void post_list(kind what, const std::vector<digest>& elements);
    result<void> expect(const envelope&, kind what) const;
    result<digest_set> list(const envelope&) const;

    // What the peer says this side lacks, and what it wants the text of.
    result<void> take_offer(const envelope&);
    result<std::vector<digest>> take_wants(const envelope&);
    result<void> take_texts(const envelope&);

    // This side's set as a filter or tree, and what of it is not in the peer's.
    result<void> post_summary(method);
    result<void> take_summary(const envelope&);

    // The difference is known. `with_last`: the message just received is part of the telling.
    void begin_telling(bool with_last) {
        telling_ = true;
        if (!with_last) return;
        found_.finding.received -= last_received_;
        found_.telling.received += last_received_;
    }

    const digest_set* mine_;
    settings how_;
    key_owner owner_;
    outcome found_;
    step awaited_ = step::opening;

  private:
    result<void> open_and_take(byte_view message);
    void predict_there();
    traffic& count() { return telling_ ? found_.telling : found_.finding; }

    std::deque<std::vector<std::byte>> outbox_;
    bool telling_ = false;
    bool waiting_ = false;
    std::uint64_t last_received_ = 0;  // bytes
    // The share of its own elements that the peer finds in this side's summary, given how many it has.
    std::function<double(std::uint64_t)> there_expected_;
};

}  // namespace posy::reconcile
