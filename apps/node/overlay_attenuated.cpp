// Attenuated filters (posy/overlay/attenuated_node.hpp) as a node runs them. Who is a member, for the ring of
// homes, is known by gossip: a mesh of empty summaries beside the links. The first byte of a letter says for
// which of the two it is.
#include <algorithm>
#include <stdexcept>

#include "overlay_machine.hpp"
#include "posy/overlay/attenuated_node.hpp"
#include "posy/overlay/gossip_node.hpp"
#include "posy/overlay/letter_batch.hpp"

namespace posy::node {

namespace {

enum class part : std::uint8_t { members = 1, links = 2 };

overlay::attenuated_settings attenuated_settings_of(const options& how) {
    overlay::attenuated_settings settings;
    settings.terms = link_terms_of(how, how.overlay.levels);
    settings.beat = static_cast<std::uint64_t>(how.overlay.beat.count());
    settings.lookups = lookup_terms_of(how);
    settings.publications.patience = std::clamp<std::uint64_t>(2 * settings.beat, 1000, 30'000);
    return settings;
}

overlay::gossip_node membership(const options& how, node_id self, std::uint64_t now, std::uint64_t secret) {
    auto nothing = counting_filter::make({64, 1, layout_id::spread});
    auto node = overlay::gossip_node::make(self, how.overlay.address, std::move(*nothing),
                                           gossip_settings_of(how, now), secret, now);
    if (!node) throw std::runtime_error("the members of the overlay: " + node.error().text());
    for (const node_id each : contacts_of(how)) node->add_contact(each);
    return std::move(*node);
}

class attenuated_machine final : public overlay_machine {
  public:
    attenuated_machine(const options& how, node_id self, std::uint64_t now, std::uint64_t secret)
        : hash_(how.hash, how.seed),
          levels_(how.overlay.levels),
          beat_(static_cast<std::uint64_t>(how.overlay.beat.count())),
          contacts_(contacts_of(how)),
          members_(membership(how, self, now, secret)),
          node_(self, attenuated_settings_of(how), static_cast<std::uint32_t>(now / 1000), secret) {}

    void start(std::uint64_t now, outbox& out) override {
        look_at_members(now, out);
        seek(now, out);
    }
    void leave(std::uint64_t now, outbox& out) override {
        outbox links, members;
        node_.leave(links);
        members_.leave(now, members);
        forward(part::links, links, out);
        forward(part::members, members, out);
    }

    void insert(std::string_view key, std::uint64_t now, outbox& out) override {
        const digest d = hash_(key);
        if (twins_.enters(d, node_.has(d))) by_links(out, [&](outbox& o) { node_.insert(d, now, o); });
    }
    void remove(std::string_view key, std::uint64_t now, outbox& out) override {
        const digest d = hash_(key);
        if (twins_.leaves(d)) by_links(out, [&](outbox& o) { node_.remove(d, now, o); });
    }
    std::optional<std::uint32_t> look_up(std::string_view key, std::uint64_t now, outbox& out) override {
        std::optional<std::uint32_t> id;
        by_links(out, [&](outbox& o) { id = node_.look_up(hash_(key), now, o); });
        return id;
    }
    std::vector<overlay_answer> take_answers() override { return shown(node_.take_answers()); }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox& out) override {
        const byte_view inner = message.empty() ? message : message.subspan(1);
        switch (message.empty() ? part{} : static_cast<part>(message[0])) {
            case part::members: {
                outbox said;
                members_.receive(from, inner, now, said);
                forward(part::members, said, out);
                return look_at_members(now, out);
            }
            case part::links:
                return by_links(out, [&](outbox& o) { node_.receive(from, inner, now, o); });
        }
        ++unknown_;
    }
    void tick(std::uint64_t now, outbox& out) override {
        outbox said;
        members_.tick(now, said);
        forward(part::members, said, out);
        look_at_members(now, out);
        by_links(out, [&](outbox& o) { node_.tick(now, o); });
        if (now >= seek_at_) seek(now, out);
    }
    std::optional<std::uint64_t> next_tick() const override {
        auto first = node_.next_tick();
        for (const auto& other : {members_.next_tick(), std::optional(seek_at_)})
            if (other && (!first || *other < *first)) first = other;
        return first;
    }

    std::vector<node_id> named_in(byte_view message) const override {
        const bool links = message.size() > 1 && static_cast<part>(message[0]) == part::links;
        return links ? overlay::named_in_attenuated(message.subspan(1)) : std::vector<node_id>();
    }
    std::optional<std::string> address_of(node_id node) const override {
        const auto* member = members_.directory().find(node);
        return member ? std::optional(member->address) : std::nullopt;
    }

    std::vector<overlay_neighbour> neighbours() const override {
        std::vector<overlay_neighbour> all;
        const auto near = node_.neighbours();
        for (const node_id id : near)
            all.push_back({id, "neighbour", node_.differs(id) ? other_filters : "up"});
        for (const node_id id : members_.directory().live())
            if (id != node_.id() && std::ranges::find(near, id) == near.end())
                all.push_back({id, "member", "up", true});
        return all;
    }
    overlay_filters filters_of(const overlay_neighbour& n) const override {
        overlay_filters all;
        for (unsigned i = 0; n.relation == "neighbour" && i < levels_; ++i) {
            all.bits += node_.level(n.node, i).bits();
            all.ones += node_.level(n.node, i).ones();
        }
        return all;
    }
    overlay_counts counts() const override {
        const auto& c = node_.counted();
        const auto& m = members_.counts();
        return {c.damaged + m.bad_messages + unknown_, c.strangers + m.unsolicited,
                c.refused + m.refused + m.throttled, c.misled, c.lost_neighbours};
    }

  private:
    static void forward(part which, const outbox& from, outbox& to) {
        for (const auto& each : from) {
            const byte_view message = each.message;
            std::vector<std::byte> marked{static_cast<std::byte>(which)};
            marked.insert(marked.end(), message.begin(), message.end());
            to.push_back({each.to, std::move(marked)});
        }
    }
    template <class Step>
    void by_links(outbox& out, const Step& step) {
        outbox said;
        step(said);
        forward(part::links, said, out);
    }
    // Contacts that are no neighbours are greeted until they are. They are not connected to before they
    // answer: what is not there is no neighbour.
    void seek(std::uint64_t now, outbox& out) {
        const auto near = node_.neighbours();
        for (const node_id each : contacts_) {
            if (std::ranges::find(near, each) != near.end() || each == node_.id()) continue;
            by_links(out, [&](outbox& o) {
                o.push_back({each, {static_cast<std::byte>(overlay::attenuated_kind::beat)}});
            });
        }
        seek_at_ = now + beat_;
    }
    void look_at_members(std::uint64_t now, outbox& out) {
        auto live = members_.directory().live();
        std::ranges::sort(live);
        if (live == known_) return;
        known_ = std::move(live);
        by_links(out, [&](outbox& o) { node_.set_members(known_, now, o); });
    }

    hasher hash_;
    unsigned levels_;
    std::uint64_t beat_, seek_at_ = 0, unknown_ = 0;
    std::vector<node_id> contacts_, known_;
    overlay::gossip_node members_;
    overlay::attenuated_node node_;
    twin_counts twins_;
};

}  // namespace

std::unique_ptr<overlay_machine> make_attenuated(const options& how, node_id self, std::uint64_t now,
                                                 std::uint64_t secret) {
    return std::make_unique<attenuated_machine>(how, self, now, secret);
}

}  // namespace posy::node
