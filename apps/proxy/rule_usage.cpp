#include "rule_usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace posy::proxy {

namespace {

constexpr std::int64_t seconds_per_day = 24 * 3600;

// What a bucket holds: a rate below one per two seconds needs room for one all the same.
double bucket_of(double rate) { return std::max(1.0, 2 * rate); }

}  // namespace

// Brings the meter up to now.
std::optional<rule_usage::excess> rule_usage::over(meter& used, const most& limit, const moment& m) {
    if (const auto today = m.seconds / seconds_per_day; used.day != today) {
        used.day = today;
        used.bytes = 0;
    }
    if (limit.connections > 0 && used.under_way >= limit.connections)
        return excess{fmt::format("{} requests of {} are under way, and no more are allowed", used.under_way,
                                  limit.whose),
                      1};
    if (limit.quota > 0 && used.bytes >= limit.quota)
        return excess{fmt::format("the {} bytes per day of {} are used up", limit.quota, limit.whose),
                      seconds_per_day - m.seconds % seconds_per_day};
    if (limit.rate <= 0) return std::nullopt;
    const auto passed = std::chrono::duration<double>(m.now - used.at).count();
    used.tokens = std::min(bucket_of(limit.rate), used.tokens + std::max(0.0, passed) * limit.rate);
    used.at = m.now;
    if (used.tokens >= 1) return std::nullopt;
    const auto wait = std::max(1.0, std::ceil((1 - used.tokens) / limit.rate));
    return excess{fmt::format("more than {} requests per second of {}", limit.rate, limit.whose),
                  static_cast<std::int64_t>(wait)};
}

rule_usage::meter& rule_usage::meter_of(const std::string& client, const moment& m) {
    auto found = by_name_.find(client);
    if (found == by_name_.end()) {
        // Those with something under way stay; there are no more of them than connections.
        for (int tries = 0; recent_.size() >= most_ && tries < 8; ++tries) {
            if (recent_.front().used.under_way > 0) {
                recent_.splice(recent_.end(), recent_, recent_.begin());
                continue;
            }
            by_name_.erase(recent_.front().name);
            recent_.pop_front();
        }
        recent_.push_back({client, {.tokens = bucket_of(limits_.rate), .at = m.now}});
        found = by_name_.emplace(client, std::prev(recent_.end())).first;
    }
    recent_.splice(recent_.end(), recent_, found->second);
    return found->second->used;
}

std::optional<rule_usage::excess> rule_usage::enter(const std::string& client, const moment& m) {
    if (!limits_.any()) return std::nullopt;
    const most of_one{limits_.rate, limits_.connections, limits_.quota, "one client"};
    const most of_all{limits_.total_rate, limits_.total_connections, limits_.total_quota, "all clients"};
    const std::lock_guard lock(mutex_);
    if (!all_) all_ = meter{.tokens = bucket_of(of_all.rate), .at = m.now};
    auto& own = meter_of(client, m);
    if (auto too_much = over(own, of_one, m)) return too_much;
    if (auto too_much = over(*all_, of_all, m)) return too_much;
    for (auto* each : {&own, &*all_}) {
        each->tokens -= 1;
        each->under_way += 1;
    }
    return std::nullopt;
}

void rule_usage::leave(const std::string& client, std::uint64_t bytes, const moment& m) {
    if (!limits_.any()) return;
    const std::lock_guard lock(mutex_);
    for (auto* each : {&meter_of(client, m), &*all_}) {
        if (const auto today = m.seconds / seconds_per_day; each->day != today) {
            each->day = today;
            each->bytes = 0;
        }
        each->bytes += bytes;
        each->under_way -= std::min<std::uint64_t>(each->under_way, 1);
    }
}

std::size_t rule_usage::clients() const {
    const std::lock_guard lock(mutex_);
    return recent_.size();
}

}  // namespace posy::proxy
