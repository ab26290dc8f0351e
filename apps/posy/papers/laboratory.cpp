#include "laboratory.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "posy/base/threads.hpp"
#include "posy/message.hpp"
#include "posy/theory.hpp"
#include "progress.hpp"
#include "tool.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

struct experiment {
    purpose why = purpose::simulation;
    double bits_per_item = 0, change = 0;
    unsigned hashes = 0;
    std::uint64_t stream = 0;  // seeds of one experiment are not those of another

    std::uint64_t bits() const {
        return static_cast<std::uint64_t>(std::llround(bits_per_item * static_cast<double>(items)));
    }
    std::uint64_t replaced() const {
        return static_cast<std::uint64_t>(std::llround(change * static_cast<double>(items)));
    }
    bool coded() const { return why != purpose::rate; }
    // Nanoseconds, roughly: what the progress bar counts in.
    std::uint64_t cost() const {
        return 30 * items + (coded() ? 3 * bits() : 0) + 8 * laboratory::queries(why);
    }
    posy::geometry geometry(std::uint64_t trial) const {
        return {.bits = bits(),
                .hashes = hashes,
                .layout = layout_id::spread,
                .hash = hash_family::xxh3,
                .seed = {.low = stream << 32 | trial}};
    }
};

struct block {
    experiment what;
    tally* into;
    std::uint64_t first, last;  // trials
};
constexpr std::uint64_t block_trials = 32;

void check(bool right) {
    if (!right) throw failure("papers: a message did not come back as it was sent");
}

// The body as a message, by the coder for small arrays; one coding gives both sizes.
std::vector<std::byte> send(body_ref body, const bit_array& array, tally& t) {
    std::vector<std::byte> bytes = to_bytes(body, {.codec = codec_id::range});
    t.frame.add(bytes.size());
    t.payload.add(payload_size(bytes));
    const std::uint64_t ones = array.ones();
    t.ones.add(ones);
    const double bound = theory::log2_binomial(static_cast<double>(array.size()), static_cast<double>(ones));
    t.bound += static_cast<std::uint64_t>(std::llround(65536 * bound));
    return bytes;
}

// A filter of the geometry in the memory of an earlier one.
bloom_filter empty_filter(const geometry& g, bit_array memory) {
    memory.clear();
    return bloom_filter::from_bits(g, std::move(memory), 0);
}

// One thread's memory, kept from trial to trial.
class bench {
  public:
    explicit bench(const experiment& what)
        : what_(what),
          before_(take(bit_array::make(what.bits()), "papers")),
          after_(take(bit_array::make(what.replaced() ? what.bits() : 1), "papers")),
          keys_(items + what.replaced() + laboratory::queries(what.why)),
          digests_(keys_.size()),
          answers_(std::make_unique<bool[]>(laboratory::queries(what.why))) {
        std::iota(keys_.begin(), keys_.end(), std::uint64_t{0});
    }

    // The keys are 0, 1, …: the first n are the set; the last n of those before the absent keys its next
    // generation.
    void trial(std::uint64_t number, tally& t) {
        bloom_filter filter = empty_filter(what_.geometry(number), std::move(before_));
        filter.hash()(keys_, digests_);
        filter.insert(std::span(digests_).first(items));
        const bool read_back = number % block_trials == 0;
        if (what_.replaced() != 0) {
            bloom_filter next = empty_filter(what_.geometry(number), std::move(after_));
            next.insert(std::span(digests_).subspan(what_.replaced(), items));
            const filter_delta delta = take(make_delta(filter, next), "papers");
            const auto bytes = send(delta, delta.flips, t);
            if (read_back) {
                check(apply(filter, std::get<filter_delta>(take(from_bytes(bytes), "papers").body)) &&
                      filter == next);
                ++t.checks;
            }
            ask(next, t);
            after_ = std::move(next.bits());
        } else {
            if (what_.coded()) {
                const auto bytes = send(filter, filter.bits(), t);
                if (read_back) {
                    check(std::get<bloom_filter>(take(from_bytes(bytes), "papers").body) == filter);
                    ++t.checks;
                }
            }
            ask(filter, t);
        }
        before_ = std::move(filter.bits());
    }

  private:
    void ask(const bloom_filter& filter, tally& t) {
        const std::uint64_t queries = laboratory::queries(what_.why);
        t.hits.add(filter.may_contain(std::span(digests_).last(queries), {answers_.get(), queries}));
    }

    experiment what_;
    bit_array before_, after_;
    std::vector<std::uint64_t> keys_;
    std::vector<digest> digests_;
    std::unique_ptr<bool[]> answers_;
};

}  // namespace

// ---- Sums ------------------------------------------------------------------------------------------------

void observed::add(std::uint64_t value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
}

void observed::add(const observed& other) {
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
}

double observed::mean() const { return static_cast<double>(sum_) / static_cast<double>(count_); }
double observed::deviation() const {
    if (count_ < 2) return 0;
    const double squared = static_cast<double>(squares_) - static_cast<double>(sum_) * mean();
    return std::sqrt(std::max(0.0, squared) / static_cast<double>(count_ - 1));
}
double observed::standard_error() const { return deviation() / std::sqrt(static_cast<double>(count_)); }

void tally::add(const tally& other) {
    payload.add(other.payload);
    frame.add(other.frame);
    ones.add(other.ones);
    hits.add(other.hits);
    bound += other.bound;
    checks += other.checks;
}

double tally::bound_bytes() const {
    return static_cast<double>(bound) / (65536.0 * 8) / static_cast<double>(payload.count());
}

// ---- The laboratory --------------------------------------------------------------------------------------

void laboratory::want(purpose why, double bits_per_item, unsigned hashes, double change) {
    if (trials_ != 0) experiments_.try_emplace({why, bits_per_item, hashes, change});
}

const tally* laboratory::find(purpose why, double bits_per_item, unsigned hashes, double change) const {
    const auto found = experiments_.find({why, bits_per_item, hashes, change});
    return found == experiments_.end() ? nullptr : &found->second;
}

std::uint64_t laboratory::trials(purpose why) const {
    const std::uint64_t share = why == purpose::simulation ? 1 : why == purpose::column ? 100 : 1000;
    return (trials_ + share - 1) / share;
}

std::uint64_t laboratory::queries(purpose why) {
    return why == purpose::simulation ? 1000 : why == purpose::column ? 10'000 : 100'000;
}

void laboratory::run(unsigned threads) {
    std::vector<block> blocks;
    std::uint64_t total = 0, streams = 0;
    for (auto& [name, into] : experiments_) {
        const auto& [why, bits_per_item, hashes, change] = name;
        // The papers' cases share the seeds 0, 1, 2, …; every other experiment has its own.
        const std::uint64_t stream = why == purpose::simulation ? 0 : ++streams;
        const experiment what{why, bits_per_item, change, hashes, stream};
        for (std::uint64_t first = 0; first < trials(why); first += block_trials) {
            const std::uint64_t last = std::min(first + block_trials, trials(why));
            blocks.push_back({what, &into, first, last});
            total += what.cost() * (last - first);
        }
    }
    progress shown("simulating", total, progress::counting::work);
    std::mutex merging;
    std::exception_ptr failed;
    base::for_each_index(blocks.size(), threads, [&](std::size_t i) {
        const block& b = blocks[i];
        try {
            tally t;
            bench place(b.what);
            for (std::uint64_t trial = b.first; trial < b.last; ++trial) place.trial(trial, t);
            const std::lock_guard lock(merging);
            b.into->add(t);
            shown.add(b.what.cost() * (b.last - b.first));
        } catch (...) {
            const std::lock_guard lock(merging);
            failed = std::current_exception();
        }
    });
    if (failed) std::rethrow_exception(failed);
}

rate_check check_rate(const tally& t, purpose why, double bits_per_item, unsigned hashes) {
    const double n = items, m = std::round(bits_per_item * n), k = hashes;
    const auto asked = static_cast<double>(laboratory::queries(why));
    const double f = theory::spread_rate(n, m, hashes);
    // d/dX (X/m)^k = k (X/m)^(k−1) / m, at the mean fill.
    const double fill = 1 - theory::zero_probability(n, m, k);
    const double slope = k * std::pow(fill, k - 1) / m;
    const double between = slope * slope * theory::zero_count_variance(n, m, k);
    const double one = f * (1 - f) / asked + between;
    return {t.hits.mean() / asked, f, std::sqrt(one / static_cast<double>(t.hits.count()))};
}

}  // namespace posy::tool::papers
