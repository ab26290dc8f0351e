#include "posy/packet/traceback.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <unordered_map>

namespace posy::packets {
namespace {

// Takes the next word off a line; empty at its end.
std::string_view take_word(std::string_view& line) {
    constexpr std::string_view blank = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(blank));
    line.remove_prefix(word.size());
    return word;
}

error wrong_line(std::size_t number, const std::string& what) {
    return error::invalid("line " + std::to_string(number) + ": " + what);
}

}  // namespace

topology::topology(std::vector<router> routers) : routers_(std::move(routers)) { join_ends(); }

// Two passes: names first, because a line may name a router that comes later.
result<topology> topology::parse(std::string_view text) {
    struct named_links {
        std::size_t line;
        std::string_view words;
    };
    topology made;
    std::vector<named_links> links;
    std::unordered_map<std::string_view, std::size_t> numbers;
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line = line.substr(0, line.find('#'));
        const std::string_view name = take_word(line), digests = take_word(line);
        if (name.empty()) continue;
        if (digests.empty())
            return wrong_line(number,
                              "a router without digests; give its folder or URL, or '-' if it has none");
        if (!numbers.emplace(name, made.routers_.size()).second)
            return wrong_line(number, "the router '" + std::string(name) + "' is there twice");
        if (made.routers_.size() == max_routers) return wrong_line(number, "more than a million routers");
        made.routers_.push_back({std::string(name), std::string(digests), {}});
        links.push_back({number, line});
    }
    if (made.routers_.empty()) return error::invalid("there are no routers");
    for (std::size_t i = 0; i < links.size(); ++i)
        for (std::string_view rest = links[i].words, name = take_word(rest); !name.empty();
             name = take_word(rest)) {
            const auto found = numbers.find(name);
            if (found == numbers.end())
                return wrong_line(links[i].line,
                                  "the neighbour '" + std::string(name) + "' is not a router of this file");
            made.routers_[i].neighbours.push_back(found->second);
        }
    made.join_ends();
    return made;
}

void topology::join_ends() {
    std::vector<std::vector<std::size_t>> named(routers_.size());
    for (std::size_t i = 0; i < routers_.size(); ++i)
        for (const std::size_t other : routers_[i].neighbours) named[other].push_back(i);
    for (std::size_t i = 0; i < routers_.size(); ++i) {
        auto& all = routers_[i].neighbours;
        all.insert(all.end(), named[i].begin(), named[i].end());
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());  // clang 14 cannot read that of ranges
        std::erase(all, i);
    }
    by_name_.resize(routers_.size());
    std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
    std::ranges::sort(by_name_, {}, [&](std::size_t i) -> std::string_view { return routers_[i].name; });
}

std::optional<std::size_t> topology::find(std::string_view name) const {
    const auto name_of = [&](std::size_t i) -> std::string_view { return routers_[i].name; };
    const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
    if (found == by_name_.end() || name_of(*found) != name) return {};
    return *found;
}

traceback::traceback(const topology& where, std::size_t start)
    : topology_(where), states_(where.routers().size()), queue_{{.router = start}} {
    states_[start] = state::waiting;
}

std::optional<std::size_t> traceback::next() const {
    if (at_ == queue_.size()) return {};
    return queue_[at_].router;
}

void traceback::answer(std::optional<testimony> said) {
    assert(at_ < queue_.size());
    const trace_step here = queue_[at_++];
    state& mine = states_[here.router];
    mine = !said ? state::silent : said->seen ? state::yes : state::no;
    if (said) {
        ++asked_;
        false_branches_ += said->false_positive_rate;
    }
    if (mine == state::no) return;
    for (const std::size_t other : topology_.routers()[here.router].neighbours) {
        if (states_[other] != state::unknown) continue;
        states_[other] = state::waiting;
        queue_.push_back({.router = other, .distance = here.distance + 1, .towards = here.router});
    }
}

// From the farthest to the nearest: a silent router counts if a step behind it does.
std::vector<trace_step> traceback::steps() const {
    std::vector<bool> leads_on(states_.size());
    std::vector<trace_step> steps;
    for (std::size_t i = at_; i-- > 0;) {
        trace_step step = queue_[i];
        const state said = states_[step.router];
        if (said != state::yes && !(said == state::silent && leads_on[step.router])) continue;
        step.silent = said == state::silent;
        step.last = !leads_on[step.router];
        if (step.towards) leads_on[*step.towards] = true;
        steps.push_back(step);
    }
    std::ranges::reverse(steps);
    return steps;
}

}  // namespace posy::packets
