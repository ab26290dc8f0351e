#include "posy/overlay/filter_link.hpp"

#include <algorithm>
#include <utility>

#include "base/mix.hpp"
#include "base/reader.hpp"
#include "position_code.hpp"

namespace posy::overlay {
namespace {

std::uint32_t check(unsigned level, position p) {
    return std::rotl(one_set::check(p), static_cast<int>(level));
}

std::uint32_t check(unsigned level, std::span<const position> positions) {
    std::uint32_t sum = 0;
    for (const position p : positions) sum ^= check(level, p);
    return sum;
}

// What stands an odd number of times stays, once, in order.
void cancel_pairs(std::vector<position>& positions) {
    std::ranges::sort(positions);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < positions.size();) {
        std::size_t end = i;
        while (end < positions.size() && positions[end] == positions[i]) ++end;
        if ((end - i) % 2) positions[kept++] = positions[i];
        i = end;
    }
    positions.resize(kept);
}

}  // namespace

std::uint32_t link_terms::fingerprint() const {
    std::uint64_t sum = levels;
    for (const std::uint64_t field :
         {geometry.bits, std::uint64_t{geometry.hashes}, static_cast<std::uint64_t>(geometry.layout),
          static_cast<std::uint64_t>(geometry.hash), geometry.seed.low, geometry.seed.high}) {
        sum = base::draw(sum, field);
    }
    return static_cast<std::uint32_t>(sum);
}

// ---- The sender ----------------------------------------------------------------------------------------

void filter_sender::flip(unsigned level, position p, std::uint64_t now) {
    if (whole_) return;  // the whole will have it
    auto& pending = pending_[level];
    pending.push_back(p);
    // Bits that change back and forth take no more memory than all of them.
    if (pending.size() > 2 * terms_.geometry.bits) cancel_pairs(pending);
    if (!ready_at_) ready_at_ = now + terms_.batch;
}

std::vector<std::byte> filter_sender::compose(std::uint8_t kind, const content& levels) {
    std::vector<std::byte> code;
    if (whole_) checksum_ = 0;
    for (unsigned i = 0; i < terms_.levels; ++i) {
        const auto changed = std::exchange(pending_[i], {});
        const auto positions = whole_ ? levels(i) : changed;
        checksum_ ^= check(i, positions);
        put_positions(code, positions, terms_.geometry.bits);
    }
    std::vector<std::byte> message;
    base::put_little(message, kind);
    base::put_little(message, static_cast<std::uint8_t>(whole_));
    base::put_little(message, life_);
    base::put_little(message, ++number_);
    base::put_little(message, checksum_);
    if (whole_) base::put_little(message, terms_.fingerprint());
    message.insert(message.end(), code.begin(), code.end());
    ++(whole_ ? counted_.wholes : counted_.deltas);
    (whole_ ? counted_.whole_bytes : counted_.delta_bytes) += message.size();
    return message;
}

std::optional<std::vector<std::byte>> filter_sender::next(std::uint8_t kind, std::uint64_t now,
                                                          const content& levels) {
    if (const auto at = next_tick(); !at || now < *at) return std::nullopt;
    if (waiting_) {
        ++counted_.repeats;
        pause_ = std::min(2 * pause_, terms_.longest_repeat);
    } else {
        ready_at_.reset();
        std::ranges::for_each(pending_, cancel_pairs);
        if (!whole_ && std::ranges::all_of(pending_, &std::vector<position>::empty)) return std::nullopt;
        waiting_ = compose(kind, levels);
        waiting_whole_ = std::exchange(whole_, false);
        if (waiting_whole_) wholes_again_at_ = now + terms_.repeat;
        pause_ = terms_.repeat;
    }
    sent_at_ = now;
    return waiting_;
}

void filter_sender::acknowledged(const link_state& there, std::uint64_t now) {
    other_terms_ = there == link_state::of_other_terms();
    if (there == state()) return waiting_.reset();
    const bool late = there.life == life_ && there.number != 0;
    const bool on_its_way = waiting_ && waiting_whole_;
    if (!late && !on_its_way) start_over(now);
}

void filter_sender::start_over(std::uint64_t now) {
    whole_ = true;
    waiting_.reset();
    for (auto& pending : pending_) pending.clear();
    ready_at_ = std::max(now, wholes_again_at_);
}

std::optional<std::uint64_t> filter_sender::next_tick() const {
    if (waiting_) return sent_at_ + pause_;
    if (whole_) return ready_at_.value_or(0);
    return ready_at_;
}

// ---- The receiver --------------------------------------------------------------------------------------

struct filter_receiver::update {
    bool whole = false;
    link_state state;
    std::uint32_t checksum = 0, fingerprint = 0;
    std::vector<std::vector<position>> flips;  // of a whole: from nothing, until they are made into changes
};

filter_receiver::filter_receiver(const link_terms& terms, std::uint64_t salt) : terms_(terms) {
    for (unsigned i = 0; i < terms.levels; ++i)
        levels_.emplace_back(terms.geometry.bits, base::draw(salt, i));
}

link_outcome filter_receiver::judge(const update& u) const {
    if (u.whole && u.fingerprint != terms_.fingerprint()) return link_outcome::mismatched;
    if (u.state.number == 0) return link_outcome::damaged;
    if (u.state.life < state_.life) return link_outcome::repeated;
    if (u.state.life == state_.life && u.state.number <= state_.number) return link_outcome::repeated;
    if (u.whole) return link_outcome::applied;
    const link_state base{u.state.life, u.state.number - 1};
    return base == state_ && state_.number > 0 ? link_outcome::applied : link_outcome::gap;
}

// Makes the positions of a whole into what differs from what is held. Whether the checksum is right.
bool filter_receiver::turn_into_flips(update& u) const {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < terms_.levels; ++i) {
        if (!u.whole) sum ^= std::rotl(levels_[i].checksum(), static_cast<int>(i));
        sum ^= check(i, u.flips[i]);
        if (!u.whole || levels_[i].ones() == 0) continue;
        const auto held = levels_[i].sorted();
        std::vector<position> changed;
        std::ranges::set_symmetric_difference(held, u.flips[i], std::back_inserter(changed));
        u.flips[i] = std::move(changed);
    }
    return sum == u.checksum;
}

bool filter_receiver::fits(const update& u) const {
    const double most = terms_.most_fill * static_cast<double>(terms_.geometry.bits);
    for (unsigned i = 0; i < terms_.levels; ++i) {
        std::uint64_t ones = levels_[i].ones();
        for (const position p : u.flips[i]) ones += levels_[i].test(p) ? ~std::uint64_t{0} : 1;
        if (static_cast<double>(ones) > most) return false;
    }
    return true;
}

filter_receiver::taken filter_receiver::receive(byte_view bytes) {
    base::reader from(bytes);
    update u;
    const std::uint8_t whole = from.byte();
    u.whole = whole == 1;
    u.state.life = from.number<std::uint32_t>();
    u.state.number = from.number<std::uint32_t>();
    u.checksum = from.number<std::uint32_t>();
    if (u.whole) u.fingerprint = from.number<std::uint32_t>();
    if (from.wrong() || whole > 1) return {link_outcome::damaged, {}};
    const link_outcome so = judge(u);
    if (u.whole) other_terms_ = so == link_outcome::mismatched;
    if (so != link_outcome::applied) return {so, {}};
    for (unsigned i = 0; i < terms_.levels; ++i)
        u.flips.push_back(take_positions(from, terms_.geometry.bits));
    if (from.finish()) return {link_outcome::damaged, {}};
    if (!turn_into_flips(u)) return {link_outcome::mismatched, {}};
    if (!fits(u)) return {link_outcome::too_full, {}};
    for (unsigned i = 0; i < terms_.levels; ++i) {
        for (const position p : u.flips[i]) levels_[i].flip(p);
    }
    state_ = u.state;
    return {link_outcome::applied, std::move(u.flips)};
}

std::size_t filter_receiver::memory() const {
    std::size_t bytes = 0;
    for (const one_set& level : levels_) bytes += level.memory();
    return bytes;
}

}  // namespace posy::overlay
