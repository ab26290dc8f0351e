// The tree (posy/overlay/tree_node.hpp) as a node runs it. The first contact is the parent; all of them are
// asked when the parent is gone.
#include <algorithm>

#include "overlay_machine.hpp"
#include "posy/overlay/letter_batch.hpp"
#include "posy/overlay/tree_node.hpp"

namespace posy::node {

namespace {

overlay::tree_settings tree_settings_of(const options& how) {
    const auto beat = static_cast<std::uint64_t>(how.overlay.beat.count());
    overlay::tree_settings settings;
    settings.terms = link_terms_of(how, 1);
    settings.beat = beat;
    settings.answer_time = std::clamp<std::uint64_t>(beat, 200, 5000);
    settings.lookups = lookup_terms_of(how);
    settings.seeds = contacts_of(how);
    return settings;
}

class tree_machine final : public overlay_machine {
  public:
    tree_machine(const options& how, node_id self, std::uint64_t now, std::uint64_t secret)
        : hash_(how.hash, how.seed),
          bits_(link_terms_of(how, 1).geometry.bits),
          contacts_(contacts_of(how)),
          node_(self, tree_settings_of(how), static_cast<std::uint32_t>(now / 1000), secret) {}

    void start(std::uint64_t now, outbox& out) override {
        if (!contacts_.empty()) node_.join(contacts_.front(), now, out);
    }
    void leave(std::uint64_t, outbox& out) override { node_.leave(out); }

    void insert(std::string_view key, std::uint64_t now, outbox& out) override {
        const digest d = hash_(key);
        if (twins_.enters(d, node_.has(d))) node_.insert(d, now, out);
    }
    void remove(std::string_view key, std::uint64_t now, outbox& out) override {
        const digest d = hash_(key);
        if (twins_.leaves(d)) node_.remove(d, now, out);
    }
    std::optional<std::uint32_t> look_up(std::string_view key, std::uint64_t now, outbox& out) override {
        return node_.look_up(hash_(key), now, out);
    }
    std::vector<overlay_answer> take_answers() override { return shown(node_.take_answers()); }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox& out) override {
        node_.receive(from, message, now, out);
    }
    void tick(std::uint64_t now, outbox& out) override { node_.tick(now, out); }
    std::optional<std::uint64_t> next_tick() const override { return node_.next_tick(); }
    std::vector<node_id> named_in(byte_view message) const override {
        return overlay::named_in_tree(message);
    }

    std::vector<overlay_neighbour> neighbours() const override {
        std::vector<overlay_neighbour> all;
        const auto state = [](bool differs) { return differs ? other_filters : "up"; };
        if (const auto parent = node_.parent())
            all.push_back({*parent, "parent", state(node_.parent_differs())});
        for (const node_id child : node_.children())
            all.push_back({child, "child", state(node_.differs(child))});
        return all;
    }
    overlay_filters filters_of(const overlay_neighbour& n) const override {
        if (n.relation == "parent") return {};
        return {bits_, node_.ones_of(n.node).size()};
    }
    overlay_counts counts() const override {
        const auto& c = node_.counted();
        return {c.damaged, c.strangers, c.refused, c.returned, c.lost_children + c.lost_parents};
    }

  private:
    hasher hash_;
    std::uint64_t bits_;
    std::vector<node_id> contacts_;
    overlay::tree_node node_;
    twin_counts twins_;
};

}  // namespace

std::unique_ptr<overlay_machine> make_tree(const options& how, node_id self, std::uint64_t now,
                                           std::uint64_t secret) {
    return std::make_unique<tree_machine>(how, self, now, secret);
}

}  // namespace posy::node
