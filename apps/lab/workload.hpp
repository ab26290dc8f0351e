// Requests to simulated proxies, one after the other: those of a trace, or made up as they are needed, so
// that a hundred million of them take no memory.
//
// What is made up: popularity falls with rank as rank^-zipf (Breslau et al. 1999 found 0.64 to 0.83 at
// proxies). A share of the requests is for objects that only the clients of one proxy ask for, the rest for
// objects of all. Sizes are lognormal. The clients of a proxy are as many as a lognormal draw says, so that
// some proxies are busier than others. Everything follows from the seed.
//
// Cost: a draw of a few random numbers per request. Thread safety: none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "trace.hpp"

namespace posy::lab {

class workload {
  public:
    virtual ~workload() = default;
    // The next request; nothing at the end.
    virtual std::optional<trace::item> next() = 0;
    // The number of different objects, all of which have smaller numbers.
    virtual std::uint64_t objects() const = 0;
    virtual std::uint64_t bytes_of(std::uint32_t object) const = 0;
    virtual std::uint64_t requests() const = 0;
};

class traced_workload final : public workload {
  public:
    explicit traced_workload(const trace& t) : trace_(t) {}
    std::optional<trace::item> next() override {
        return at_ < trace_.requests.size() ? std::optional(trace_.requests[at_++]) : std::nullopt;
    }
    std::uint64_t objects() const override { return trace_.objects.size(); }
    std::uint64_t bytes_of(std::uint32_t object) const override { return trace_.objects[object].bytes; }
    std::uint64_t requests() const override { return trace_.requests.size(); }

  private:
    const trace& trace_;
    std::size_t at_ = 0;
};

// Ranks 0, 1, … below `count`, of weight (rank + 1)^-exponent: by rejection from the integral of the weight
// (Hörmann and Derflinger 1996), a draw and a quarter on average for any count.
class zipf_ranks {
  public:
    zipf_ranks(std::uint64_t count, double exponent);
    template <class Random>
    std::uint64_t operator()(Random& random) const {
        std::uniform_real_distribution<> between(first_, last_);
        for (;;) {
            const double u = between(random), x = inverse(u);
            const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(count_));
            if (k - x <= near_ || u >= integral(k + 0.5) - std::pow(k, -exponent_))
                return static_cast<std::uint64_t>(k) - 1;
        }
    }

  private:
    double integral(double x) const;  // of the weight up to x, plus a constant
    double inverse(double y) const;

    std::uint64_t count_;
    double exponent_, first_ = 0, last_ = 0, near_ = 0;
};

struct made_up {
    std::uint64_t requests = 100'000'000;
    std::uint64_t objects = 10'000'000;  // of all clients; those of single proxies are as many together
    double zipf = 0.8;
    double mean_bytes = 10'000;  // of a body
    double local = 0.3;          // share of requests for what only one proxy's clients ask for
    std::uint64_t seed = 1;
};

class made_up_workload final : public workload {
  public:
    made_up_workload(const made_up&, std::uint32_t proxies);
    std::optional<trace::item> next() override;
    std::uint64_t objects() const override { return how_.objects + own_ * proxies_; }
    std::uint64_t bytes_of(std::uint32_t object) const override;
    std::uint64_t requests() const override { return how_.requests; }

  private:
    made_up how_;
    std::uint32_t proxies_;
    std::uint64_t own_;  // objects of each proxy alone
    zipf_ranks shared_ranks_, own_ranks_;
    std::vector<double> busy_;  // shares of the proxies, added up
    std::mt19937_64 random_;
    std::uint64_t made_ = 0;
};

}  // namespace posy::lab
