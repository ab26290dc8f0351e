#include "plan_bounds.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <optional>

#include "numbers.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using nlohmann::ordered_json;

// "1M" or "2^64": universes are larger than the numbers that count bytes.
double parse_universe(const std::string& text) {
    try {
        if (!text.starts_with("2^")) return static_cast<double>(parse_amount(text));
        const auto exponent = parse_decimal(text.substr(2), 0);
        if (exponent && *exponent <= 1000) return std::ldexp(1.0, static_cast<int>(*exponent));
    } catch (const wrong_use&) {
    }
    throw failure("plan: --universe " + text + ": give a number, e.g. 1G, or a power of two up to 2^1000");
}

std::string digits(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–"; }

// One row for people; one object for programs. What is not finite is – here and null there.
class bounds_table {
  public:
    explicit bounds_table(const plan& p) : plan_(p) {}

    // `ours`: the bits of the plan that compare with these; none where they are the same.
    void add(const std::string& name, double bits, double rate, std::optional<double> ours) {
        rows_.push_back({name, digits(plan_.per_item(bits)),
                         std::isfinite(rate) ? fmt::format("{:.3g}", rate) : "–",
                         ours ? digits(*ours / bits) : "–"});
    }
    std::string text() const { return "\n" + table(rows_); }

  private:
    const plan& plan_;
    std::vector<std::vector<std::string>> rows_{{"bounds and references", "bits/item", "rate", "plan ÷ it"}};
};

void add_lower_bounds(const plan& p, const std::string& universe, bounds_table& rows, ordered_json& json) {
    const auto n = static_cast<double>(p.items), m = static_cast<double>(p.bits);
    const double f = p.false_positive_rate, least = theory::lower_bound_bits(n, f);
    rows.add("lower bound n·log2(1/rate)", least, f, m);
    rows.add("  against the message", least, f, p.message_bits);
    json["lower_bound_bits_per_item"] = p.per_item(least);
    json["array_over_lower_bound"] = m / least;
    json["message_over_lower_bound"] = p.message_bits / least;
    if (!universe.empty()) {
        const double u = parse_universe(universe), bits = theory::lower_bound_bits(n, f, u);
        if (u < n)
            throw failure("plan: --universe " + universe + ": smaller than the set, which has --items");
        rows.add("  universe of " + universe, bits, f, m);
        json["universe"] = {{"keys", u},
                            {"lower_bound_bits_per_item", p.per_item(bits)},
                            {"array_over_lower_bound", m / bits},
                            {"message_over_lower_bound", p.message_bits / bits}};
    }
    rows.add("best Bloom filter", theory::bloom_bits(n, f), f, m);
    json["bloom_bits_per_item"] = p.per_item(theory::bloom_bits(n, f));
    const double limit = theory::compressed_limit(p.message_bits_per_item());
    rows.add("compressed, limit 0.5^(z/n)", p.message_bits, limit, {});
    json["compressed_limit_rate"] = limit;
}

void add_delta_limits(const plan& p, double fraction, bounds_table& rows, ordered_json& json) {
    const double bits =
        theory::delta_limit_bits(static_cast<double>(p.items), p.false_positive_rate, fraction);
    const double rate = theory::delta_limit(p.per_item(*p.delta_bits), fraction);
    rows.add("delta, limit 2cn·log2(1/rate)", bits, p.false_positive_rate, *p.delta_bits);
    rows.add("  of its rate, 0.5^(z/2cn)", *p.delta_bits, rate, {});
    json["delta_limit_bits_per_item"] = p.per_item(bits);
    json["delta_limit_rate"] = rate;
}

// Its helpers take the rate that was asked for; without one, that of the plan.
void add_hadoop(const plan& p, const wishes& want, bounds_table& rows, ordered_json& json) {
    if (p.items > std::numeric_limits<std::int32_t>::max()) return;  // no Java int counts them
    const double asked = want.rate.value_or(p.false_positive_rate);
    const auto n = static_cast<std::int32_t>(p.items);
    const std::int32_t bits = theory::hadoop_printed_bits(n, static_cast<float>(asked));
    const std::int32_t hashes =
        theory::hadoop_printed_hashes(static_cast<float>(n), static_cast<float>(bits));
    const double f = bits > 0 ? theory::spread_rate(n, bits, static_cast<unsigned>(hashes)) : 1;
    rows.add(fmt::format("Hadoop's sizing, k = {}", hashes), bits, f, static_cast<double>(p.bits));
    json["hadoop"] = {{"asked_rate", asked}, {"bits", bits}, {"hashes", hashes}, {"false_positive_rate", f}};
}

void add_hash_list(const plan& p, bounds_table& rows, ordered_json& json) {
    const auto n = static_cast<double>(p.items);
    const unsigned b = theory::hash_list_value_bits(n, p.false_positive_rate);
    const double f = theory::hash_list_rate(n, b), coded = theory::hash_list_coded_bits(n, b);
    rows.add(fmt::format("hash list, {} bits per value", b), n * b, f, static_cast<double>(p.bits));
    rows.add("  entropy-coded", coded, f, p.message_bits);
    json["hash_list"] = {{"value_bits", b},
                         {"bits", n * b},
                         {"different_values", theory::hash_list_values(n, b)},
                         {"coded_bits_per_item", p.per_item(coded)},
                         {"false_positive_rate", f}};
}

}  // namespace

void bounds_options::add_to(command_line& command) {
    command
        .add_flag("--bounds", wanted_,
                  "Also show the fewest bits possible at this rate, and what Hadoop's sizing and a list of "
                  "hash values would take")
        .excludes("--tradeoff");
    command
        .add_option(
            "--universe N", universe_,
            "With --bounds: number of different keys that can exist, e.g. 1G or 2^64; a small universe "
            "lowers the bound (default: unlimited)")
        .excludes("--tradeoff");
}

std::string bounds_options::describe(const plan& p, const wishes& want, ordered_json& json) const {
    if (!wanted_ && universe_.empty()) return "";
    bounds_table rows(p);
    ordered_json& into = json["bounds"];
    add_lower_bounds(p, universe_, rows, into);
    if (p.delta_bits && want.delta_fraction) add_delta_limits(p, *want.delta_fraction, rows, into);
    add_hadoop(p, want, rows, into);
    add_hash_list(p, rows, into);
    return rows.text();
}

}  // namespace posy::tool
