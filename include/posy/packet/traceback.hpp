// Where a packet came from: asks the routers of a topology whether they saw it, from the victim's router
// backwards (SPIE: Snoeren et al. 2001; Broder and Mitzenmacher 2004, 8.2).
//
// A router that saw the packet has its neighbours asked; one that did not ends the search there. A router on
// the packet's way always says yes, so the way is found whole; a false yes adds a branch. A router that
// cannot be asked may be on the way: the search goes on behind it, and it is part of the result only if it
// leads to a router that saw the packet. Every router is asked at most once.
//
// A state machine: next() says whom to ask and answer() takes what it said, from a simulation, a folder or a
// web server. Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/result.hpp"

namespace posy::packets {

struct router {
    std::string name;
    std::string digests;  // a folder or URL; "-": it keeps none
    std::vector<std::size_t> neighbours;
};

// Lines of "NAME DIGESTS NEIGHBOUR…"; '#' begins a comment. A link counts for both of its ends, whoever names
// it.
class topology {
  public:
    static constexpr std::size_t max_routers = 1'000'000;

    static result<topology> parse(std::string_view text);
    // For those who have it otherwise. Precondition: neighbours are numbers of routers.
    explicit topology(std::vector<router> routers);

    const std::vector<router>& routers() const { return routers_; }
    std::optional<std::size_t> find(std::string_view name) const;

  private:
    topology() = default;
    void join_ends();

    std::vector<router> routers_;
    std::vector<std::size_t> by_name_;
};

// What a router said.
struct testimony {
    bool seen = false;
    double false_positive_rate = 0;  // of its yes
};

// A router on the way back.
struct trace_step {
    std::size_t router = 0;
    std::size_t distance = 0;            // from the victim's router
    std::optional<std::size_t> towards;  // the victim: the neighbour through which the search came
    bool silent = false;                 // could not be asked
    bool last = false;                   // no step leads on from here: the packet may have entered here
};

class traceback {
  public:
    // The topology must outlive this. Precondition: the start is one of its routers.
    traceback(const topology&, std::size_t start);

    // The router to ask now; nothing when the search is over.
    std::optional<std::size_t> next() const;
    // Of the router that next() named; nothing: it could not be asked.
    void answer(std::optional<testimony>);

    // Those that saw the packet and those silent ones on the way to them, the nearest to the victim first.
    std::vector<trace_step> steps() const;
    std::uint64_t asked() const { return asked_; }
    // The sum of the rates of all that answered: more of them say yes falsely only by chance. In expectation,
    // exactly the number of false yeses, if those on the packet's way are left out of the sum.
    double false_branches() const { return false_branches_; }

  private:
    enum class state : std::uint8_t { unknown, waiting, no, yes, silent };

    const topology& topology_;
    std::vector<state> states_;
    std::vector<trace_step> queue_;  // in the order of their distance; those before at_ have answered
    std::size_t at_ = 0;
    std::uint64_t asked_ = 0;
    double false_branches_ = 0;
};

}  // namespace posy::packets
