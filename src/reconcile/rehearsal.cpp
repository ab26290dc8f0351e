#include "rehearsal.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "reconcile/difference_sketch.hpp"
#include "strategy.hpp"
#include "wire.hpp"

namespace posy::reconcile {
namespace {

using generator = std::mt19937_64;

void add_random(std::vector<digest>& to, std::uint64_t count, generator& random) {
    for (std::uint64_t i = 0; i < count; ++i) to.push_back({random(), random()});
}

// The difference of two sets, as a session discovers it.
class difference {
  public:
    virtual ~difference() = default;
    virtual double sketched() = 0;
    // How much of the difference is in the first `elements` elements of the peer's list; fixed by the call.
    virtual double list(std::uint64_t elements) = 0;
    // The difference of the sizes of the remaining sets, the peer's and this side's.
    virtual double balance() const = 0;
    // Receives symbols up to this one. Do they determine the difference?
    virtual bool receive(std::uint64_t until) = 0;
    virtual double estimated() const = 0;
};

// The elements of the difference only: what both sets have cancels in sketches and symbols.
class real_difference final : public difference {
  public:
    real_difference(const set_sizes& sizes, digest_width width, generator& random)
        : sizes_(sizes),
          random_(random),
          here_(make(width, sizes.only_here)),
          there_(make(width, sizes.only_there)) {}

    double sketched() override {
        return estimate_difference(difference_sketch::of(here_), difference_sketch::of(there_)).value;
    }
    // The last element listed is where as many of the peer's are before it, common ones among them.
    double list(std::uint64_t elements) override {
        const auto n = static_cast<double>(sizes_.there()), common = static_cast<double>(sizes_.common);
        double share = static_cast<double>(elements) / n;
        const double miss = std::normal_distribution()(random_) * std::sqrt(common * share * (1 - share));
        const double before = common * share + miss + static_cast<double>(rank(there_, share));
        share = std::clamp(share - (before - share * n) / n, 0.0, 1.0);
        const auto settled = static_cast<double>(rank(here_, share) + rank(there_, share));
        here_ = rest(here_, rank(here_, share));
        there_ = rest(there_, rank(there_, share));
        return settled;
    }
    double balance() const override {
        return static_cast<double>(there_.size()) - static_cast<double>(here_.size());
    }
    bool receive(std::uint64_t until) override {
        if (!decoder_) {
            encoder_.emplace(there_);
            decoder_.emplace(here_);
        }
        (void)decoder_->receive(encoder_->next(until - encoder_->position()));
        return decoder_->complete();
    }
    double estimated() const override { return decoder_->estimate_difference().value; }

  private:
    digest_set make(digest_width width, std::uint64_t count) {
        std::vector<digest> elements;
        add_random(elements, count, random_);
        return {hasher(), width, std::move(elements)};
    }
    static std::size_t rank(const digest_set& set, double share) {
        const auto before = [&](const digest& d) {
            return std::ldexp(static_cast<double>(d.low), -64) < share;
        };
        return static_cast<std::size_t>(std::ranges::partition_point(set.elements(), before) -
                                        set.elements().begin());
    }
    static digest_set rest(const digest_set& set, std::size_t from) {
        const auto some = set.elements().subspan(from);
        return {set.hash(), set.width(), std::vector(some.begin(), some.end())};
    }

    set_sizes sizes_;
    generator& random_;
    digest_set here_, there_;
    std::optional<symbol_encoder> encoder_;
    std::optional<symbol_decoder> decoder_;
};

// Numbers of elements only, from the distributions of theory.
class counted_difference final : public difference {
  public:
    counted_difference(const set_sizes& sizes, generator& random)
        : sizes_(sizes),
          random_(random),
          here_(static_cast<double>(sizes.only_here)),
          there_(static_cast<double>(sizes.only_there)) {}

    double sketched() override {
        constexpr double sums = difference_sketch::size;
        return std::max(left() * chi_square(sums) / sums, std::abs(balance()));
    }
    // Those of the peer are drawn without putting back; those of this side are before a place that varies.
    double list(std::uint64_t elements) override {
        const auto n = static_cast<double>(sizes_.there());
        const double share = static_cast<double>(elements) / n, spread = share * (1 - share);
        const double theirs = normal(there_ * share, std::sqrt(there_ * (1 - there_ / n) * spread));
        const double ours = normal(here_ * share, std::sqrt(here_ * (1 + here_ / n) * spread));
        here_ -= std::clamp(ours, 0.0, here_);
        there_ -= std::clamp(theirs, 0.0, there_);
        return std::max(ours + theirs, 0.0);
    }
    double balance() const override { return there_ - here_; }
    bool receive(std::uint64_t until) override {
        const auto now = static_cast<double>(until);
        if (have_ == 0) {
            needed_ = normal(theory::symbols_needed(left()), theory::symbols_deviation(left()));
            have_ = 1;  // the first symbol says only the balance
        }
        squares_ += left() * chi_square(now - have_);
        have_ = now;
        return have_ >= needed_;
    }
    double estimated() const override { return std::max(squares_ / (have_ - 1), std::abs(balance())); }

  private:
    double left() const { return here_ + there_; }
    double normal(double mean, double deviation) {
        return mean + deviation * std::normal_distribution()(random_);
    }
    double chi_square(double freedom) {
        return freedom > 0 ? std::chi_squared_distribution(freedom)(random_) : 0;
    }

    set_sizes sizes_;
    generator& random_;
    double here_, there_, needed_ = 0, have_ = 0, squares_ = 0;
};

// One session, message by message, as in session.cpp.
class conversation {
  public:
    conversation(const set_sizes& sizes, digest_width width, const wire& bytes)
        : strategy_(width), wire_(bytes), there_(sizes.there()) {}

    void run(difference& what, double sketch, tally& all) {
        bytes_ = sketch;
        const double d = what.sketched();
        const std::uint64_t listed = strategy_.first_listed(d, there_);
        std::uint64_t until = 0;
        if (listed > 0 || there_ == 0) {
            part(0, listed);
            if (listed < there_) {
                const auto rest = static_cast<double>(there_ - listed);
                const double found = what.list(listed);
                const double left =
                    std::max(found / static_cast<double>(listed) * rest, std::abs(what.balance()));
                until = ask(strategy_.first_symbols(left, there_ - listed));
            }
        } else {
            until = strategy_.first_symbols(d, there_);
        }
        const bool whole = listed == there_ || !symbols(what, until, there_ - listed);
        if (whole && listed < there_) part(listed, there_ - listed);
        all.add(bytes_, trips_, whole);
    }

  private:
    // True when they were enough, false when the list is to come.
    bool symbols(difference& what, std::uint64_t until, std::uint64_t left) {
        std::uint64_t have = 0;
        for (unsigned questions = 0; until > 0; ++questions) {
            bytes_ += wire_.symbols(static_cast<double>(left), static_cast<double>(have),
                                    static_cast<double>(until - have));
            have = until;
            if (what.receive(until)) return true;
            until = ask(strategy_.more_symbols(what.estimated(), have, questions, left));
        }
        return false;
    }
    std::uint64_t ask(std::uint64_t until) {
        bytes_ += wire_.more(static_cast<double>(until));
        ++trips_;
        return until;
    }
    void part(std::uint64_t first, std::uint64_t count) {
        bytes_ +=
            wire_.part(static_cast<double>(there_), static_cast<double>(first), static_cast<double>(count));
    }

    strategy strategy_;
    const wire& wire_;
    std::uint64_t there_;
    double bytes_ = 0, trips_ = 1;
};

}  // namespace

forecast tally::means() const {
    const double mean = bytes / runs;
    return {.bytes = mean,
            .deviation = std::sqrt(std::max(0.0, squares / runs - mean * mean)),
            .round_trips = round_trips / runs,
            .listed = listed / runs};
}

result<tally> rehearse_sessions(const set_sizes& sizes, digest_width width, const hasher& hash) {
    generator random(1);
    tally all;
    for (int run = 0; run < 2000; ++run) {
        std::vector<digest> here, there;
        add_random(here, sizes.common, random);
        there = here;
        add_random(here, sizes.only_here, random);
        add_random(there, sizes.only_there, random);
        const digest_set mine(hash, width, std::move(here)), theirs(hash, width, std::move(there));
        auto ask = session::ask(mine, {});
        if (!ask) return ask.error();
        auto answer = session::answer(theirs, {});
        while (!ask->done()) {
            while (const auto message = ask->send())
                if (auto taken = answer.receive(*message); !taken) return taken.error();
            while (const auto message = answer.send())
                if (auto taken = ask->receive(*message); !taken) return taken.error();
        }
        const outcome& found = ask->found();
        all.add(static_cast<double>(found.finding.sent + found.finding.received),
                static_cast<double>(found.finding.round_trips), found.listed == theirs.size());
    }
    return all;
}

result<tally> rehearse_exact(const set_sizes& sizes, digest_width width, const hasher& hash) {
    generator random(2);
    const wire bytes(width, hash);
    const double sketch = bytes.sketch(static_cast<double>(sizes.here()));
    const bool real = sizes.difference() <= drawn_from;
    const auto runs =
        real ? std::clamp<std::uint64_t>(150'000 / (sizes.difference() + 1), 300, 5'000) : 5'000;
    tally all;
    for (std::uint64_t run = 0; run < runs; ++run) {
        conversation one(sizes, width, bytes);
        if (real) {
            real_difference what(sizes, width, random);
            one.run(what, sketch, all);
        } else {
            counted_difference what(sizes, random);
            one.run(what, sketch, all);
        }
    }
    return all;
}

}  // namespace posy::reconcile
