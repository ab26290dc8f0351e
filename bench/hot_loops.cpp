// The loops that have to stay fast, each on a fixed input, for counting their instructions under callgrind:
// a figure that is the same on a busy machine and on a quiet one. bench/hot_loops runs it.
//
//   posy-hot-loops [NAME-PART]      all loops, or those whose name holds it; for a profiler, too
//
// Every loop is run once to warm up and once to be counted. Arrays fit into the caches: this guards the
// instructions, and says nothing of memory. Prints the compiler, then a line a loop: name and operations.
#include <valgrind/callgrind.h>
#include <posy/algebra.hpp>
#include <posy/counting_filter.hpp>
#include <posy/estimate.hpp>
#include <posy/message.hpp>
#include <posy/plan.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace posy;

constexpr std::size_t keys = 20'000;

// Keeps what a loop has found, so that it has to be found.
volatile std::size_t kept;

struct inputs {
    std::vector<std::uint64_t> in, out;  // keys that are inserted, keys that are not
    std::vector<std::string> urls;
    std::vector<std::string_view> texts;
    std::vector<digest> digests = std::vector<digest>(keys);
    std::unique_ptr<bool[]> answers{new bool[keys]};

    inputs() {
        std::mt19937_64 random(1);
        for (std::size_t i = 0; i < keys; ++i) {
            in.push_back(random() | 1);
            out.push_back(random() & ~std::uint64_t{1});
            urls.push_back("http://www.example.org/page/" + std::to_string(10'000'000 + i));
        }
        texts.assign(urls.begin(), urls.end());
    }
    std::span<bool> room() { return {answers.get(), keys}; }
};

class loops {
  public:
    explicit loops(std::string_view wanted) : wanted_(wanted) {}

    // `prepare` is not counted.
    void run(const std::string& name, std::size_t operations, const std::function<void()>& prepare,
             const std::function<void()>& work) const {
        if (name.find(wanted_) == std::string::npos) return;
        for (int pass = 0; pass < 2; ++pass) {
            prepare();
            CALLGRIND_ZERO_STATS;
            work();
            if (pass == 1) CALLGRIND_DUMP_STATS_AT(name.c_str());
        }
        std::printf("%s %zu\n", name.c_str(), operations);
    }
    void run(const std::string& name, std::size_t operations, const std::function<void()>& work) const {
        run(
            name, operations, [] {}, work);
    }

  private:
    std::string wanted_;
};

// Ten bits a key and the number of hashes that is best for the layout.
geometry shape(layout_id layout) {
    return choose({.items = keys, .bits_per_item = 10, .layout = layout})->geometry();
}

void hashing(const loops& each, inputs& with) {
    const hasher hash;
    each.run("hash integers", keys, [&] { hash(with.in, with.digests); });
    each.run("hash urls", keys, [&] { hash(with.texts, with.digests); });
}

void insertions(const loops& each, inputs& with, auto& filter, const std::string& of) {
    const hasher hash = filter.hash();
    const auto empty = [&] { filter.clear(); };
    each.run("insert" + of, keys, empty, [&] {
        for (const std::uint64_t key : with.in) filter.insert(hash(key));
    });
    each.run("insert batched" + of, keys, empty, [&] { filter.insert(with.in); });
}

void filters(const loops& each, inputs& with, layout_id layout) {
    auto filter = *bloom_filter::make(shape(layout));
    const hasher hash = filter.hash();
    const std::string of = ' ' + std::string(name_of(layout));
    insertions(each, with, filter, of);
    const auto ask = [&](const std::string& name, const std::vector<std::uint64_t>& asked) {
        each.run(name + of, keys, [&] {
            std::size_t yes = 0;
            for (const std::uint64_t key : asked) yes += filter.may_contain(hash(key));
            kept = yes;
        });
        each.run(name + " batched" + of, keys, [&] { kept = filter.may_contain(asked, with.room()); });
    };
    ask("absent", with.out);
    ask("present", with.in);
}

void counters(const loops& each, inputs& with, layout_id layout) {
    auto filter = *counting_filter::make(shape(layout));
    const hasher hash = filter.hash();
    const std::string of = " counting " + std::string(name_of(layout));
    insertions(each, with, filter, of);
    const auto full = [&] {
        filter.clear();
        filter.insert(with.in);
    };
    each.run("remove" + of, keys, full, [&] {
        for (const std::uint64_t key : with.in) filter.remove(hash(key));
    });
    each.run("remove batched" + of, keys, full, [&] { kept = filter.remove(with.in, with.room()); });
}

// Whole arrays; an operation is a word of 64 bits.
void arrays(const loops& each, inputs& with) {
    auto a = *bloom_filter::make(shape(layout_id::spread)), b = *a.clone(), sparse = *a.clone();
    a.insert(std::span<const std::uint64_t>(with.in).first(keys / 4));
    b.insert(std::span<const std::uint64_t>(with.out).first(keys / 4));
    sparse.insert(std::span<const std::uint64_t>(with.in).first(keys / 100));
    const std::size_t words = a.bits().words().size();
    each.run("unite", words, [&] { kept = unite(a, b).ok(); });
    each.run("intersect", words, [&] { kept = intersect(b, a).ok(); });
    each.run("count ones", words, [&] { kept = a.ones(); });
    each.run("estimate items", words, [&] { kept = estimate_items(a).value > 0; });
    const auto code = [&](codec_id codec, const bloom_filter& filter) {
        const packing how{.codec = codec};
        const auto coded = to_bytes(filter, how);
        const std::string name(name_of(codec));
        each.run("encode " + name, words, [&] { kept = to_bytes(filter, how).size(); });
        each.run("decode " + name, words, [&] { kept = from_bytes(coded).ok(); });
    };
    code(codec_id::bytes, a);
    code(codec_id::gaps, sparse);
    code(codec_id::range, sparse);
}

}  // namespace

int main(int argc, char** argv) {
    const loops each(argc > 1 ? argv[1] : "");
    std::printf("compiler " __VERSION__ "\n");
    inputs with;
    hashing(each, with);
    for (const layout_id layout : {layout_id::spread, layout_id::blocked, layout_id::paired})
        filters(each, with, layout);
    for (const layout_id layout : {layout_id::spread, layout_id::narrow}) counters(each, with, layout);
    arrays(each, with);
}
