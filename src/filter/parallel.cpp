#include "posy/parallel.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "batches.hpp"
#include "kernels.hpp"
#include "layout/all.hpp"
#include "posy/base/threads.hpp"

namespace posy {
namespace {

constexpr std::size_t most_regions = 32;
constexpr std::size_t buffer_size = 4096;  // entries of a region that wait to be worked off together

// Regions are runs of 2^shift units, long enough that most_regions of them cover `units`.
struct division {
    unsigned shift = 0;
    std::size_t regions = 0;

    division(std::uint64_t units, std::size_t most) {
        while ((units - 1) >> shift >= most) ++shift;
        regions = static_cast<std::size_t>(((units - 1) >> shift) + 1);
    }
};

// Layouts in lines: an entry is the digest that rules a part, in the region of its line. A part is a filter
// of its own.
template <class Layout>
class line_sorter {
  public:
    using entry = digest;

    explicit line_sorter(bloom_filter& filter)
        : layout_(filter.geometry()),
          words_(filter.bits().words().data()),
          part_{filter.geometry().bits / Layout::parts, filter.geometry().hashes / Layout::parts,
                Layout::of_part},
          in_part_(layout_.line_count(), most_regions / Layout::parts),
          kernel_(&kernels::kernel_for(part_)) {}
    std::size_t regions() const { return in_part_.regions * Layout::parts; }

    template <class Put>
    void sort(digest d, Put put) const {
        for (unsigned part = 0; part < Layout::parts; ++part) {
            const digest own = Layout::in_part(part, d);
            const std::uint64_t line = layout_.line_of(0, own);
            put(part * in_part_.regions + (line >> in_part_.shift), own);
        }
    }
    void work_off(std::size_t region, std::span<const digest> digests) const {
        std::uint64_t* words = words_ + region / in_part_.regions * (part_.bits / 64);
        kernels::in_windows(
            hasher(), digests, [&](auto... later) { kernel_->fetch(words, part_, later...); },
            [&](const digest* now, std::size_t count, bool more, std::size_t) {
                kernel_->insert(words, part_, now, count, more);
            });
    }

  private:
    Layout layout_;
    std::uint64_t* words_;
    geometry part_;
    division in_part_;
    const kernels::filter_kernel* kernel_;
};

// Layouts whose probes go anywhere: an entry is a position.
template <class Layout>
class position_sorter {
  public:
    using entry = std::uint64_t;

    explicit position_sorter(bloom_filter& filter)
        : layout_(filter.geometry()),
          words_(filter.bits().words().data()),
          // Regions of whole cache lines.
          all_((filter.geometry().bits - 1) / 512 + 1, most_regions) {}
    std::size_t regions() const { return all_.regions; }

    template <class Put>
    void sort(digest d, Put put) const {
        layout_.positions(d, [&](std::uint64_t position) {
            put(position >> 9 >> all_.shift, position);
            return true;
        });
    }
    void work_off(std::size_t, std::span<const std::uint64_t> positions) const {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            if (i + kernels::window < positions.size())
                kernels::prefetch(words_, positions[i + kernels::window]);
            words_[positions[i] / 64] |= std::uint64_t{1} << positions[i] % 64;
        }
    }

  private:
    Layout layout_;
    std::uint64_t* words_;
    division all_;
};

}  // namespace

struct parallel_build::engine {
    explicit engine(bloom_filter& f) : filter(f) {}
    virtual ~engine() = default;
    virtual void insert(std::span<const digest>) = 0;
    virtual void finish() {}

    bloom_filter& filter;
};

namespace {

struct atomic_build final : parallel_build::engine {
    using engine::engine;
    void insert(std::span<const digest> digests) override { filter.insert_concurrently(digests); }
};

template <class Sorter>
class divided_build final : public parallel_build::engine {
  public:
    explicit divided_build(bloom_filter& f) : engine(f), sorter_(f), locks_(sorter_.regions()) {}

    void insert(std::span<const digest> digests) override {
        auto buffers = take_buffers();
        for (const digest d : digests) {
            sorter_.sort(d, [&](std::size_t region, const entry& e) {
                buffer& b = (*buffers)[region];
                b.entries[b.size] = e;
                if (++b.size == buffer_size) work_off(region, b);
            });
        }
        count_.fetch_add(digests.size(), std::memory_order_relaxed);
        const std::lock_guard lock(pool_lock_);
        pool_.push_back(std::move(buffers));
    }

    void finish() override {
        for (auto& buffers : pool_) {
            for (std::size_t region = 0; region < sorter_.regions(); ++region)
                work_off(region, (*buffers)[region]);
        }
        pool_.clear();
        if (filter.items()) {
            const std::uint64_t room = bloom_filter::max_items - *filter.items();
            filter.set_items(*filter.items() + std::min<std::uint64_t>(room, count_.exchange(0)));
        }
    }

  private:
    using entry = typename Sorter::entry;
    struct buffer {
        std::size_t size = 0;
        std::array<entry, buffer_size> entries;
    };
    using buffer_set = std::unique_ptr<std::array<buffer, most_regions>>;

    // A set of buffers that no thread uses; it may still hold digests of an earlier call.
    buffer_set take_buffers() {
        const std::lock_guard lock(pool_lock_);
        if (pool_.empty()) return std::make_unique<std::array<buffer, most_regions>>();
        auto buffers = std::move(pool_.back());
        pool_.pop_back();
        return buffers;
    }
    void work_off(std::size_t region, buffer& b) {
        const std::lock_guard lock(locks_[region]);
        sorter_.work_off(region, std::span(b.entries).first(b.size));
        b.size = 0;
    }

    Sorter sorter_;
    std::vector<std::mutex> locks_;
    std::mutex pool_lock_;
    std::vector<buffer_set> pool_;
    std::atomic<std::uint64_t> count_ = 0;
};

std::unique_ptr<parallel_build::engine> engine_for(bloom_filter& filter) {
    if (filter.geometry().bits <= parallel_build::divided_bits) return std::make_unique<atomic_build>(filter);
    return layouts::with_layout(
        filter.geometry(), [&]<class Layout>(const Layout&) -> std::unique_ptr<parallel_build::engine> {
            if constexpr (layouts::lined<Layout>)
                return std::make_unique<divided_build<line_sorter<Layout>>>(filter);
            else
                return std::make_unique<divided_build<position_sorter<Layout>>>(filter);
        });
}

constexpr std::size_t share = 1 << 14;  // keys that a thread takes at a time

template <class Key>
void insert_keys(bloom_filter& filter, std::span<const Key> keys, unsigned threads) {
    if (threads <= 1) return filter.insert(keys);
    parallel_build build(filter);
    base::for_each_index((keys.size() + share - 1) / share, threads, [&](std::size_t i) {
        const auto mine = keys.subspan(i * share, std::min(share, keys.size() - i * share));
        kernels::in_pieces<kernels::long_piece>(
            filter.hash(), mine, [&](const digest* digests, std::size_t count, bool, std::size_t) {
                build.insert({digests, count});
            });
    });
}

template <class Key>
std::size_t look_up(const bloom_filter& filter, std::span<const Key> keys, std::span<bool> answers,
                    unsigned threads) {
    std::atomic<std::size_t> yes = 0;
    base::for_each_index((keys.size() + share - 1) / share, threads, [&](std::size_t i) {
        const std::size_t count = std::min(share, keys.size() - i * share);
        yes += filter.may_contain(keys.subspan(i * share, count), answers.subspan(i * share, count));
    });
    return yes;
}

}  // namespace

parallel_build::parallel_build(bloom_filter& filter) : engine_(engine_for(filter)) {}
parallel_build::~parallel_build() { finish(); }
void parallel_build::insert(std::span<const digest> digests) { engine_->insert(digests); }
void parallel_build::finish() { engine_->finish(); }

void insert(bloom_filter& f, std::span<const digest> d, unsigned threads) { insert_keys(f, d, threads); }
void insert(bloom_filter& f, std::span<const std::uint64_t> keys, unsigned threads) {
    insert_keys(f, keys, threads);
}
void insert(bloom_filter& f, std::span<const std::string_view> keys, unsigned threads) {
    insert_keys(f, keys, threads);
}

std::size_t may_contain(const bloom_filter& f, std::span<const digest> digests, std::span<bool> answers,
                        unsigned threads) {
    return look_up(f, digests, answers, threads);
}
std::size_t may_contain(const bloom_filter& f, std::span<const std::uint64_t> keys, std::span<bool> answers,
                        unsigned threads) {
    return look_up(f, keys, answers, threads);
}
std::size_t may_contain(const bloom_filter& f, std::span<const std::string_view> keys,
                        std::span<bool> answers, unsigned threads) {
    return look_up(f, keys, answers, threads);
}

}  // namespace posy
