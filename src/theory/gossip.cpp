#include "posy/theory/gossip.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace posy::theory {
namespace {

// What arrives, of one exchange: the greeting, the reply to it, and the record that either of them leads to.
struct arrivals {
    double greeting, reply, record;
    explicit arrivals(const gossip_model& m)
        : greeting((1 - m.wasted) * (1 - std::pow(m.loss, m.tries))),
          reply((1 - m.wasted) * (1 - std::pow(1 - (1 - m.loss) * (1 - m.loss), m.tries))),
          record((1 - m.loss) * (1 - m.loss)) {}
    double contacts() const { return (greeting + reply) * record; }
};

// Nodes, by how they hear of it.
struct told {
    double by_rumour = 0, by_comparison = 0;
    double all() const { return by_rumour + by_comparison; }
};

// The equations, in steps of time.
class course {
  public:
    explicit course(const gossip_model& m)
        : n_(m.nodes),
          compares_(m.compare_every > 0 ? 2 / m.compare_every : 0),
          arrive_(m),
          told_{m.at_once ? 2.0 : 1.0},
          known_{1},
          spreading_(m.patience, 0.0),
          past_(static_cast<std::size_t>(3.5 * m.hop / step) + 1, known_) {
        spreading_[0] = 1;
    }
    static constexpr double step = 1.0 / 512;

    const told& known() const { return known_; }
    double time() const { return time_; }
    double hot() const {
        double all = 0;
        for (const double each : spreading_) all += each;
        return all;
    }

    void advance(gossip_course& sum) {
        const double i = hot() / n_, s = std::max(0.0, 1 - told_.all() / n_), knowing = known_.all() / n_;
        sum.greetings += i * step;
        sum.replies += i * (1 - i) * arrive_.greeting * step;
        sum.disagreement += 2 * knowing * (1 - knowing) * step;
        told_.by_rumour += arrive_.contacts() * s * n_ * i * step;
        told_.by_comparison += compares_ * s * n_ * (knowing - i) * step;
        // Whoever was told has the record only after some messages.
        past_[at_] = told_;
        at_ = (at_ + 1) % past_.size();
        const double newly = past_[at_].by_rumour - known_.by_rumour;
        known_ = past_[at_];
        const double tired = (knowing * arrive_.reply + i * arrive_.greeting) * step;
        for (std::size_t k = spreading_.size(); k-- > 0;)
            spreading_[k] += tired * ((k > 0 ? spreading_[k - 1] : 0) - spreading_[k]);
        spreading_[0] += newly;
        time_ += step;
    }

  private:
    double n_, compares_;  // nodes; comparisons of a node per round
    arrivals arrive_;
    told told_, known_;
    std::vector<double> spreading_;  // nodes, by how many contacts knew it
    std::vector<told> past_;         // told_, a delay ago and since
    std::size_t at_ = 0;
    double time_ = 0;
};

}  // namespace

gossip_course gossip_spread(const gossip_model& m, double share) {
    gossip_course sum;
    const double n = m.nodes, c = arrivals(m).contacts();
    const double last = std::ceil(share * n), first = m.at_once ? 2 : 1;
    if (!(n >= 2) || !(c > 0)) return {.residue = 1};
    // The last node of all is a matter of chance as well: the equations come near it for ever.
    const double target = std::min(last, n - 1);
    course now(m);
    constexpr double longest = 1000;  // rounds
    bool reached = false;
    while ((now.hot() > 1e-6 || n - now.known().all() > 1e-6) && now.time() < longest) {
        now.advance(sum);
        if (!reached && now.known().all() >= target) {
            reached = true;
            sum.rounds = now.time();
        }
    }
    sum.residue = std::max(0.0, 1 - now.known().by_rumour / n);
    if (!reached) sum.rounds = INFINITY;
    double chance = 0, variance = 0;
    for (double j = first; j < last; ++j) {
        const double wait = (n - 1) / (c * j * (n - j));
        chance += wait;
        variance += wait * wait;
    }
    const double smooth =
        (n - 1) / (c * n) * (std::log(target / (n - target)) + std::log((n - first) / first));
    if (target > first) sum.rounds += chance - smooth;
    sum.deviation = std::sqrt(variance);
    return sum;
}

double gossip_bytes_per_hour(const gossip_model& m, const gossip_course& one, const gossip_load& load) {
    const double mentions = one.greetings + one.replies;
    const double open = load.rounds > 0 ? load.rumours / load.rounds * one.disagreement : 0;
    const double differ = -std::expm1(-open);
    // Both directions of a part; of the answer only what is newer, about half of the rumours.
    const double listed = differ * (1 + open) * m.nodes / load.part_count + open / 2;
    const double compared = (m.compare_every > 0 ? load.rounds / m.compare_every : 0);
    return load.rounds * (load.greeting + (1 - m.wasted) * load.reply) +
           load.rumours * load.version * mentions + load.fetched +
           compared * (load.hash + differ * load.parts + listed * load.version);
}

}  // namespace posy::theory
