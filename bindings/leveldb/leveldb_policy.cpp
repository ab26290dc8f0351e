#include <leveldb/slice.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "posy/sealed_block.hpp"
#include "posy/stores/leveldb.hpp"

namespace posy::stores {
namespace {

class policy : public leveldb::FilterPolicy {
  public:
    explicit policy(int bits_per_key) : bits_per_key_(static_cast<std::size_t>(std::max(bits_per_key, 1))) {}

    // Stored with every table: another format needs another name.
    const char* Name() const override { return "posy.sealed_block.1"; }

    void CreateFilter(const leveldb::Slice* keys, int n, std::string* to) const override {
        const auto count = static_cast<std::size_t>(std::max(n, 0));
        std::vector<digest> digests(count);
        for (std::size_t i = 0; i < count; ++i) digests[i] = digest_of(keys[i]);
        std::vector<std::byte> block;
        sealed_block::append(digests, bytes_for(count), block);
        to->append(reinterpret_cast<const char*>(block.data()), block.size());
    }

    bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
        return sealed_block::may_contain(as_byte_view(view(filter)), digest_of(key));
    }

  private:
    static std::string_view view(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }
    // What LevelDB's own filter of this many keys takes: at least 64 bits, and a byte for the hashes.
    std::size_t bytes_for(std::size_t keys) const {
        return (std::max<std::size_t>(keys * bits_per_key_, 64) + 7) / 8 + 1;
    }

    static digest digest_of(const leveldb::Slice& key) {
        return hash::fold64_of_bytes(as_byte_view(view(key)), 0);
    }

    std::size_t bits_per_key_;
};

}  // namespace

std::unique_ptr<const leveldb::FilterPolicy> leveldb_policy(int bits_per_key) {
    return std::make_unique<const policy>(bits_per_key);
}

}  // namespace posy::stores
