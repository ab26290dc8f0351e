// Hosts that move over a square of stations, and searches for them: at rest, where false forwards are those
// of theory, and in motion, where every host must be found all the same.
#include <fmt/format.h>

#include <random>

#include "network.hpp"
#include "posy/message_size.hpp"
#include "posy/overlay/geographic.hpp"
#include "posy/theory.hpp"
#include "posy/theory/geographic.hpp"
#include "shared_hearing.hpp"
#include "systems.hpp"
#include "tally.hpp"

namespace posy::simulate {
namespace {

using overlay::geographic_station;
using overlay::host_id;
using overlay::square;

constexpr double rate = 0.01;
constexpr unsigned most_levels = 10;  // a million stations

constexpr std::uint64_t stations_of(unsigned levels) { return std::uint64_t{1} << 2 * levels; }

constexpr std::uint64_t step = 100, seconds_between_moves = 100;  // of the clock in ms; of each host

class world {
  public:
    world(unsigned levels, std::uint64_t hosts, const options& o)
        : field_(std::make_shared<overlay::geographic_field>(
              *overlay::geographic_field::plan(levels, hosts, rate, o.seed))),
          net_({.latency =
                    [](node_id a, node_id b) {
                        return 1 + overlay::distance(overlay::cell_of(a), overlay::cell_of(b));
                    },
                .loss = o.loss},
               o.seed),
          random_(o.seed),
          side_(1U << levels) {
        const auto hear = [this](subscriber& s, byte_view m, std::uint64_t now) {
            return hearing_(s, m, now);
        };
        for (std::uint32_t y = 0; y < side_; ++y) {
            for (std::uint32_t x = 0; x < side_; ++x)
                net_.join(overlay::node_of({0, x, y}), *geographic_station::make(field_, {0, x, y}, 0, hear));
        }
        for (host_id host = 0; host < hosts; ++host) {
            at_.push_back(random_cell());
            net_.at(overlay::node_of(at_[host]),
                    [&](auto& s, auto now, auto& out) { s.appear(host, now, out); });
        }
        moves_.assign(hosts, 0);
    }

    // For as long, every host moves into a cell beside its own once in 100 seconds; a search starts with
    // every `per_search`-th move.
    void move_for(std::uint64_t time, std::uint64_t per_search) {
        const std::uint64_t end = net_.now() + time;
        while (net_.now() < end) {
            const std::uint64_t now = at_.size() * step / 1000 / seconds_between_moves;
            for (std::uint64_t i = 0; i < std::max<std::uint64_t>(1, now); ++i) {
                move(random_() % at_.size());
                if (per_search && ++moved_ % per_search == 0) ask(random_() % at_.size());
            }
            net_.run_until(net_.now() + step);
        }
    }
    bool rest() { return net_.run_to_rest(net_.now() + 100 * field_->period); }

    void ask(host_id host) { ask(random_cell(), host); }
    void ask(square from, host_id host) {
        net_.at(overlay::node_of(from), [&](auto& s, auto now, auto& out) {
            asked_.push_back({from, s.search(host, now, out), host});
        });
    }
    void ask_everywhere(square from, host_id host) {
        net_.at(overlay::node_of(from), [&](auto& s, auto now, auto& out) {
            asked_.push_back({from, s.search_everywhere(host, now, out), host});
        });
    }

    struct outcome {
        square from;
        host_id host;
        std::optional<geographic_station::answer> answer;
    };
    // What has become of the searches since the last call.
    std::vector<outcome> outcomes() {
        std::map<std::pair<node_id, std::uint64_t>, geographic_station::answer> came;
        net_.each([&](node_id who, geographic_station& s) {
            for (auto& a : s.take_answers()) came.emplace(std::pair(who, a.ticket), a);
        });
        std::vector<outcome> all;
        for (const auto& q : asked_) {
            const auto found = came.find({overlay::node_of(q.from), q.ticket});
            all.push_back(
                {q.from, q.host, found == came.end() ? std::nullopt : std::optional(found->second)});
        }
        asked_.clear();
        return all;
    }

    // The mean rate of the filters of each level, by what is in them.
    std::vector<double> rates() {
        std::vector<tally> of_level(field_->levels);
        net_.each([&](node_id, geographic_station& s) {
            for (unsigned level = 0; level < field_->levels; ++level) {
                const auto* own = s.publishes(level);
                const geometry& g = field_->summaries[level];
                if (own)
                    of_level[level].add(theory::spread_rate(static_cast<double>(own->set().items()),
                                                            static_cast<double>(g.bits), g.hashes));
            }
        });
        std::vector<double> means;
        means.reserve(of_level.size());
        for (const tally& t : of_level) means.push_back(t.mean());
        return means;
    }

    square where(host_id host) const { return at_[host]; }
    const overlay::geographic_field& field() const { return *field_; }
    shared_hearing& hearing() { return hearing_; }
    const traffic& sent() const { return net_.sent(); }
    std::uint64_t random() { return random_(); }

  private:
    struct question {
        square from;
        std::uint64_t ticket;
        host_id host;
    };
    square random_cell() {
        return {0, static_cast<std::uint32_t>(random_() % side_),
                static_cast<std::uint32_t>(random_() % side_)};
    }
    void move(host_id host) {
        constexpr std::array<std::pair<int, int>, 4> ways{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};
        const auto [dx, dy] = ways[random_() % 4];
        const square from = at_[host];
        const square to{0, from.x + static_cast<std::uint32_t>(dx), from.y + static_cast<std::uint32_t>(dy)};
        if (to.x >= side_ || to.y >= side_) return;
        at_[host] = to;
        net_.at(overlay::node_of(to), [&](auto& s, auto now, auto& out) {
            s.arrive(host, overlay::node_of(from), ++moves_[host], now, out);
        });
    }

    std::shared_ptr<const overlay::geographic_field> field_;
    shared_hearing hearing_;
    network<geographic_station> net_;
    std::mt19937_64 random_;
    std::uint32_t side_;
    std::vector<square> at_;
    std::vector<std::uint64_t> moves_;
    std::uint64_t moved_ = 0;
    std::vector<question> asked_;
};

// Squares on the way from a cell to another: the rest were visited in vain.
std::uint64_t true_forwards(square from, square to) {
    std::uint64_t forwards = 0;
    for (; from != to; ++forwards) {
        const unsigned level = overlay::common_level(from, to) - 1;
        from = overlay::head_of(overlay::around(to, level));
    }
    return forwards;
}

struct findings {
    std::uint64_t asked = 0, found = 0;
    tally vain, forwards;
    double travelled = 0, shortest = 0;
};

findings judge(const std::vector<world::outcome>& outcomes) {
    findings f;
    for (const auto& [from, host, answer] : outcomes) {
        ++f.asked;
        if (!answer || !answer->at) continue;
        ++f.found;
        const square at = overlay::cell_of(*answer->at);
        f.forwards.add(static_cast<double>(answer->forwards));
        f.vain.add(static_cast<double>(answer->forwards) - static_cast<double>(true_forwards(from, at)));
        f.travelled += static_cast<double>(answer->distance);
        f.shortest += static_cast<double>(overlay::distance(from, at));
    }
    return f;
}

// The bytes of summaries per move, by theory: each square publishes what changed since the first change after
// its last publication, to all stations of its siblings. A host that comes back before its departure is
// reported changes no bit there: of those that step over a line, one in four steps back next.
double update_bytes_per_move(const overlay::geographic_field& field, double hosts) {
    const double period = static_cast<double>(field.period) / 1000;
    const double moves_per_second = hosts / static_cast<double>(seconds_between_moves) *
                                    (1 - std::ldexp(1.0, -static_cast<int>(field.levels)));  // not at walls
    const double hold = static_cast<double>(field.hold()) / 1000;
    const double not_back = 1 + std::expm1(-hold / static_cast<double>(seconds_between_moves)) / 4;
    double bytes_per_second = 0;
    for (unsigned level = 0; level < field.levels; ++level) {
        const double squares = std::ldexp(1.0, 2 * static_cast<int>(field.levels - level));
        const double came = not_back * moves_per_second * theory::geographic_crossing(level, field.levels) /
                            squares;  // per second
        const double interval = period + 1 / (2 * came);
        const double items = hosts / squares + came * hold;
        const auto p =
            predict(static_cast<std::uint64_t>(items), field.summaries[level], came * interval / items);
        const double receivers = squares * 3 * std::ldexp(1.0, 2 * static_cast<int>(level));
        bytes_per_second += receivers * static_cast<double>(expected_delta(*p).total()) / interval;
    }
    return bytes_per_second / moves_per_second;
}

void ask_about(world& w, std::uint64_t queries, std::uint64_t first, std::uint64_t hosts) {
    for (std::uint64_t i = 0; i < queries; ++i) w.ask(first + w.random() % hosts);
    w.rest();
}

// Searches whose message was lost are repeated; hosts whom the summaries did not find are searched for in
// every cell. How many were found so.
struct second_tries {
    std::uint64_t found = 0, everywhere = 0;
};
second_tries try_again(world& w, std::vector<world::outcome> outcomes) {
    second_tries all;
    for (int round = 0; round < 10 && !outcomes.empty(); ++round) {
        std::erase_if(outcomes, [](const auto& each) { return each.answer && each.answer->at; });
        for (const auto& each : outcomes) {
            all.everywhere += each.answer.has_value();
            if (each.answer)
                w.ask_everywhere(each.from, each.host);
            else
                w.ask(each.from, each.host);
        }
        w.rest();
        outcomes = w.outcomes();
        for (const auto& each : outcomes) all.found += each.answer && each.answer->at;
    }
    return all;
}

// Bytes per move while all hosts move, and searches meanwhile.
struct motion {
    double moves_per_second = 0, deltas = 0, wholes = 0, reports = 0;
    findings found;
    second_tries again;
};
motion measure_motion(world& w, std::uint64_t hosts, std::uint64_t queries) {
    motion m;
    m.moves_per_second = static_cast<double>(hosts) / static_cast<double>(seconds_between_moves) *
                         (1 - std::ldexp(1.0, -static_cast<int>(w.field().levels)));
    w.move_for(5 * w.field().period, 0);  // until departures are as frequent as arrivals
    w.hearing().weigh();
    const auto reported = [&] {
        return static_cast<double>(w.sent().bytes_of_kind[1] + w.sent().bytes_of_kind[2]);
    };
    const double before = reported();
    const std::uint64_t time = 4 * w.field().period;
    const double moves = m.moves_per_second * static_cast<double>(time) / 1000;
    w.move_for(time, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(moves) / queries));
    m.deltas = static_cast<double>(w.hearing().bytes()) / moves;
    m.wholes = static_cast<double>(w.hearing().whole_bytes()) / moves;
    m.reports = (reported() - before) / moves;
    w.rest();
    const auto during = w.outcomes();
    m.found = judge(during);
    m.again = try_again(w, during);
    return m;
}

}  // namespace

report run_geographic(const options& o) {
    const std::uint64_t stations = number_of("--nodes", o.nodes, 10'000, 1, stations_of(most_levels));
    const std::uint64_t hosts = number_of("--objects", o.objects, 1'000'000, 1);
    const std::uint64_t queries = number_of("--queries", o.queries, 50'000, 1);
    unsigned levels = 1;
    while (stations_of(levels) < stations) ++levels;
    world w(levels, hosts, o);
    w.rest();

    const motion m = measure_motion(w, hosts, queries);
    ask_about(w, queries, 0, hosts);
    const auto present = w.outcomes();
    const findings still = judge(present);
    const second_tries again_still = try_again(w, present);
    ask_about(w, queries, hosts, ~std::uint64_t{0} >> 1);
    tally absent;
    for (const auto& each : w.outcomes()) {
        if (each.answer) absent.add(static_cast<double>(each.answer->forwards));
    }
    const auto rates = w.rates();
    const auto share = [](std::uint64_t part, std::uint64_t of) {
        return static_cast<double>(part) / static_cast<double>(of);
    };
    report r{"geographic",
             fmt::format("{} stations ({} whole levels), {} hosts, {} moves/s, rate {}, seed {}",
                         stations_of(levels), levels, hosts, m.moves_per_second, rate, o.seed),
             {},
             {}};
    r.figures = {
        {"hosts at rest found", share(still.found + again_still.found, still.asked), 1.0, {}, ""},
        {"  questions to every cell, per search", share(again_still.everywhere, still.asked), 0.0, {}, ""},
        {"hosts in motion found", share(m.found.found + m.again.found, m.found.asked), 1.0, {}, ""},
        {"  questions to every cell, per search", share(m.again.everywhere, m.found.asked), 0.0, {}, ""},
        {"forwards per search", still.forwards.mean(),
         theory::geographic_true_forwards(levels) + theory::geographic_false_forwards(rates),
         still.forwards.error(), ""},
        {"false forwards per search", still.vain.mean(), theory::geographic_false_forwards(rates),
         still.vain.error(), ""},
        {"  of an absent host", absent.mean(), theory::geographic_absent_forwards(rates), absent.error(), ""},
        {"  in motion, with those by late summaries", m.found.vain.mean(), {}, m.found.vain.error(), ""},
        {"way per search, of the shortest", still.travelled / still.shortest, {}, {}, ""},
        {"summaries per move, as deltas",
         m.deltas,
         update_bytes_per_move(w.field(), static_cast<double>(hosts)),
         {},
         "bytes"},
        {"summaries per move, as whole filters", m.wholes, {}, {}, "bytes"},
        {"reports between stations per move", m.reports, {}, {}, "bytes"},
    };
    return r;
}

}  // namespace posy::simulate
