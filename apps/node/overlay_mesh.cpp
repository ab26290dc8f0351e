// The gossip mesh (posy/overlay/gossip_node.hpp) as a node runs it. A lookup asks the summaries that this
// node holds, and sends nothing. When the set outgrows its summary twofold, the summary is made anew for
// twice the set.
#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "overlay_machine.hpp"
#include "peers.hpp"
#include "posy/overlay/gossip_node.hpp"

namespace posy::node {

namespace {

constexpr std::uint64_t largest_summary = std::uint64_t{4} << 20;  // bytes of its array

template <class T>
T usable(result<T> made) {
    if (!made) throw std::runtime_error("the summary for the mesh: " + made.error().text());
    return std::move(*made);
}

std::string_view state_of(overlay::standing s) {
    switch (s) {
        case overlay::standing::alive:
            return "up";
        case overlay::standing::suspect:
            return "suspect";
        case overlay::standing::gone:
            return "gone";
        case overlay::standing::left:
            return "left";
    }
    return {};
}

}  // namespace

overlay::gossip_settings gossip_settings_of(const options& how, std::uint64_t now) {
    overlay::gossip_settings settings;
    settings.round = static_cast<std::uint64_t>(how.overlay.beat.count());
    settings.answer_within = std::clamp<std::uint64_t>(settings.round, 200, 2000);
    settings.budget = peer_budget(how.peer_memory).held;
    settings.limits = read_limits::exactly(std::min(largest_summary, peer_budget(how.peer_memory).largest));
    settings.max_message = std::uint64_t{8} << 20;
    settings.calm = std::max<std::uint64_t>(1, settings.round / 2);
    settings.publish.change = how.change;
    settings.publish.change_bits = how.change_bits;
    settings.publish.max_age = static_cast<std::uint64_t>(how.interval.count());
    settings.publish.least_items = how.items;
    settings.publish.first_generation = now;
    settings.incarnation = now;
    return settings;
}

namespace {

class mesh_machine final : public overlay_machine {
  public:
    mesh_machine(const options& how, node_id self, std::uint64_t now, std::uint64_t secret)
        : how_(how),
          hash_(how.hash, how.seed),
          planned_(how.items),
          digests_(0, by_secret{secret}),
          node_(usable(overlay::gossip_node::make(self, how.overlay.address, empty_set(),
                                                  gossip_settings_of(how, now), secret, now))) {
        for (const node_id each : contacts_of(how)) node_.add_contact(each);
    }

    void start(std::uint64_t, outbox&) override {}  // at the first tick
    void leave(std::uint64_t now, outbox& out) override { node_.leave(now, out); }

    void insert(std::string_view key, std::uint64_t now, outbox&) override {
        const digest d = hash_(key);
        if (!twins_.enters(d, digests_.contains(d))) return;
        // Before the key, which is then news: a new summary alone would not be told of.
        if (digests_.size() >= 2 * planned_) grow(now);
        digests_.insert(d);
        node_.insert(d);
    }
    void remove(std::string_view key, std::uint64_t, outbox&) override {
        const digest d = hash_(key);
        if (twins_.leaves(d) && digests_.erase(d) > 0) node_.remove(d);
    }

    std::optional<std::uint32_t> look_up(std::string_view key, std::uint64_t now, outbox&) override {
        overlay_answer found{.id = ++lookups_};
        for (const node_id each : node_.who(key)) {
            const auto updated = node_.directory().find(each)->summary.updated_at();
            found.holders.push_back({each, now - std::min(now, updated)});
        }
        answers_.push_back(std::move(found));
        return lookups_;
    }
    std::vector<overlay_answer> take_answers() override { return std::exchange(answers_, {}); }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox& out) override {
        node_.receive(from, message, now, out);
    }
    void tick(std::uint64_t now, outbox& out) override { node_.tick(now, out); }
    std::optional<std::uint64_t> next_tick() const override { return node_.next_tick(); }
    std::optional<std::string> address_of(node_id node) const override {
        const auto* member = node_.directory().find(node);
        return member ? std::optional(member->address) : std::nullopt;
    }

    std::vector<overlay_neighbour> neighbours() const override {
        std::vector<overlay_neighbour> all;
        for (const auto& [id, m] : node_.directory().members()) {
            if (id != node_.self()) all.push_back({id, "member", state_of(m.version.status), true});
        }
        return all;
    }
    overlay_filters filters_of(const overlay_neighbour& n) const override {
        const auto* filter = node_.directory().find(n.node)->summary.filter();
        return filter ? overlay_filters{filter->geometry().bits, filter->bits().ones()} : overlay_filters{};
    }
    overlay_counts counts() const override {
        const auto& c = node_.counts();
        return {c.bad_messages, c.unsolicited, c.refused + c.throttled, std::nullopt, c.suspicions};
    }

  private:
    struct by_secret {
        std::uint64_t secret;
        std::size_t operator()(const digest& d) const {
            const hasher hash(hash_family::xxh3, {secret});
            return hash(d.low).low + hash(d.high).high;
        }
    };

    counting_filter empty_set() const {
        const auto shape = shared_geometry(how_, planned_);
        if (shape.bits / 8 > largest_summary)
            throw std::runtime_error(
                "the summary for the mesh would be larger than 4 MiB; give fewer --items");
        return usable(counting_filter::make(shape));
    }
    void grow(std::uint64_t now) {
        const auto before = planned_;
        planned_ = 2 * digests_.size();
        try {
            counting_filter larger = empty_set();
            for (const digest& each : digests_) larger.insert(each);
            if (node_.own_summary().rebase(std::move(larger), now)) return;
        } catch (const std::exception&) {
            // No larger one can be had: the present one gets fuller.
        }
        planned_ = std::max(before, digests_.size());
    }

    options how_;
    hasher hash_;
    std::uint64_t planned_;
    std::unordered_set<digest, by_secret> digests_;
    overlay::gossip_node node_;
    twin_counts twins_;
    std::uint32_t lookups_ = 0;
    std::vector<overlay_answer> answers_;
};

}  // namespace

std::unique_ptr<overlay_machine> make_mesh(const options& how, node_id self, std::uint64_t now,
                                           std::uint64_t secret) {
    return std::make_unique<mesh_machine>(how, self, now, secret);
}

}  // namespace posy::node
