#include "arrival.hpp"

#include <algorithm>

namespace posy::proxy {

arrival::arrival(opening o, http_cache::incoming_body body)
    : opening_(std::move(o)), kept_(std::move(body)), begin_(kept_.open() ? kept_.text().size() : 0) {}

arrival::place::~place() {
    if (!of_) return;
    {
        const std::lock_guard lock(of_->mutex_);
        of_->places_.erase(at_);
    }
    of_->space_.ring();
}

arrival::part arrival::place::next() {
    bool moved = false;
    part found;
    {
        const std::lock_guard lock(of_->mutex_);
        found = of_->next(*at_);
        moved = of_->passing_ && !found.bytes.empty();
    }
    if (moved) of_->space_.ring();
    return found;
}

std::optional<arrival::place> arrival::join() {
    const std::lock_guard lock(mutex_);
    if (passing_ || state_ == state::broken) return std::nullopt;
    return place(shared_from_this(), places_.emplace(places_.end()));
}

std::size_t arrival::readers() const {
    const std::lock_guard lock(mutex_);
    return places_.size();
}

std::uint64_t arrival::size() const {
    if (whole_) return whole_->size();
    return begin_ + piece_->size();
}

std::uint64_t arrival::slowest() const {
    auto least = size();
    for (const auto& [at, cut] : places_) least = cut ? least : std::min(least, at);
    return least;
}

arrival::part arrival::next(place::position& from) {
    if (state_ == state::broken || from.cut) return {.broken = true};
    part found;
    if (whole_) {
        found = {.bytes = std::string_view(*whole_).substr(from.at), .holder = whole_};
    } else if (from.at < begin_) {
        found.holder = std::make_shared<const std::string>(kept_.text(), from.at, piece_size);
        found.bytes = *found.holder;
    } else {
        found = {.bytes = std::string_view(*piece_).substr(from.at - begin_), .holder = piece_};
    }
    from.at += found.bytes.size();
    found.last = state_ == state::ended && from.at == size();
    found.stored = stored_;
    return found;
}

bool arrival::complete(std::uint64_t more) const {
    const std::lock_guard lock(mutex_);
    return !opening_.length || size() + more == *opening_.length;
}

bool arrival::exceeded_by(std::uint64_t more) const {
    const std::lock_guard lock(mutex_);
    return opening_.length && size() + more > *opening_.length;
}

bool arrival::append(std::string_view piece) {
    {
        const std::lock_guard lock(mutex_);
        if (!kept_.make_room(piece.size())) {
            passing_ = true;
            return false;
        }
        kept_.append(piece);
        begin_ += piece.size();
    }
    news_.ring();
    return true;
}

void arrival::pass(std::string piece) {
    {
        const std::lock_guard lock(mutex_);
        begin_ = size();
        piece_ = std::make_shared<const std::string>(std::move(piece));
    }
    news_.ring();
}

bool arrival::all_have_it() {
    const std::lock_guard lock(mutex_);
    if (slowest() < size()) return false;
    kept_ = {};
    begin_ = size();
    piece_ = std::make_shared<const std::string>();
    return true;
}

bool arrival::cut_slowest() {
    bool any = false;
    {
        const std::lock_guard lock(mutex_);
        const auto all = size(), least = slowest();
        const bool waits =
            std::ranges::any_of(places_, [&](const auto& each) { return !each.cut && each.at == all; });
        if (!waits || least == all) return false;
        for (auto& each : places_) {
            if (each.at == least) any = each.cut = true;
        }
    }
    news_.ring();
    return any;
}

std::shared_ptr<const std::string> arrival::take() {
    const std::lock_guard lock(mutex_);
    whole_ = kept_.take();
    return whole_;
}

void arrival::end(bool stored) {
    {
        const std::lock_guard lock(mutex_);
        state_ = state::ended;
        stored_ = stored;
    }
    news_.ring();
}

void arrival::break_off() {
    {
        const std::lock_guard lock(mutex_);
        state_ = state::broken;
    }
    news_.ring();
}

}  // namespace posy::proxy
