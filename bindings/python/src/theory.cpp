// posy.theory: the formulas of the papers, as posy/theory.hpp has them.
#include "posy/theory.hpp"

#include <nanobind/stl/vector.h>

#include "classes.hpp"
#include "posy/sealed_filter.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;

void add_rates(nb::module_& t) {
    t.def("false_positive_rate", theory::false_positive_rate_asymptotic, "n"_a, "m"_a, "k"_a,
          "(1 - e^(-kn/m))^k: the textbook rate of n items in m bits with k hashes.\n\n"
          ">>> round(posy.theory.false_positive_rate(1000, 10000, 7), 6)\n0.008194\n");
    t.def("false_positive_rate_mean_fill", theory::false_positive_rate_mean_fill, "n"_a, "m"_a, "k"_a,
          "The rate of a filter whose fill is exactly the mean.");
    t.def("spread_rate", theory::spread_rate, "n"_a, "m"_a, "k"_a,
          "The exact expected rate of the layout spread.");
    t.def("sliced_rate", theory::sliced_rate, "n"_a, "m"_a, "k"_a,
          "The exact expected rate of the layout sliced.");
    t.def("blocked_rate", theory::blocked_rate, "n"_a, "m"_a, "k"_a, "word_bits"_a = 64,
          "The expected rate of the layout blocked; of narrow with words of 16 bits.");
    t.def("zero_probability", theory::zero_probability, "n"_a, "m"_a, "k"_a,
          "(1 - 1/m)^(kn): that a given bit is still 0.");
    t.def("optimal_hashes", theory::optimal_hashes, "n"_a, "m"_a,
          "ln 2 * m/n.\n\n>>> round(posy.theory.optimal_hashes(1000, 10000), 9)\n6.931471806\n");
    t.def("optimal_hashes_integral", theory::optimal_hashes_integral, "n"_a, "m"_a,
          "The whole number of hashes with the least rate.");
    t.def("optimal_rate", theory::optimal_rate, "bits_per_item"_a,
          "0.6185^(m/n): the rate with the best number of hashes.");
}

void add_sizes(nb::module_& t) {
    t.def("lower_bound_bits", nb::overload_cast<double, double>(theory::lower_bound_bits), "n"_a, "rate"_a,
          "n log2(1/rate): the fewest bits that any representation needs.");
    t.def("bloom_bits", theory::bloom_bits, "n"_a, "rate"_a,
          "What a Bloom filter needs: 1.44 times as many.");
    t.def("sealed_bits", theory::sealed_bits, "n"_a, "rate"_a, "value_bits"_a = 0,
          "What a sealed filter or a map takes.");
    t.def("binary_entropy", theory::binary_entropy, "p"_a, "-p log2 p - (1-p) log2(1-p).");
    t.def("log2_binomial", theory::log2_binomial, "m"_a, "x"_a,
          "log2 C(m, x): the fewest bits for m bits of which x are set.");
    t.def("compressed_bits", theory::compressed_bits, "n"_a, "m"_a, "k"_a,
          "The array as a message, by an optimal coder.");
    t.def("compressed_limit", theory::compressed_limit, "bits_per_item"_a,
          "(1/2)^(z/n): the rate that no compressed filter goes below.");
    t.def("compressed_array_for", theory::compressed_array_for, "bits_per_item"_a, "k"_a,
          "The bits per item of the array whose message has this many bits per item.");
    t.def("delta_bits", theory::delta_bits, "n"_a, "m"_a, "k"_a, "c"_a,
          "An update after a share c of the items was replaced.");
    t.def("delta_limit_bits", theory::delta_limit_bits, "n"_a, "rate"_a, "c"_a,
          "The fewest bits that such an update can have.");
}

void add_counters(nb::module_& t) {
    t.def("counter_probability", theory::counter_probability, "j"_a, "n"_a, "m"_a, "k"_a,
          "That a given counter has the value j.");
    t.def("overflow_probability", theory::overflow_probability, "j"_a, "n"_a, "m"_a, "k"_a,
          "That any counter reaches j.");
    t.def("overflow_bound", theory::overflow_bound_power, "j"_a, "n"_a, "m"_a, "k"_a,
          "The papers' bound on it: m (enk/jm)^j.");
    t.def("expected_maximum_counter", theory::expected_maximum_counter, "n"_a, "m"_a, "k"_a,
          "The expected largest counter.");
    t.def("count_min_epsilon", theory::count_min_epsilon, "width"_a,
          "The error that a row of this width promises.");
    t.def("count_min_delta", theory::count_min_delta, "depth"_a,
          "The share of keys that this many rows leave outside the promise.");
    t.def("count_min_width", theory::count_min_width, "epsilon"_a, "The width that keeps the error.");
    t.def("count_min_depth", theory::count_min_depth, "delta"_a, "The rows that keep the share.");
    t.def(
        "count_min_error",
        [](const std::vector<double>& frequencies, double width, unsigned depth) {
            return theory::count_min_error(frequencies, width, depth);
        },
        "frequencies"_a, "width"_a, "depth"_a,
        "The expected excess of an estimate where the other keys have these frequencies.");
}

}  // namespace

void add_theory(nb::module_& m) {
    nb::module_ t = m.def_submodule("theory", "The formulas of the papers.");
    add_rates(t);
    add_sizes(t);
    add_counters(t);
}

}  // namespace posy::python
