// A filter, sketch or map that carries its own oracle. checked<T> has the verbs of T. Beside the T it keeps
// the truth, a std::unordered_map from the digest of each key to a number, and holds the T to its promise
// (oracle.hpp) in every call: no key that is there is denied, no count is too low, every value is right, the
// number of items is true, and batches answer as single calls do.
//
// A call is checked for the keys it names. A change is also checked for the other keys, all of them while
// they are few, and some in turn when they are many. What makes another object (a union, a message read back)
// is checked for all keys, and so is every object at its end. The first contradiction is reported, at the
// line where the object was made.
//
// Not checked here: false positives, which have a rate and tests of their own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "oracle.hpp"
#include "posy/algebra.hpp"
#include "posy/message.hpp"

namespace posy {

template <class Type>
class checked {
    struct digest_hash {
        std::size_t operator()(const digest& d) const { return d.low ^ d.high; }
    };

  public:
    using truth = std::unordered_map<digest, std::uint64_t, digest_hash>;

    explicit checked(Type object, const char* file = __builtin_FILE(), int line = __builtin_LINE())
        : checked(std::move(object), std::span<const digest>(), file, line) {}
    // An object that holds these keys already.
    checked(Type object, std::span<const digest> members, const char* file = __builtin_FILE(),
            int line = __builtin_LINE())
        : object_(std::move(object)), file_(file), line_(line) {
        for (const digest d : members) set(d, rules::inserted(number_of(d).value_or(0), 1));
        check_all();
    }
    // And has these numbers for them.
    checked(Type object, std::span<const digest> members, std::span<const std::uint64_t> numbers,
            const char* file = __builtin_FILE(), int line = __builtin_LINE())
        : object_(std::move(object)), file_(file), line_(line) {
        for (std::size_t i = 0; i < members.size(); ++i) set(members[i], numbers[i]);
        check_all();
    }
    checked(checked&&) = default;
    ~checked() { check_keys(); }

    const Type& operator*() const { return object_; }
    const Type* operator->() const { return &object_; }
    const truth& known() const { return truth_; }
    // The number of a key; nothing if it never came.
    std::optional<std::uint64_t> number_of(digest d) const {
        const auto found = truth_.find(d);
        return found == truth_.end() ? std::nullopt : std::optional(found->second);
    }

    // ---- Sets. Keys are a digest, or a range of digests, integers or texts; a time or a number of times may
    // follow. What is refused leaves the truth as it was.

    template <class Keys, class... More>
    auto insert(const Keys& keys, More... more) {
        const auto note = [&] {
            change(digests_of(keys), [&](std::uint64_t n) { return rules::inserted(n, more...); });
        };
        if constexpr (std::is_void_v<decltype(object_.insert(keys, more...))>) {
            object_.insert(keys, more...);
            note();
        } else {
            auto done = object_.insert(keys, more...);
            done ? note() : check_some();
            return done;
        }
    }
    void insert_concurrently(std::span<const digest> digests) {
        object_.insert_concurrently(digests);
        change(digests_of(digests), [](std::uint64_t n) { return n + 1; });
    }
    // Only what is there may be removed, as the types demand; what is certainly absent is refused.
    auto remove(digest d) {
        auto removed = object_.remove(d);
        if constexpr (std::same_as<decltype(removed), bool>) {
            take_away(d, removed);
        } else {
            take_away(d, removed && *removed);
        }
        check_some();
        return removed;
    }
    template <class Keys>
    std::size_t remove(const Keys& keys, std::span<bool> removed) {
        const std::size_t count = object_.remove(keys, removed);
        const auto digests = digests_of(keys);
        for (std::size_t i = 0; i < digests.size(); ++i) take_away(digests[i], removed[i]);
        check_some();
        expect(count == count_true(removed), "the number of keys that were removed");
        return count;
    }
    void clear() {
        object_.clear();
        truth_.clear();
        sum_ = 0;
        check_all();
    }

    template <class... When>
    bool may_contain(digest d, When... when) const {
        check(d, when...);
        return object_.may_contain(d, when...);
    }
    template <class Keys>
    std::size_t may_contain(const Keys& keys, std::span<bool> answers) const {
        const std::size_t yes = object_.may_contain(keys, answers);
        check_batch(digests_of(keys), answers, [&](digest d) { return object_.may_contain(d); });
        expect(yes == count_true(answers), "the number of keys that may be there");
        return yes;
    }
    std::size_t may_contain(std::span<const digest> digests, std::uint64_t time,
                            std::span<bool> answers) const {
        const std::size_t yes = object_.may_contain(digests, time, answers);
        check_batch(digests, answers, [&](digest d) { return may_contain(d, time); });
        expect(yes == count_true(answers), "the number of keys that may be there");
        return yes;
    }

    // ---- Multisets and maps.

    std::uint64_t add(digest d, std::uint64_t weight = 1) {
        const std::uint64_t estimate = object_.add(d, weight);
        change({d}, [&](std::uint64_t n) { return n + weight; });
        expect(estimate == object_.estimate(d), "the estimate of a key that was added");
        return estimate;
    }
    template <class Keys>
    void add(const Keys& keys, std::span<std::uint64_t> estimates = {}) {
        object_.add(keys, estimates);
        change(digests_of(keys), [](std::uint64_t n) { return n + 1; });
    }
    void add(std::string_view key, digest d, std::uint64_t weight = 1) {
        object_.add(key, d, weight);
        change({d}, [&](std::uint64_t n) { return n + weight; });
    }
    void add(std::span<const std::string_view> keys, std::span<const digest> digests) {
        object_.add(keys, digests);
        change(digests_of(digests), [](std::uint64_t n) { return n + 1; });
    }

    std::uint64_t estimate(digest d) const {
        check(d);
        return object_.estimate(d);
    }
    void estimate(std::span<const digest> digests, std::span<std::uint64_t> estimates) const {
        object_.estimate(digests, estimates);
        check_batch(digests, estimates, [&](digest d) { return object_.estimate(d); });
    }
    std::uint64_t at_most(digest d) const {
        check(d);
        return object_.at_most(d);
    }
    std::optional<std::uint64_t> find(digest d) const {
        check(d);
        return object_.find(d);
    }
    std::size_t find(std::span<const digest> digests, std::span<std::optional<std::uint64_t>> answers) const {
        const std::size_t found = object_.find(digests, answers);
        check_batch(digests, answers, [&](digest d) { return object_.find(d); });
        expect(found == static_cast<std::size_t>(std::ranges::count_if(
                            answers, [](const auto& value) { return value.has_value(); })),
               "the number of keys with a value");
        return found;
    }
    // Nothing is counted too low, listed twice or listed without having come, and the list is complete from
    // where it says it is.
    auto report() const {
        auto list = object_.report();
        std::unordered_set<std::string_view> listed;
        std::uint64_t above = ~std::uint64_t{0};
        for (const heavy_hitter& each : list.keys) {
            const auto weight = number_of(object_.hash()(each.key));
            expect(weight && each.count >= *weight, "the count of " + each.key);
            expect(each.count <= above, "the order of the list at " + each.key);
            expect(listed.insert(each.key).second, "a list that has twice " + each.key);
            above = each.count;
        }
        std::size_t due = 0, there = 0;
        for (const auto& [d, weight] : truth_) due += weight >= list.complete_from;
        for (const heavy_hitter& each : list.keys)
            there += number_of(object_.hash()(each.key)).value_or(0) >= list.complete_from;
        expect(due == there, "a list that leaves out keys");
        return list;
    }

    // ---- Whole objects.

    friend result<void> unite(checked& into, const checked& from) {
        auto done = unite(into.object_, from.object_);
        if (done) into.join(from);
        into.check_all();
        return done;
    }
    friend result<void> intersect(checked& into, const checked& from) {
        auto done = intersect(into.object_, from.object_);
        if (done) into.keep_common(from);
        into.check_all();
        return done;
    }
    friend result<checked> fold(const checked& filter, std::uint64_t divisor) {
        auto folded = fold(filter.object_, divisor);
        if (!folded) return folded.error();
        return filter.as(std::move(*folded));
    }
    result<void> shrink() {
        auto done = object_.shrink();
        check_all();
        return done;
    }
    result<checked<bloom_filter>> fold_down() const {
        auto folded = object_.fold_down();
        if (!folded) return folded.error();
        return as(std::move(*folded));
    }
    // The same object, written as a message and read back.
    checked sent() const { return as(std::get<Type>(std::move(from_bytes(to_bytes(object_))->body))); }

    // The same keys in an object of another type.
    template <class Other>
    checked<Other> as(Other other) const {
        std::vector<digest> keys;
        std::vector<std::uint64_t> numbers;
        for (const auto& [d, number] : truth_) keys.push_back(d), numbers.push_back(number);
        return checked<Other>(std::move(other), keys, numbers, file_, line_);
    }

  private:
    using rules = oracle<Type>;

    template <class Keys>
    std::vector<digest> digests_of(const Keys& keys) const {
        if constexpr (std::same_as<Keys, digest>) {
            return {keys};
        } else {
            std::vector<digest> digests;
            for (const auto& key : keys) {
                if constexpr (std::same_as<std::remove_cvref_t<decltype(key)>, digest>) {
                    digests.push_back(key);
                } else {
                    digests.push_back(object_.hash()(key));
                }
            }
            return digests;
        }
    }
    static std::size_t count_true(std::span<const bool> answers) {
        return static_cast<std::size_t>(std::ranges::count(answers, true));
    }

    void set(digest d, std::uint64_t number) {
        auto& known = truth_[d];
        sum_ += number - known;
        known = number;
    }
    template <class Number>
    void change(const std::vector<digest>& digests, Number number) {
        for (const digest d : digests) set(d, number(number_of(d).value_or(0)));
        for (const digest d : digests) check(d);
        check_some();
    }
    void take_away(digest d, bool removed) {
        const std::uint64_t before = number_of(d).value_or(0);
        expect(removed == (before > 0), removed ? "the removal of a key that is not there"
                                                : "the refusal to remove a key that is there");
        if (removed && before > 0) set(d, before - 1);
    }
    void join(const checked& from) {
        for (const auto& [d, number] : from.truth_) set(d, rules::united(number_of(d).value_or(0), number));
    }

    void keep_common(const checked& with) {
        std::erase_if(truth_, [&](const auto& each) {
            const bool common = with.number_of(each.first).has_value();
            if (!common) sum_ -= each.second;
            return !common;
        });
    }

    template <class... When>
    void check(digest d, When... when) const {
        const auto known = truth_.find(d);
        if (known != truth_.end())
            expect(rules::keeps(object_, d, known->second, when...), "a key of number ", known->second);
    }
    template <class Answers, class Single>
    void check_batch(std::span<const digest> digests, const Answers& answers, Single single) const {
        for (std::size_t i = 0; i < digests.size(); ++i) {
            expect(answers[i] == single(digests[i]), "a batch at number ", i);
            check(digests[i]);
        }
    }
    // Some keys, others every time.
    void check_some() const {
        const std::size_t buckets = truth_.bucket_count();
        for (std::size_t i = std::min(buckets, rules::watched); i > 0; --i, ++next_) {
            const std::size_t bucket = next_ % buckets;
            for (auto each = truth_.begin(bucket); each != truth_.end(bucket); ++each)
                expect(rules::keeps(object_, each->first, each->second), "a key of number ", each->second);
        }
        expect(rules::adds_up(object_, truth_.size(), sum_), "the number of items");
    }
    void check_keys() const {
        for (const auto& [d, number] : truth_)
            expect(rules::keeps(object_, d, number), "a key of number ", number);
    }
    void check_all() const {
        check_keys();
        expect(rules::adds_up(object_, truth_.size(), sum_), "the number of items");
    }

    // One report per object: what follows from the first contradiction is no news.
    template <class... What>
    void expect(bool holds, const What&... what) const {
        if (holds || std::exchange(failed_, true)) return;
        auto failure = testing::Message() << "the object contradicts its oracle in ";
        (failure << ... << what);
        ADD_FAILURE_AT(file_, line_) << failure;
    }

    Type object_;
    truth truth_{};
    std::uint64_t sum_ = 0;  // of the numbers
    const char* file_;
    int line_;
    mutable std::size_t next_ = 0;
    mutable bool failed_ = false;
};

}  // namespace posy
