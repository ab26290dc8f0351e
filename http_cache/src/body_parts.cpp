#include "posy/http_cache/body_parts.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace posy::http_cache {

body_parts::body_parts(std::uint64_t length, std::uint64_t first, std::shared_ptr<const std::string> bytes)
    : length_(length) {
    const std::string_view all = *bytes;
    all_.push_back({{first, first + all.size() - 1}, all, std::move(bytes)});
}

bool body_parts::covers(const byte_range& range) const {
    auto next = range.first;  // the first byte that is not found yet
    for (const auto& each : all_) {
        if (each.at.first > next) return false;
        if (each.at.last >= range.last) return true;
        next = std::max(next, each.at.last + 1);
    }
    return false;
}

std::uint64_t body_parts::beginning() const {
    std::uint64_t end = 0;
    for (const auto& each : all_) {
        if (each.at.first > end) break;
        end = each.at.last + 1;
    }
    return end;
}

std::vector<std::string_view> body_parts::slices(const byte_range& range) const {
    std::vector<std::string_view> found;
    for (const auto& each : all_) {
        if (each.at.last < range.first || each.at.first > range.last) continue;
        const auto from = std::max(each.at.first, range.first), until = std::min(each.at.last, range.last);
        found.push_back(each.bytes.substr(from - each.at.first, until - from + 1));
    }
    return found;
}

std::uint64_t body_parts::bytes() const {
    std::uint64_t all = 0;
    std::set<const void*> seen;
    for (const auto& each : all_) {
        if (seen.insert(each.holder.get()).second) all += each.holder->size();
    }
    return all;
}

std::size_t body_parts::texts() const {
    std::set<const void*> seen;
    for (const auto& each : all_) seen.insert(each.holder.get());
    return seen.size();
}

// Without these bytes; a part that lies around them becomes two.
void body_parts::cut_out(const byte_range& range) {
    std::vector<part> rest;
    for (const auto& each : all_) {
        if (each.at.last < range.first || each.at.first > range.last) {
            rest.push_back(each);
            continue;
        }
        if (each.at.first < range.first) {
            const auto size = range.first - each.at.first;
            rest.push_back({{each.at.first, range.first - 1}, each.bytes.substr(0, size), each.holder});
        }
        if (each.at.last > range.last) {
            const auto behind = range.last + 1 - each.at.first;
            rest.push_back({{range.last + 1, each.at.last}, each.bytes.substr(behind), each.holder});
        }
    }
    all_ = std::move(rest);
}

body_parts body_parts::joined(const body_parts& more) const {
    body_parts made = *this;
    for (const auto& each : more.all_) {
        // What is here already stays. Else the new one is taken in full: old texts may then be let go.
        if (made.covers(each.at)) continue;
        made.cut_out(each.at);
        made.all_.push_back(each);
        std::ranges::sort(made.all_, {}, [](const part& p) { return p.at.first; });
    }
    return made;
}

bool body_parts::pack(const std::shared_ptr<room>& from) {
    body_parts made;
    made.length_ = length_;
    for (std::size_t i = 0; i < all_.size();) {
        auto end = i + 1;
        while (end < all_.size() && all_[end].at.first == all_[end - 1].at.last + 1) ++end;
        const byte_range run{all_[i].at.first, all_[end - 1].at.last};
        incoming_body text(from, run.size(), run.size(), 0);
        if (!text.open()) return false;
        for (; i < end; ++i) text.append(all_[i].bytes);
        auto held = text.take();
        const std::string_view bytes = *held;
        made.all_.push_back({run, bytes, std::move(held)});
    }
    *this = std::move(made);
    return true;
}

std::shared_ptr<const std::string> body_parts::text(const std::shared_ptr<room>& from,
                                                    std::uint64_t beside) const {
    if (!whole()) return nullptr;
    if (all_.size() == 1 && all_.front().holder->size() == length_) return all_.front().holder;
    incoming_body made(from, length_, length_, beside);
    if (!made.open()) return nullptr;
    for (const auto& each : all_) made.append(each.bytes);
    return made.take();
}

}  // namespace posy::http_cache
