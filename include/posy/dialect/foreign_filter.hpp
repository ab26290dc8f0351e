// Filters in the formats of other programs: read, asked, filled, united and written, bit for bit as those
// programs do it.
//
// A dialect fixes hash, layout and bytes; so a foreign filter takes keys, not digests, and does not become
// one of Posy's, whose bits stand elsewhere. An integer is the eight bytes of key_bytes() (posy/key.hpp),
// which is a long for Spark, Guava and Parquet. What each format is made of: docs/dialects.md.
//
// The formats have no checksum. A reader checks what the sizes say of each other, and never allocates more
// than a small multiple of the bytes it was given.
//
// Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/estimate.hpp"
#include "posy/result.hpp"

namespace posy {

enum class dialect : std::uint8_t {
    spark_v1,
    spark_v2,
    guava_32,  // Guava's strategies MURMUR128_MITZ_32 and _64
    guava_64,
    hadoop,
    hadoop_counting,
    hadoop_dynamic,
    hadoop_retouched,
    parquet,  // a split-block filter behind its header, as it stands in a Parquet file
    squid,
    dcso,
    redis,      // RedisBloom: the data of all chunks of SCANDUMP, one behind the other
    bip158,     // a Golomb-coded set; its key does not stand in it
    leveldb,    // a block's filter of LevelDB, and of the blocks of old RocksDBs
    rocksdb,    // a table's Bloom filter of RocksDB since its format 5
    cassandra,  // a table's Filter.db since version 4
};

constexpr std::string_view name_of(dialect which) {
    switch (which) {
        case dialect::spark_v1:
            return "spark-v1";
        case dialect::spark_v2:
            return "spark-v2";
        case dialect::guava_32:
            return "guava-32";
        case dialect::guava_64:
            return "guava-64";
        case dialect::hadoop:
            return "hadoop";
        case dialect::hadoop_counting:
            return "hadoop-counting";
        case dialect::hadoop_dynamic:
            return "hadoop-dynamic";
        case dialect::hadoop_retouched:
            return "hadoop-retouched";
        case dialect::parquet:
            return "parquet";
        case dialect::squid:
            return "squid";
        case dialect::dcso:
            return "dcso";
        case dialect::redis:
            return "redis";
        case dialect::bip158:
            return "bip158";
        case dialect::leveldb:
            return "leveldb";
        case dialect::rocksdb:
            return "rocksdb";
        case dialect::cassandra:
            return "cassandra";
    }
    return {};
}

// What a dialect leaves open. An option that another dialect than that of the filter has is an error.
struct dialect_options {
    std::uint32_t seed = 0;          // of Spark's second version
    bool jenkins = false;            // of Hadoop's, in place of Murmur
    std::optional<hash_seed> key{};  // of a Golomb-coded set: the first 16 bytes of the block's hash
};

// What keys a filter has, if it says so: the columns of a Parquet file do.
enum class key_kind : std::uint8_t { any, text, integers, numbers };

class foreign_filter {
  public:
    // What a filter is for. Some formats state it; of others their program's choice of size and hashes tells
    // it.
    struct purpose {
        std::uint64_t items = 0;
        double rate = 0;
        bool stated = true;
    };
    struct facts {
        std::uint64_t bits = 0;  // of all arrays
        unsigned hashes = 0;
        std::uint64_t ones = 0;
        double false_positive_rate = 0;
        std::optional<std::uint64_t> items{};       // if the format counts them
        std::optional<estimate> different_items{};  // by the ones; none of a set that is not one of bits
        std::optional<purpose> planned{};           // if it can be told
        std::string hash;                           // for people
    };

    // What makes an equal one in another process, for pickles and the like: its bytes and what these do not
    // say. Of a column of a Parquet file the bytes are such a file with nothing but its filters.
    struct image {
        posy::dialect dialect{};
        std::vector<std::byte> bytes;
        std::optional<hash_seed> key{};       // of a Golomb-coded set
        std::optional<std::string> column{};  // of a Parquet file
        bool operator==(const image&) const = default;
    };

    // An empty filter for this many items at this rate, sized as the dialect's own program does it. Errors:
    // what the program cannot hold, and more memory than this machine has.
    static result<std::unique_ptr<foreign_filter>> make(dialect, std::uint64_t items, double rate,
                                                        const dialect_options& = {});
    // The bytes of memory that its array takes, none of which are taken. Errors: what the program cannot
    // hold.
    static result<std::uint64_t> memory_for(dialect, std::uint64_t items, double rate,
                                            const dialect_options& = {});
    // `as` names the dialect where the bytes do not tell: bip158 and leveldb.
    static result<std::unique_ptr<foreign_filter>> from_bytes(byte_view, std::optional<dialect> as = {},
                                                              const dialect_options& = {});
    // The dialect of these bytes, if they can be told by their first or last ones and their number.
    static std::optional<dialect> recognise(byte_view);

    // Why bytes of no dialect that can be told are none, if that can be told: compressed, written by Java's
    // serialisation, or only the beginning of a filter.
    static std::optional<error> why_unknown(byte_view);
    // The lowest rate that a filter of so many items can have in this format, whatever its size: a hash of
    // few bits is shared.
    static double least_rate(dialect, std::uint64_t items);

    // The filters of a column of a Parquet file (a name, or a path with dots), of all row groups together;
    // they are only asked. Keys are text or bytes; longs, also of INT32; the decimal text of a number if the
    // column is FLOAT or DOUBLE. Other types of columns are errors.
    static result<std::unique_ptr<foreign_filter>> of_parquet_column(byte_view file,
                                                                     const std::string& column);
    static bool is_parquet_file(byte_view first_bytes);
    static result<std::unique_ptr<foreign_filter>> of_image(const image&);

    virtual ~foreign_filter() = default;

    virtual dialect speaks() const = 0;
    virtual std::unique_ptr<foreign_filter> copy() const = 0;
    // Errors: the format does not take more keys, once it is written or beyond its limit.
    virtual result<void> insert(byte_view key) = 0;
    virtual bool may_contain(byte_view key) const = 0;
    // An integer: the bytes of a long, and in a column of numbers the number.
    bool may_contain_integer(std::uint64_t) const;
    virtual key_kind keys() const { return key_kind::any; }
    // An error if no key of this kind, an integer or not, can be in it: what its column has instead.
    virtual result<void> check_kind(bool /*integers*/) const { return {}; }
    // Errors: another dialect, size or hash.
    virtual result<void> unite(const foreign_filter&) = 0;
    // Errors: the filters of a column of a Parquet file, unless one filter alone says yes to the same keys.
    virtual result<std::vector<std::byte>> to_bytes() const = 0;
    virtual image to_image() const;
    virtual facts about() const = 0;

    // The same set in another format. Errors: all but the step from a filter of Hadoop's with counters, with
    // lists of keys or of one row to its plain one; elsewhere keys have other places, and the bits mean
    // nothing there, or what else that format has is not known.
    result<std::vector<std::byte>> to_bytes(dialect) const;

  protected:
    // As Hadoop's plain filter, or why it is none.
    virtual result<std::vector<std::byte>> as_plain_hadoop() const;
    foreign_filter() = default;
    foreign_filter(const foreign_filter&) = default;
    foreign_filter& operator=(const foreign_filter&) = default;
};

}  // namespace posy
