// The queryable forms: how many bytes over log2 C(m, x), and how long a lookup takes, of one bit and of whole
// keys, beside the raw array ("bit/raw", "absent" in lookup_bench.cpp).
//
// A lookup asks for one random bit; the next does not wait for its answer. "ahead" fetches memory 8 lookups
// earlier.
#include "codec/elias_fano.hpp"
#include "codec/rice_blocks.hpp"
#include "posy/base/wide.hpp"
#include "posy/compressed_filter.hpp"
#include "posy/theory.hpp"
#include "support.hpp"

namespace posy::bench {
namespace {

constexpr std::size_t lookups = 1 << 20;

struct shape {
    std::uint64_t items, bits_per_item;
    unsigned hashes;
};

bloom_filter sparse(const shape& of) {
    auto filter = *bloom_filter::make({of.items * of.bits_per_item, of.hashes, layout_id::spread});
    filter.insert(random_keys(of.items));
    return filter;
}

std::vector<std::uint64_t> positions(std::uint64_t bits) {
    auto random = random_keys(lookups, 2);
    for (std::uint64_t& each : random) each = base::scale(each, bits);
    return random;
}

// `Form` answers test(position) and prefetch(position), as a bit array does.
template <class Form>
void bits(benchmark::State& state, const Form& form, std::uint64_t size, bool ahead) {
    const auto asked = positions(size);
    for (auto _ : state) {
        std::uint64_t yes = 0;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (ahead) form.prefetch(asked[std::min(i + 8, asked.size() - 1)]);
            yes += form.test(asked[i]);
        }
        benchmark::DoNotOptimize(yes);
    }
    per_item(state, asked.size());
}

template <class Form, class Encode>
void coded_bits(benchmark::State& state, const shape& of, bool ahead, Encode encode) {
    const auto filter = sparse(of);
    const double ones = static_cast<double>(filter.ones()),
                 size = static_cast<double>(filter.geometry().bits);
    const std::vector<std::byte> bytes =
        encode(codec::bit_view{filter.bits().words(), filter.geometry().bits, filter.ones()});
    bits(state, *Form::open(bytes, filter.geometry().bits), filter.geometry().bits, ahead);
    state.counters["over_bound_%"] =
        (static_cast<double>(bytes.size()) * 8 / theory::log2_binomial(size, ones) - 1) * 100;
}

void absent_keys(benchmark::State& state, const shape& of, queryable_form form) {
    const auto filter = *compressed_filter::make(sparse(of), form);
    const auto digests = random_digests(lookups, 3);
    const std::unique_ptr<bool[]> answers(new bool[lookups]);
    for (auto _ : state)
        benchmark::DoNotOptimize(filter.may_contain(digests, std::span(answers.get(), lookups)));
    per_item(state, lookups);
}

const bool registered = [] {
    for (const shape of :
         {shape{10'000, 14, 2}, shape{10'000, 92, 1}, shape{10'000'000, 14, 2}, shape{10'000'000, 92, 1}}) {
        const std::string name = "/" + std::to_string(of.bits_per_item) + "," + std::to_string(of.hashes) +
                                 "/" + std::to_string(of.items);
        const auto add = [&](const std::string& what, auto body) {
            benchmark::RegisterBenchmark((what + name).c_str(), body)->Unit(benchmark::kMillisecond);
        };
        for (const bool ahead : {false, true}) {
            const std::string how = ahead ? "bit_ahead" : "bit";
            add(how + "/raw", [=](benchmark::State& state) {
                const auto filter = sparse(of);
                bits(state, filter.bits(), filter.geometry().bits, ahead);
            });
            add(how + "/small", [=](benchmark::State& state) {
                coded_bits<codec::rice_blocks>(state, of, ahead, codec::encode_rice_blocks);
            });
            add(how + "/fast", [=](benchmark::State& state) {
                coded_bits<codec::elias_fano>(state, of, ahead, codec::encode_elias_fano);
            });
        }
        for (const queryable_form form : {queryable_form::small, queryable_form::fast})
            add("absent_keys/" + std::string(name_of(form)),
                [=](benchmark::State& state) { absent_keys(state, of, form); });
    }
    return true;
}();

}  // namespace
}  // namespace posy::bench
