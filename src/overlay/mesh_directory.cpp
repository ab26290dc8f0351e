#include "posy/overlay/mesh_directory.hpp"

#include <mutex>

namespace posy {

namespace {
// A message may have come after whoever asks looked at the clock, and clocks are set back.
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

reception mesh_directory::receive(const std::string& peer, byte_view message, std::uint64_t now) {
    const std::unique_lock lock(mutex_);
    const auto known = peers_.find(peer);
    if (known != peers_.end() && std::holds_alternative<subscriber>(known->second))
        return std::get<subscriber>(known->second).receive(message, now);
    subscriber fresh(limits_);
    const auto became = fresh.receive(message, now);
    if (fresh.filter()) peers_.insert_or_assign(peer, std::move(fresh));
    return became;
}

result<void> mesh_directory::receive_squid(const std::string& peer, byte_view bytes, std::uint64_t now) {
    auto read = squid_digest::from_bytes(bytes, limits_.max_bytes);
    if (!read) return read.error();
    const std::unique_lock lock(mutex_);
    peers_.insert_or_assign(peer, squid{std::move(*read), now});
    return {};
}

void mesh_directory::confirm(const std::string& peer, std::uint64_t now) {
    const std::unique_lock lock(mutex_);
    const auto known = peers_.find(peer);
    if (known == peers_.end()) return;
    if (auto* followed = std::get_if<subscriber>(&known->second)) {
        followed->confirm(now);
    } else {
        std::get<squid>(known->second).at = now;
    }
}

void mesh_directory::forget(const std::string& peer) {
    const std::unique_lock lock(mutex_);
    peers_.erase(peer);
}

std::optional<std::uint64_t> mesh_directory::have(const std::string& peer) const {
    const std::shared_lock lock(mutex_);
    const auto known = peers_.find(peer);
    if (known == peers_.end() || !std::holds_alternative<subscriber>(known->second)) return std::nullopt;
    return std::get<subscriber>(known->second).have();
}

std::vector<mesh_directory::summary> mesh_directory::summaries(std::uint64_t now) const {
    const std::shared_lock lock(mutex_);
    std::vector<summary> all;
    for (const auto& [peer, held] : peers_) {
        summary s{.peer = peer};
        if (const auto* followed = std::get_if<subscriber>(&held)) {
            const bloom_filter& filter = *followed->filter();
            s.age = age_of(followed->updated_at(), now);
            s.items = filter.items();
            s.false_positive_rate = filter.false_positive_rate();
            s.bytes = (filter.geometry().bits + 7) / 8;
            s.generation = followed->generation();
        } else {
            const auto& [digest, at] = std::get<squid>(held);
            s.age = age_of(at, now);
            s.items = digest.items();
            s.false_positive_rate = digest.false_positive_rate();
            s.bytes = digest.size();
        }
        all.push_back(std::move(s));
    }
    return all;
}

std::vector<mesh_directory::holder> mesh_directory::who(std::string_view key, std::uint64_t now) const {
    const std::shared_lock lock(mutex_);
    std::vector<holder> found;
    digests_of digests(key);
    for (const auto& [peer, held] : peers_) {
        if (const auto* followed = std::get_if<subscriber>(&held)) {
            if (followed->filter()->may_contain(digests.by(followed->filter()->hash())))
                found.push_back({peer, age_of(followed->updated_at(), now)});
        } else if (const auto& [digest, at] = std::get<squid>(held);
                   digest.may_contain(digests.for_squid())) {
            found.push_back({peer, age_of(at, now)});
        }
    }
    return found;
}

}  // namespace posy
