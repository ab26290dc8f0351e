// The size and the rate of a sealed filter: what its builder would choose for n keys, layer after layer, with
// the mean in place of chance.
#include "sealed/shape.hpp"

#include <cmath>
#include <limits>

#include "posy/sealed_filter.hpp"
#include "posy/theory.hpp"

namespace posy::theory {
namespace {

// Unknowns of a layer that no key uses, measured: those at the ends of a chunk, and a share of all.
constexpr double unused_a_chunk = 30, unused_share = 0.0011;
// This many starts at the front of a chunk bump nothing; measured as well.
constexpr double starts_without_bumps = 400;

double bumped(const sealed::layer_shape& shape, double keys) {
    const auto unknowns = static_cast<double>(shape.blocks() * sealed::window);
    const double used = unknowns * (1 - unused_share) - unused_a_chunk * static_cast<double>(shape.chunks);
    return std::max(0.0, keys - used);
}

// The expected filter.
struct expectation {
    sealed::header header;
    double rate = 0;
};

// An absent key's window starts anywhere, and meets a lean fingerprint or one with a bit more. Whole blocks
// are lean or not, so a small layer misses the share that was asked for, and a remainder of 64 keys or less,
// whose windows all start in one place, is all of one kind.
double rate_of(double lean, double all) { return (lean + (all - lean) / 2) / all; }

// Where a share of a layer's keys is bumped, the first starts of each chunk bump none: there is room until
// more keys have come than unknowns. The first blocks of a layer are the lean ones.
double rate_of(const sealed::layer_shape& layer, double bumped_share) {
    const auto kept = [&](std::uint64_t chunks, std::uint64_t blocks) {
        const auto starts = static_cast<double>(blocks * sealed::window);
        const auto all = static_cast<double>(layer.starts());
        const double sure = std::min(all / 2, starts_without_bumps);
        return static_cast<double>(chunks) *
               (starts - std::max(0.0, starts - sure) * bumped_share * all / (all - sure));
    };
    const double lean = kept(layer.lean / layer.chunk_blocks(), layer.start_blocks) +
                        kept(1, std::min(layer.lean % layer.chunk_blocks(), layer.start_blocks));
    return rate_of(lean, kept(layer.chunks, layer.start_blocks));
}

expectation expect(double n, double rate, unsigned value_bits) {
    const auto [fingerprint, extra] = sealed::mixture_for(rate);
    expectation e{{{value_bits, fingerprint}, static_cast<std::uint64_t>(std::round(n)), {}, {}}};
    auto left = static_cast<double>(e.header.items), reached = 1.0;
    while (left > static_cast<double>(sealed::small_set)) {
        const auto& layer =
            e.header.layers.emplace_back(sealed::layer_for(static_cast<std::uint64_t>(left), extra));
        const double on = std::round(bumped(layer, left));
        e.rate += reached * (1 - on / left) * rate_of(layer, on / left);
        reached *= on / left;
        left = on;
    }
    const auto& last = e.header.remainder = sealed::remainder_for(static_cast<std::uint64_t>(left), extra, 0);
    if (last.unknowns > 0) {
        const std::uint64_t lean = std::min(last.lean, last.starts());
        e.rate += reached * rate_of(static_cast<double>(lean), static_cast<double>(last.starts()));
    }
    e.rate = std::ldexp(e.rate, -static_cast<int>(fingerprint));
    return e;
}

bool possible(double n, double rate, unsigned value_bits) {
    constexpr auto most = static_cast<double>(sealed::max_items);
    return n >= 0 && n <= most && sealed::is_rate(rate) && value_bits <= sealed::max_value_bits;
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double sealed_bits(double n, double rate, unsigned value_bits) {
    if (!possible(n, rate, value_bits)) return none;
    const sealed::header h = expect(n, rate, value_bits).header;
    std::vector<std::byte> front;
    h.put(front);
    return 8 * static_cast<double>(sealed::arrangement(h, front.size()).size);
}

double sealed_rate(double n, double rate) { return possible(n, rate, 0) ? expect(n, rate, 0).rate : none; }

}  // namespace posy::theory
