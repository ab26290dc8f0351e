#include "posy/http_cache/room.hpp"

#include <algorithm>
#include <utility>

namespace posy::http_cache {

bool room::take(std::uint64_t bytes) {
    auto used = used_.load();
    do {
        if (bytes > bytes_ || used > bytes_ - bytes) {
            ++refusals_;
            return false;
        }
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
}

struct incoming_body::counted {
    explicit counted(std::shared_ptr<room> r) : of(std::move(r)) {}
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { of->give_back(beside + for_text); }

    // Room for the bytes of the text; while it moves, both the old and the new place are there.
    bool reserve(std::uint64_t bytes) {
        if (!of->take(bytes)) return false;
        of->give_back(std::exchange(for_text, bytes));
        text.reserve(bytes);
        return true;
    }

    std::shared_ptr<room> of;
    std::uint64_t beside = 0, for_text = 0;  // taken
    std::string text;
};

incoming_body::incoming_body(std::shared_ptr<room> of, std::uint64_t most,
                             std::optional<std::uint64_t> length, std::uint64_t beside)
    : most_(most) {
    if (length.value_or(0) > most || !of->take(beside)) return;
    held_ = std::make_shared<counted>(std::move(of));
    held_->beside = beside;
    if (!held_->reserve(length.value_or(0))) held_.reset();
}

bool incoming_body::make_room(std::uint64_t bytes) {
    const std::uint64_t size = held_->text.size() + bytes;
    // Of an unknown length, half as much again each time.
    const auto wanted = std::max(size, std::min(most_, held_->for_text + held_->for_text / 2));
    return size <= most_ && (size <= held_->for_text || held_->reserve(wanted));
}

bool incoming_body::append(std::string_view piece) {
    if (!held_) return false;
    if (!make_room(piece.size())) {
        held_.reset();
        return false;
    }
    held_->text.append(piece);
    return true;
}

std::string& incoming_body::text() { return held_->text; }

std::shared_ptr<const std::string> incoming_body::take() {
    auto held = std::exchange(held_, nullptr);
    auto& all = held->text;
    // What is stored should take no more than its size says, or less would be left for what is on its way.
    if (held->for_text - all.size() > all.size() / 64) {
        all.shrink_to_fit();
        held->of->give_back(std::exchange(held->for_text, all.size()) - all.size());
    }
    const auto* body = &all;
    return {std::move(held), body};
}

}  // namespace posy::http_cache
