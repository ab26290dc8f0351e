#include "posy/theory/gossip.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "binomial.hpp"

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
    double first() const { return greeting * record; }
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
          told_{1 + (m.at_once ? arrive_.first() : 0)},
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

// P(X > most), X ~ Binomial(n, p): the smaller side is summed, from its largest term on.
double binomial_above(double most, double n, double p) {
    const bool below = n * p > most;
    double sum = 0;
    for (double x = below ? most : most + 1; x >= 0 && x <= n; x += below ? -1 : 1) {
        const double weight = binomial_weight(x, n, p);
        sum += weight;
        if (weight <= 1e-18 * sum) break;
    }
    return below ? 1 - sum : sum;
}

// The distribution of the time until a share of the nodes knows, in steps of time.
class spread_time {
  public:
    // `ignorant` is the share that does not know, by the equations, at each step.
    spread_time(const gossip_model& m, double share, const std::vector<double>& ignorant)
        : first_(m.at_once ? arrivals(m).first() : 0), rate_(arrivals(m).contacts()) {
        const double left_out = m.nodes - std::ceil(share * m.nodes);
        for (const double s : ignorant) late_.push_back(binomial_above(left_out, m.nodes, s));
        const auto steps = static_cast<std::ptrdiff_t>(longest_shift / step);
        for (std::ptrdiff_t i = -steps; i < steps; ++i) {
            const double mass = shifted(i) - shifted(i + 1);
            if (mass > 1e-15) shifts_.push_back({i, mass});
        }
    }
    static constexpr double step = 1.0 / 64;

    // P(T > t) at that step.
    double beyond(std::ptrdiff_t at) const {
        double sum = 0;
        for (const auto& [by, mass] : shifts_) {
            const std::ptrdiff_t then = at - by;
            sum += then < 0 ? mass : mass * late_[std::min<std::size_t>(then, late_.size() - 1)];
        }
        return sum;
    }
    double never() const { return late_.back(); }

  private:
    static constexpr double longest_shift = 24;  // rounds
    struct shift {
        std::ptrdiff_t by;
        double mass;
    };
    double shifted(std::ptrdiff_t i) const {
        const double w = (1 + first_) * std::exp(-rate_ * static_cast<double>(i) * step);
        return -std::expm1(-w) - first_ * w * std::exp(-w);
    }

    double first_, rate_;
    std::vector<double> late_;  // P(T > t) if nothing is shifted
    std::vector<shift> shifts_;
};

// The equations to their end: what they say of the course, and the shares that do not know.
std::vector<double> run_course(const gossip_model& m, gossip_course& sum) {
    course now(m);
    std::vector<double> ignorant;
    constexpr double longest = 1000;  // rounds
    constexpr auto every = static_cast<std::size_t>(spread_time::step / course::step);
    for (std::size_t i = 0; now.time() < longest; ++i) {
        const double left = std::max(0.0, m.nodes - now.known().all());
        if (i % every == 0) ignorant.push_back(left / m.nodes);
        if (now.hot() < 1e-6 && (m.compare_every <= 0 || left < 1e-10)) break;
        now.advance(sum);
    }
    sum.residue = std::max(0.0, 1 - now.known().by_rumour / m.nodes);
    return ignorant;
}

bool spreads(const gossip_model& m) { return m.nodes >= 2 && arrivals(m).contacts() > 0; }

}  // namespace

gossip_course gossip_spread(const gossip_model& m, double share) {
    if (!spreads(m)) return {.residue = 1};
    gossip_course sum;
    const spread_time time(m, share, run_course(m, sum));
    constexpr double least = 1e-9;  // what is less likely is left out
    if (time.never() >= least) {
        sum.rounds = sum.deviation = INFINITY;
        return sum;
    }
    double squares = 0;
    for (std::ptrdiff_t at = 0;; ++at) {
        const double late = time.beyond(at);
        if (late < least) break;
        sum.rounds += late * spread_time::step;
        squares += late * (2 * static_cast<double>(at) + 1) * spread_time::step * spread_time::step;
    }
    sum.deviation = std::sqrt(std::max(0.0, squares - sum.rounds * sum.rounds));
    return sum;
}

double gossip_slowest(const gossip_model& m, double share, double changes, double odds) {
    if (!spreads(m)) return INFINITY;
    gossip_course sum;
    const spread_time time(m, share, run_course(m, sum));
    const double each = -std::expm1(std::log1p(-odds) / changes);
    if (time.never() >= each) return INFINITY;
    std::ptrdiff_t at = 0;
    while (time.beyond(at) > each) ++at;
    return static_cast<double>(at) * spread_time::step;
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
