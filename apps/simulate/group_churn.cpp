#include "group_churn.hpp"

#include <cmath>

#include "mesh_costs.hpp"
#include "posy/theory/routing.hpp"

namespace posy::simulate {

std::vector<figure> group_churn::run(std::uint64_t queries) {
    outages_.begin(world_.net().now(), world_.random());
    asked_for_ = queries * between_lookups;
    ask(queries, true);
    ask(queries / 10, false);
    return figures();
}

std::uint32_t group_churn::lives_of(node_id asker, node_id holder) const {
    return outages_.lives(asker) + outages_.lives(holder);
}

void group_churn::pass_time(std::uint64_t ms) {
    auto& net = world_.net();
    outages_.pass(
        net.now() + ms, world_.random(), [&](std::uint64_t at) { net.run_until(at); },
        [&](node_id who) {
            leaders_failed_ += net.find(who)->leads();
            world_.fail(who);
        },
        [&](node_id who) { world_.come_back(who, outages_.lives(who) + 1); });
}

void group_churn::ask(std::uint64_t number, bool existing) {
    constexpr std::uint64_t first_absent = std::uint64_t{1} << 62;
    for (std::uint64_t i = 0; i < number; ++i) {
        const node_id by = world_.random_node(), holder = world_.random_node();
        const auto& theirs = world_.truth().objects_of(holder);
        if (!existing) {
            ask_one(by, 0, first_absent + i);
        } else if (!theirs.empty()) {
            ask_one(by, holder, theirs[world_.below(theirs.size())]);
        }
        pass_time(between_lookups);
        if (i % 500 == 0) collect();
    }
    for (std::uint64_t waited = 0; waited <= longest_wait; waited += longest_wait / 10) {
        pass_time(longest_wait / 10);
        collect();
    }
}

void group_churn::ask_one(node_id by, node_id holder, std::uint64_t object) {
    if (outages_.is_down(by) || outages_.is_down(holder)) return;
    world_.net().at(by, [&](group_node& n, std::uint64_t now, outbox& out) {
        if (const auto id = n.look_up(world_.digest_of(object), now, out))
            open_[{by, *id}] = {object, holder, now, lives_of(by, holder)};
    });
}

// Answers, and what has waited too long. Lookups of which an end has failed do not count.
void group_churn::collect() {
    world_.net().each([&](node_id by, group_node& node) {
        for (const auto& answer : node.take_answers()) {
            const auto asked = open_.extract({by, answer.id});
            if (asked && asked.mapped().lives == lives_of(by, asked.mapped().holder))
                judge(answer, asked.mapped());
        }
    });
    std::erase_if(open_, [&](const auto& entry) {
        const auto& [of, asked] = entry;
        const bool same = asked.lives == lives_of(of.first, asked.holder);
        const bool late = world_.net().now() >= asked.asked_at + longest_wait;
        if (same && late) (asked.holder != 0 ? success_ : absent_right_).add(0);
        return !same || late;
    });
}

void group_churn::judge(const overlay::lookup_answer& answer, const open_lookup& asked) {
    if (asked.holder == 0) return absent_right_.add(!answer.holder && !answer.timed_out);
    const bool found = answer.holder == asked.holder;
    success_.add(found && answer.took <= longest_wait);
    first_.add(found && answer.attempts == 1);
    denied_.add(!answer.holder && !answer.timed_out);
    if (found && answer.attempts > 1) wait_.add(static_cast<double>(answer.took) / 1000);
}

// A member notices at a beat that its leader has been silent for so many beats and up to one more, since it
// heard the answer to the last; and so does the heir, so the later of the two counts. The heir answers when
// it has the unions of the others, which it gets in its first round.
double group_churn::repaired_for_members() const {
    const auto& how = world_.how();
    const auto beat = static_cast<double>(how.beat), round = static_cast<double>(how.mesh.round);
    return beat * (how.silent_beats + 2.0 / 3) + round;
}

// The holder has come to the heir by then, too, and its bits with the batch that follows. They are told at
// the heir's next round, and a leader at random hears of them in the mean over the shares that have heard.
double group_churn::repaired_for_others() const {
    const auto& how = world_.how();
    const auto beat = static_cast<double>(how.beat), round = static_cast<double>(how.mesh.round);
    const auto model =
        mesh_model(how.mesh, static_cast<double>(world_.groups()), options_.loss, group_world::latency);
    constexpr int shares = 20;
    double rounds = 0;
    for (int i = 0; i < shares; ++i) rounds += theory::gossip_spread(model, (i + 0.5) / shares).rounds;
    return beat * (how.silent_beats + 2.0 / 3) + round * (1 + rounds / shares);
}

// Nearly every lookup passes two leaders, the asker's and the holder's. A failure of a leader takes its share
// of the lookups for so long, and the failures are a Poisson number.
std::vector<figure> group_churn::figures() const {
    const auto groups = static_cast<double>(world_.groups());
    const double other = 1 - 1 / groups;  // the holder is of another group
    const double open = theory::open_way_probability(failure_rate(), repaired_for_members(), 1) *
                        theory::open_way_probability(failure_rate(), repaired_for_others(), other);
    const double failures = failure_rate() * groups * static_cast<double>(asked_for_);
    const double by_failures = (1 - open) / std::sqrt(failures);
    constexpr double certain = 1;
    return {
        {"failures of nodes", static_cast<double>(outages_.failures())},
        {"  of leaders", static_cast<double>(leaders_failed_)},
        {"lookups of existing objects", static_cast<double>(success_.count())},
        {"found", success_.mean(), certain, success_.error()},
        {"  found at the first attempt", first_.mean(), open, std::hypot(first_.error(), by_failures)},
        {"  seconds until found, where not at once", wait_.mean(), {}, wait_.error(), "s"},
        {"  said to be absent", denied_.mean(), 0.0, denied_.error()},
        {"lookups of absent objects", static_cast<double>(absent_right_.count())},
        {"answered as absent", absent_right_.mean(), certain, absent_right_.error()},
        {"leaders in the end", static_cast<double>(world_.leaders()), groups},
    };
}

}  // namespace posy::simulate
