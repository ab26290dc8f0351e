// The policy, which makes builders and readers; what they do is in table_filter.hpp. No exception reaches
// RocksDB: a filter that cannot be made is left out, and the table is read without one.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>

#include "rocksdb_interface.hpp"
#include "table_filter.hpp"

namespace posy::stores {
namespace {

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class builder : public rocksdb::FilterBitsBuilder {
  public:
    builder(double bits_per_key, filter_form form) : bits_per_key_(bits_per_key), form_(form) {}

    void AddKey(const rocksdb::Slice& key) override {
        const digest d = hash_(view(key));
        // A key's versions follow each other.
        if (!digests_.empty() && digests_.back() == d) return;
        digests_.push_back(d);
    }
    std::size_t EstimateEntriesAdded() override { return digests_.size(); }
    rocksdb::Slice Finish(std::unique_ptr<const char[]>* memory) override {
        try {
            const auto filter = make_table_filter(digests_, bits_per_key_, form_);
            digests_ = {};
            auto copy = std::make_unique<char[]>(filter.size());
            std::memcpy(copy.get(), filter.data(), filter.size());
            *memory = std::move(copy);
            return {memory->get(), filter.size()};
        } catch (const std::bad_alloc&) {
            digests_ = {};
            return {};
        }
    }
    using rocksdb::FilterBitsBuilder::Finish;
    std::size_t ApproximateNumEntries(std::size_t bytes) override {
        return static_cast<std::size_t>(8 * static_cast<double>(bytes) / bits_per_key_);
    }

  private:
    double bits_per_key_;
    filter_form form_;
    hasher hash_ = table_filter::hash();
    std::vector<digest> digests_;
};

class reader : public rocksdb::FilterBitsReader {
  public:
    explicit reader(const rocksdb::Slice& filter) : filter_(as_byte_view(view(filter))) {}

    bool MayMatch(const rocksdb::Slice& key) override { return filter_.may_contain(hash_(view(key))); }
    void MayMatch(int count, rocksdb::Slice** keys, bool* answers) override {
        std::array<digest, batch> digests;
        for (std::size_t from = 0, all = static_cast<std::size_t>(std::max(count, 0)); from < all;
             from += batch) {
            const std::size_t some = std::min(batch, all - from);
            for (std::size_t i = 0; i < some; ++i) digests[i] = hash_(view(*keys[from + i]));
            filter_.may_contain(std::span(digests).first(some), {answers + from, some});
        }
    }

  private:
    static constexpr std::size_t batch = 32;  // as many as MultiGet() asks at once

    table_filter filter_;
    hasher hash_ = table_filter::hash();
};

class policy : public rocksdb::FilterPolicy {
  public:
    policy(double bits_per_key, filter_form form) : bits_per_key_(std::max(bits_per_key, 1.0)), form_(form) {}

    const char* Name() const override { return "posy.TableFilter"; }
    // Stored with every table: another format needs another name.
    const char* CompatibilityName() const override { return "posy.TableFilter.1"; }
    rocksdb::FilterBitsBuilder* GetBuilderWithContext(const rocksdb::FilterBuildingContext&) const override {
        return new builder(bits_per_key_, form_);
    }
    rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& filter) const override {
        return new reader(filter);
    }

  private:
    double bits_per_key_;
    filter_form form_;
};

}  // namespace

std::shared_ptr<const rocksdb::FilterPolicy> rocksdb_policy(double bits_per_key, filter_form form) {
    return std::make_shared<const policy>(bits_per_key, form);
}

}  // namespace posy::stores
