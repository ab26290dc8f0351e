#include "posy/dialect/foreign_filter.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "dialects.hpp"
#include "posy/base/machine.hpp"
#include "posy/base/names.hpp"
#include "posy/key.hpp"

namespace posy {

namespace foreign {

result<void> check_size(byte_view bytes, std::size_t least, std::string_view program) {
    if (bytes.size() < least)
        return error::damaged("a filter of " + std::string(program) + " has at least " +
                                  std::to_string(least) + " bytes; this ends early",
                              bytes.size());
    return {};
}

result<void> check_array(byte_view bytes, std::size_t head, std::uint64_t words, std::string_view program) {
    if (words == 0 || words >= std::uint64_t{1} << 31)
        return error::damaged("a filter of " + std::string(program) + " has 1 to 2^31 - 1 words", head - 4);
    if (bytes.size() - head != 8 * words)
        return error::damaged("an array of " + std::to_string(8 * words) + " bytes where " +
                                  std::to_string(bytes.size() - head) + " are left",
                              head);
    return {};
}

result<void> check_hashes(std::uint64_t hashes, std::uint64_t at) {
    if (hashes < 1 || hashes > 255)
        return error::damaged("a filter has 1 to 255 hashes, not " + std::to_string(hashes), at);
    return {};
}

error no_memory(std::uint64_t bytes) {
    return error::too_large("no memory for an array of " + std::to_string(bytes) +
                            " bytes; use fewer items or a higher rate");
}

error too_many_hashes() { return error::invalid("that rate needs more than 255 hashes"); }

// The kernel grants more address space than there is memory, and kills the process that uses it.
result<void> check_memory(std::uint64_t bytes) {
    if (bytes > base::usable_memory()) return no_memory(bytes);
    return {};
}

result<placing> java_size(const wanted& w) {
    constexpr double most_words = 0x7fffffff;
    const double bits = std::floor(classical_bits(w.items, w.rate)), words = std::ceil(bits / 64);
    if (words > most_words)
        return error::too_large("the format has fewer than 2^31 words of 64 bits; " +
                                std::to_string(w.items) + " items at this rate need more");
    const unsigned hashes = classical_hashes(bits / static_cast<double>(w.items));
    if (hashes > 255) return too_many_hashes();
    return placing{.bits = 64 * static_cast<std::uint64_t>(std::max(words, 1.0)), .hashes = hashes};
}

}  // namespace foreign

namespace {

// What Java's ObjectOutputStream has written: the error names the class and the way that works.
std::optional<error> by_java_itself(byte_view bytes) {
    constexpr std::size_t name_at = 8;  // behind the magic, the version, "an object" and "its class"
    if (bytes.size() < name_at || foreign::load_big<std::uint32_t>(bytes.data()) != 0xaced0005)
        return std::nullopt;
    std::string name;
    const std::size_t size = foreign::load_big<std::uint16_t>(bytes.data() + 6);
    if (bytes[4] == std::byte{'s'} && bytes[5] == std::byte{'r'} && size <= bytes.size() - name_at)
        for (const std::byte each : bytes.subspan(name_at, size)) {
            const auto letter = std::to_integer<char>(each);
            if (letter <= ' ' || letter > '~') break;
            name += letter;
        }
    return error::unsupported("an object" + (name.empty() ? "" : " of " + name) +
                                  " as Java serialises it, whose bytes depend on the class; write the filter "
                                  "with its own writeTo() or write()",
                              0);
}

const foreign::grammar* grammar_of(dialect which) {
    switch (which) {
        case dialect::spark_v1:
            return &foreign::spark_v1;
        case dialect::spark_v2:
            return &foreign::spark_v2;
        case dialect::guava_32:
            return &foreign::guava_32;
        case dialect::guava_64:
            return &foreign::guava_64;
        case dialect::hadoop:
            return &foreign::hadoop;
        case dialect::hadoop_counting:
            return &foreign::hadoop_counting;
        case dialect::hadoop_dynamic:
            return &foreign::hadoop_dynamic;
        case dialect::hadoop_retouched:
            return &foreign::hadoop_retouched;
        case dialect::parquet:
            return &foreign::parquet;
        case dialect::squid:
            return &foreign::squid;
        case dialect::dcso:
            return &foreign::dcso;
        case dialect::redis:
            return &foreign::redis;
        case dialect::bip158:
            return &foreign::bip158;
        case dialect::leveldb:
            return &foreign::leveldb;
        case dialect::rocksdb:
            return &foreign::rocksdb;
        case dialect::cassandra:
            return &foreign::cassandra;
    }
    return nullptr;
}

result<foreign::placing> size_of(const foreign::grammar& of, const foreign::wanted& want) {
    if (want.items == 0) return error::invalid("a filter is made for at least one item");
    if (!(want.rate > 0 && want.rate < 1))
        return error::invalid("a rate of false positives is between 0 and 1");
    return of.size(want);
}

std::uint64_t memory_of(const foreign::grammar& of, const foreign::placing& how) {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(how.bits) * of.bytes_per_bit));
}

std::optional<error> compressed(byte_view bytes) {
    const auto begins = [&](std::string_view with) {
        return bytes.size() >= with.size() &&
               std::ranges::equal(bytes.first(with.size()), as_byte_view(with));
    };
    const char* const by = begins("\x1f\x8b") ? "gzip" : begins("\x28\xb5\x2f\xfd") ? "zstd" : nullptr;
    if (!by) return std::nullopt;
    return error::unsupported(std::string("compressed by ") + by + "; decompress it first", 0);
}

// What begins as a filter and has fewer bytes than that says. Heads are short: of several that it could be,
// the smallest is the likeliest.
std::optional<error> cut_off(byte_view bytes) {
    std::optional<std::uint64_t> least;
    std::string_view name;
    for (const dialect which : members<dialect>) {
        const foreign::grammar& of = *grammar_of(which);
        const auto whole = of.whole ? of.whole(bytes) : std::nullopt;
        if (!whole || *whole <= bytes.size() || (least && *whole >= *least)) continue;
        least = whole;
        name = name_of(which);
    }
    if (!least) return std::nullopt;
    return error::damaged("it begins as a filter of the format " + std::string(name) + " with " +
                              std::to_string(*least) + " bytes, of which " + std::to_string(bytes.size()) +
                              " are there; if it is of another format, name that",
                          bytes.size());
}

bool is_of_hadoop(dialect which) { return name_of(which).starts_with(name_of(dialect::hadoop)); }

result<void> check_options(dialect which, const dialect_options& o) {
    const auto without = [&](const char* what) {
        return error::invalid("the format " + std::string(name_of(which)) + " has no " + what);
    };
    if (o.seed != 0 && which != dialect::spark_v2) return without("seed; spark-v2 has one");
    if (o.jenkins && !is_of_hadoop(which)) return without("hash of Jenkins; the formats of Hadoop have it");
    if (o.key && which != dialect::bip158) return without("key; bip158 has one");
    return {};
}

}  // namespace

foreign::any_filter foreign_filter::make(dialect which, std::uint64_t items, double rate,
                                         const dialect_options& o) {
    if (auto fitting = check_options(which, o); !fitting) return fitting.error();
    const foreign::grammar& of = *grammar_of(which);
    const foreign::wanted want{items, rate, o};
    const auto how = size_of(of, want);
    if (!how) return how.error();
    const std::uint64_t bytes = memory_of(of, *how);
    if (auto enough = foreign::check_memory(bytes); !enough) return enough.error();
    try {
        return of.make(want, *how);
    } catch (const std::bad_alloc&) {  // the process may have less than the machine
        return foreign::no_memory(bytes);
    }
}

result<std::uint64_t> foreign_filter::memory_for(dialect which, std::uint64_t items, double rate,
                                                 const dialect_options& o) {
    const foreign::grammar& of = *grammar_of(which);
    const auto how = size_of(of, {items, rate, o});
    if (!how) return how.error();
    return memory_of(of, *how);
}

foreign::any_filter foreign_filter::from_bytes(byte_view bytes, std::optional<dialect> as,
                                               const dialect_options& o) {
    if (!as) as = recognise(bytes);
    if (!as) {
        if (auto why = why_unknown(bytes)) return std::move(*why);
        return error::unsupported(
            "not the filter of a program that Posy knows by its bytes; if it is one, name its format", 0);
    }
    if (auto fitting = check_options(*as, o); !fitting) return fitting.error();
    auto read = grammar_of(*as)->read(bytes, o);
    if (!read && grammar_of(*as)->fits)
        if (auto java = by_java_itself(bytes)) return std::move(*java);
    return read;
}

std::optional<error> foreign_filter::why_unknown(byte_view bytes) {
    if (auto java = by_java_itself(bytes)) return java;
    if (auto packed = compressed(bytes)) return packed;
    return cut_off(bytes);
}

std::optional<dialect> foreign_filter::recognise(byte_view bytes) {
    for (const dialect which : members<dialect>) {
        const foreign::grammar& of = *grammar_of(which);
        if (of.fits && of.fits(bytes)) return which;
    }
    return std::nullopt;
}

double foreign_filter::least_rate(dialect which, std::uint64_t items) {
    const auto rate = grammar_of(which)->least_rate;
    return rate ? rate(items) : 0;
}

foreign::any_filter foreign_filter::of_image(const image& of) {
    if (of.column) return of_parquet_column(of.bytes, *of.column);
    return from_bytes(of.bytes, of.dialect, {.key = of.key});
}

foreign_filter::image foreign_filter::to_image() const { return {.dialect = speaks(), .bytes = *to_bytes()}; }

bool foreign_filter::may_contain_integer(std::uint64_t key) const {
    if (keys() != key_kind::numbers) return may_contain(byte_view(key_bytes(key)));
    // A caller's integers have a sign or not, which the bits do not tell: such a one is asked for as both.
    const auto with_sign = static_cast<std::int64_t>(key);
    return may_contain(as_byte_view(std::to_string(with_sign))) ||
           (with_sign < 0 && may_contain(as_byte_view(std::to_string(key))));
}

result<std::vector<std::byte>> foreign_filter::to_bytes(dialect to) const {
    if (to == speaks()) return to_bytes();
    if (to == dialect::hadoop && is_of_hadoop(speaks())) return as_plain_hadoop();
    const char* const why = is_of_hadoop(to) && is_of_hadoop(speaks())
                                ? ": its bits do not tell what else stands in that format"
                                : ": keys have other places there";
    return error::mismatch("a filter of the format " + std::string(name_of(speaks())) +
                           " cannot become one of " + std::string(name_of(to)) + why +
                           "; build it from the keys");
}

// Of all filters of Hadoop the plain one alone, which needs no step.
result<std::vector<std::byte>> foreign_filter::as_plain_hadoop() const { return to_bytes(); }

}  // namespace posy
