#include "count_batch.hpp"

#include <fmt/core.h>

#include <charconv>
#include <functional>

namespace posy::tool {
namespace {

std::optional<std::uint64_t> weight_in(std::string_view text) {
    std::uint64_t weight = 0;
    const char* end = text.data() + text.size();
    const auto [at, wrong] = std::from_chars(text.data(), end, weight);
    return wrong == std::errc{} && at == end ? std::optional(weight) : std::nullopt;
}

// What an error quotes of a field.
std::string shortened(const std::string& text) {
    constexpr std::size_t most = 40;
    return text.size() <= most ? text : text.substr(0, most) + "…";
}

bool inside(const block& piece, std::string_view text) {
    const std::less_equal<> before;
    return before(piece.text.data(), text.data()) &&
           before(text.data() + text.size(), piece.text.data() + piece.text.size());
}

// Group and key as one key: each behind its length, as keys of several fields are (keys.hpp).
std::string joined(std::string_view group, std::string_view key) {
    std::string both;
    for (const std::string_view part : {group, key}) {
        const std::uint64_t size = part.size();
        for (unsigned i = 0; i < 8; ++i) both += static_cast<char>(size >> (8 * i) & 0xff);
        both += part;
    }
    return both;
}

}  // namespace

count_reader::count_reader(const count_options& o) : o_(o) {
    if (!o.prefix.empty()) prefix_ = take(packets::address_prefix::parse(o.prefix), "--prefix");
}

count_batch count_reader::read(const hasher& hash, const block& piece) const {
    count_batch b;
    for_each_key(o_.keys, piece, [&](std::string_view key, std::string_view record) {
        const auto column = [&](const std::string& name) { return text_in(o_.keys, piece, record, name); };
        const auto missing = [&](const std::string& what) { o_.keys.missing(piece, record, what); };
        std::optional<std::uint64_t> weight;
        std::optional<std::string> group, value, network;
        if (!o_.weight_field.empty()) {
            const auto text = column(o_.weight_field);
            if (!text || !(weight = weight_in(*text)))
                return missing(fmt::format("a weight from 0 to 18446744073709551615 in field {}{}",
                                           o_.weight_field,
                                           text ? ", which has '" + shortened(*text) + "'" : ""));
        }
        if (!o_.group_field.empty() && !(group = column(o_.group_field)))
            return missing("a group in field " + o_.group_field);
        if (!o_.distinct_field.empty() && !(value = column(o_.distinct_field)))
            return missing("a value in field " + o_.distinct_field);
        if (prefix_ && !(network = prefix_->of(key))) return missing("an IP address as its key");

        if (network) key = b.copies.emplace_back(std::move(*network));
        if (weight) b.weights.push_back(*weight);
        if (value) b.values.push_back(hash(*value));
        if (group) {
            b.digests.push_back(hash(joined(*group, key)));
            b.of_groups.push_back(hash(*group));
            b.groups.push_back(b.copies.emplace_back(std::move(*group)));
        } else {
            b.digests.push_back(o_.keys.hash(hash, key));
        }
        b.keys.push_back(network || inside(piece, key) ? key : b.copies.emplace_back(o_.keys.shown(key)));
    });
    return b;
}

}  // namespace posy::tool
