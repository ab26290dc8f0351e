#include "posy/overlay/mesh_directory.hpp"

#include <algorithm>

namespace posy::overlay {

namespace {
// A message may arrive after the caller read the clock, and clocks are set back.
std::uint64_t age_of(std::uint64_t at, std::uint64_t now) { return now > at ? now - at : 0; }

// The digests of one key, each made when it is first needed. Peers that change their hashes from time to time
// do so at different moments: there may be several in use, in any order. They are few, so a walk finds them.
class digests_of {
  public:
    explicit digests_of(std::string_view key) : key_(key) {}
    digest by(const hasher& hash) {
        for (const auto& [known, made] : made_)
            if (known == hash) return made;
        return made_.emplace_back(hash, hash(key_)).second;
    }
    digest for_squid() {
        if (!squid_) squid_ = squid_digest::hash(key_);
        return *squid_;
    }

  private:
    std::string_view key_;
    std::vector<std::pair<hasher, digest>> made_;
    std::optional<digest> squid_;
};
}  // namespace

void mesh_directory::share_among(std::size_t peers) {
    const std::unique_lock lock(mutex_);
    sharers_ = peers;
}

// ---- messages ---------------------------------------------------------------------------------------------

std::shared_ptr<mesh_directory::entry> mesh_directory::entry_of(const std::string& peer) {
    const std::unique_lock lock(mutex_);
    auto& known = peers_[peer];
    if (!known) known = std::make_shared<entry>();
    return known;
}

reception mesh_directory::receive(const std::string& peer, byte_view message, std::uint64_t now,
                                  sequence order, std::string* why) {
    const auto known = entry_of(peer);
    const std::lock_guard one_at_a_time(known->receiving);
    held next{subscriber(limits_)};
    auto& followed = std::get<subscriber>(next.summary);
    {
        const std::shared_lock lock(mutex_);
        if (std::holds_alternative<subscriber>(known->now.summary)) next = known->now;
        read_limits limits = limits_;
        limits.max_bytes = std::min(limits.max_bytes, room_for(*known));
        followed.set_limits(limits);
    }
    const auto became = followed.receive(message, now, order);
    if (became == reception::replaced || became == reception::updated) {
        next.false_positive_rate = followed.filter()->false_positive_rate();
        next.bytes = (followed.filter()->geometry().bits + 7) / 8;
    }
    if (why) *why = followed.complaint();
    if (!followed.filter()) return became;
    if (!swap_in(peer, known, std::move(next))) {
        if (why) *why = "others have claimed the memory for its summary";
        return reception::too_large;
    }
    return became;
}

result<void> mesh_directory::receive_squid(const std::string& peer, byte_view bytes, std::uint64_t now) {
    const auto known = entry_of(peer);
    const std::lock_guard one_at_a_time(known->receiving);
    std::uint64_t most = limits_.max_bytes;
    {
        const std::shared_lock lock(mutex_);
        most = std::min(most, room_for(*known));
    }
    auto read = squid_digest::from_bytes(bytes, read_limits::exactly(most));
    if (!read) return read.error();
    const double rate = read->false_positive_rate();
    const std::uint64_t size = read->size();
    if (!swap_in(peer, known, {squid{std::move(*read), now}, rate, size}))
        return error::too_large("others have claimed the memory for its digest");
    return {};
}

// What is replaced is freed after the lock is released.
bool mesh_directory::swap_in(const std::string& peer, const std::shared_ptr<entry>& known, held next) {
    std::vector<held> old;
    const std::unique_lock lock(mutex_);
    const auto still = peers_.find(peer);
    // The peer was forgotten while its message was decoded, and stays forgotten.
    if (still == peers_.end() || still->second != known) return true;
    if (next.bytes > known->now.bytes) {
        if (next.bytes > room_for(*known)) return false;
        evict_for(*known, next.bytes, old);
    }
    std::swap(known->now, next);
    return true;
}

void mesh_directory::confirm(const std::string& peer, std::uint64_t now) {
    const std::unique_lock lock(mutex_);
    const auto known = peers_.find(peer);
    if (known == peers_.end()) return;
    if (auto* followed = std::get_if<subscriber>(&known->second->now.summary)) {
        followed->confirm(now);
    } else {
        std::get<squid>(known->second->now.summary).at = now;
    }
}

void mesh_directory::doubt(const std::string& peer) {
    const std::unique_lock lock(mutex_);
    const auto known = peers_.find(peer);
    if (known == peers_.end()) return;
    if (auto* followed = std::get_if<subscriber>(&known->second->now.summary)) followed->doubt();
}

void mesh_directory::forget(const std::string& peer) {
    std::shared_ptr<entry> old;  // freed after the lock is
    const std::unique_lock lock(mutex_);
    const auto known = peers_.find(peer);
    if (known == peers_.end()) return;
    old = std::move(known->second);
    peers_.erase(known);
}

// ---- memory, under the lock -------------------------------------------------------------------------------

std::uint64_t mesh_directory::used_by_others(const entry& known) const {
    std::uint64_t used = 0;
    for (const auto& [peer, other] : peers_) used += other.get() == &known ? 0 : other->now.bytes;
    return used;
}

std::uint64_t mesh_directory::share() const {
    return budget_ / std::max<std::size_t>({sharers_, peers_.size(), 1});
}

std::uint64_t mesh_directory::room_for(const entry& known) const {
    const auto others = used_by_others(known);
    return std::max(share(), budget_ > others ? budget_ - others : 0);
}

// Summaries above their share are dropped, the largest first. A peer that claims its share always finds room:
// if all others have at most theirs, they take no more than the rest.
void mesh_directory::evict_for(const entry& known, std::uint64_t bytes, std::vector<held>& old) {
    while (budget_ - std::min(budget_, used_by_others(known)) < bytes) {
        entry* largest = nullptr;
        for (const auto& [peer, other] : peers_) {
            if (other.get() == &known || other->now.bytes <= share()) continue;
            if (!largest || other->now.bytes > largest->now.bytes) largest = other.get();
        }
        if (!largest) return;
        old.push_back(std::exchange(largest->now, held{subscriber(limits_)}));
        ++evicted_;
    }
}

mesh_directory::memory mesh_directory::memory_use() const {
    const std::shared_lock lock(mutex_);
    memory m{0, budget_, evicted_};
    for (const auto& [peer, known] : peers_) m.used += known->now.bytes;
    return m;
}

// ---- questions --------------------------------------------------------------------------------------------

std::optional<edition> mesh_directory::edition_of(const std::string& peer) const {
    const std::shared_lock lock(mutex_);
    const auto known = peers_.find(peer);
    if (known == peers_.end()) return std::nullopt;
    const auto* followed = std::get_if<subscriber>(&known->second->now.summary);
    return followed ? followed->edition() : std::nullopt;
}

std::optional<std::uint64_t> mesh_directory::have(const std::string& peer) const {
    const auto known = edition_of(peer);
    return known ? std::optional(known->generation) : std::nullopt;
}

std::optional<mesh_directory::summary> mesh_directory::describe(const std::string& peer, const held& h,
                                                                std::uint64_t now) {
    summary s{.peer = peer, .false_positive_rate = h.false_positive_rate, .bytes = h.bytes};
    if (const auto* followed = std::get_if<subscriber>(&h.summary)) {
        if (!followed->filter()) return std::nullopt;
        s.age = age_of(followed->updated_at(), now);
        s.items = followed->filter()->items();
        s.generation = followed->generation();
    } else {
        const auto& [digest, at] = std::get<squid>(h.summary);
        s.age = age_of(at, now);
        s.items = digest.items();
    }
    return s;
}

std::vector<mesh_directory::summary> mesh_directory::summaries(std::uint64_t now) const {
    const std::shared_lock lock(mutex_);
    std::vector<summary> all;
    for (const auto& [peer, known] : peers_) {
        if (auto s = describe(peer, known->now, now)) all.push_back(std::move(*s));
    }
    return all;
}

std::optional<mesh_directory::summary> mesh_directory::summary_of(const std::string& peer,
                                                                  std::uint64_t now) const {
    const std::shared_lock lock(mutex_);
    const auto known = peers_.find(peer);
    return known == peers_.end() ? std::nullopt : describe(peer, known->second->now, now);
}

std::vector<mesh_directory::holder> mesh_directory::who(std::string_view key, std::uint64_t now) const {
    const std::shared_lock lock(mutex_);
    std::vector<holder> found;
    digests_of digests(key);
    for (const auto& [peer, known] : peers_) {
        const held& h = known->now;
        if (h.false_positive_rate > absurd_rate) continue;
        if (const auto* followed = std::get_if<subscriber>(&h.summary)) {
            const auto* filter = followed->filter();
            if (filter && filter->may_contain(digests.by(filter->hash())))
                found.push_back({peer, age_of(followed->updated_at(), now)});
        } else if (const auto& [digest, at] = std::get<squid>(h.summary);
                   digest.may_contain(digests.for_squid())) {
            found.push_back({peer, age_of(at, now)});
        }
    }
    return found;
}

}  // namespace posy::overlay
