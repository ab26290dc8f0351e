#include "posy/dialect/foreign_filter.hpp"

#include "dialects.hpp"
#include "posy/base/names.hpp"

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

result<placing> java_size(std::uint64_t items, double rate) {
    const std::uint64_t bits = classical_bits(items, rate), words = bits / 64 + (bits % 64 != 0);
    if (words >= std::uint64_t{1} << 31)
        return error::too_large("the format has fewer than 2^31 words of 64 bits; " + std::to_string(items) +
                                " items at this rate need " + std::to_string(words));
    return placing{
        .bits = 64 * std::max<std::uint64_t>(words, 1),
        .hashes = std::min(255U, classical_hashes(static_cast<double>(bits) / static_cast<double>(items)))};
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
    }
    return nullptr;
}

}  // namespace

foreign::any_filter foreign_filter::make(dialect which, std::uint64_t items, double rate,
                                         const dialect_options& o) {
    if (items == 0) return error::invalid("a filter is made for at least one item");
    if (!(rate > 0 && rate < 1)) return error::invalid("a rate of false positives is between 0 and 1");
    return grammar_of(which)->make(items, rate, o);
}

foreign::any_filter foreign_filter::from_bytes(byte_view bytes, std::optional<dialect> as,
                                               const dialect_options& o) {
    if (!as) as = recognise(bytes);
    if (!as) {
        if (auto java = by_java_itself(bytes)) return std::move(*java);
        return error::unsupported("not the filter of a program that Posy knows by its first bytes", 0);
    }
    auto read = grammar_of(*as)->read(bytes, o);
    if (!read && grammar_of(*as)->fits)
        if (auto java = by_java_itself(bytes)) return std::move(*java);
    return read;
}

std::optional<dialect> foreign_filter::recognise(byte_view bytes) {
    for (const dialect which : members<dialect>) {
        const foreign::grammar& of = *grammar_of(which);
        if (of.fits && of.fits(bytes)) return which;
    }
    return std::nullopt;
}

result<std::vector<std::byte>> foreign_filter::to_bytes(dialect to) const {
    if (to == speaks()) return to_bytes();
    if (to == dialect::hadoop)
        if (auto plain = as_plain_hadoop()) return std::move(*plain);
    return error::mismatch("a filter of the format " + std::string(name_of(speaks())) +
                           " cannot become one of " + std::string(name_of(to)) +
                           ": keys have other places there; build it from the keys");
}

}  // namespace posy
