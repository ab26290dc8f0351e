#include "filter_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "numbers.hpp"
#include "posy/secret_hash.hpp"
#include "secret_file.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// Up to 128 bits, decimal (64 bits) or hexadecimal with 0x.
hash_seed parse_seed(const std::string& where, const std::string& text) {
    const auto bad = [&] {
        return failure(where + ": give a number below 2^64, or up to 32 hexadecimal digits after 0x");
    };
    std::uint64_t low = 0, high = 0;
    const bool hex = text.starts_with("0x");
    const std::string digits = hex ? text.substr(2) : text;
    if (digits.empty() || (hex && digits.size() > 32)) throw bad();
    const auto parse = [&](const std::string& part, std::uint64_t& into) {
        const auto [end, wrong] =
            std::from_chars(part.data(), part.data() + part.size(), into, hex ? 16 : 10);
        if (wrong != std::errc{} || end != part.data() + part.size()) throw bad();
    };
    if (digits.size() > 16 && hex) {
        parse(digits.substr(0, digits.size() - 16), high);
        parse(digits.substr(digits.size() - 16), low);
    } else {
        parse(digits, low);
    }
    return {low, high};
}

}  // namespace

void filter_options::add_to(command_line& command, const std::string& items) {
    add_amount(command, "-n,--items N", items_,
               fmt::format("Number of items, e.g. 1000000 or 1M (default: {})", items));
    command.add_option(
        "-f,--fpr RATE", fpr_,
        "Highest false-positive rate, between 0 and 1 (default: 0.01 if nothing else decides it)");
    command.add_option(
        "-b,--bits-per-item BITS", bits_per_item_,
        "Size of the array in bits per item (default: the smallest that meets the other options)");
    command.add_option(
        "--message-bits BITS", message_bits_,
        "Largest compressed message, in bits per item on average and without its frame (default: no limit); "
        "'posy pack --max-bytes' keeps a hard limit");
    add_amount(command, "--max-memory SIZE", max_memory_,
               "Largest array of bits in bytes, e.g. 64MiB; counters (--counting) and the tool itself come "
               "on top. If --fpr needs more, that is an error; without --fpr the array takes it all, for the "
               "lowest rate (default: no limit, but 16 times the message if a message or delta is limited or "
               "minimized)");
    command.add_option("-k,--hashes N", hashes_, "Number of hashes per key (default: the best number)");
    command.add_option("--max-hashes N", max_hashes_,
                       "Largest number of hashes per key (default: what the layout allows)");
    command
        .add_option("--layout", layout_,
                    "How the bits of a key lie in the array (default: blocked, or spread if a message or "
                    "delta counts)")
        .one_of(names_of<layout_id>());
    command.add_option(
        "--delta-bits BITS", delta_bits_,
        "Largest delta in bits per item on average; needs --delta-fraction (default: no limit)");
    command.add_option("--delta-fraction SHARE", delta_fraction_,
                       "Share of the items that changes between two updates, between 0 and 1 (default: no "
                       "delta is planned)");
    command
        .add_option(
            "--minimize", minimize_,
            "What to minimize among the filters that meet the other options; delta needs --delta-fraction "
            "(default: message if a message or delta is limited, rate if the array is given, else memory)")
        .one_of(names_of<goal>());
}

wishes filter_options::to_wishes(std::uint64_t items) const {
    wishes w;
    w.items = items_.empty() ? items : parse_amount(items_);
    w.rate = fpr_;
    w.bits_per_item = bits_per_item_;
    w.message_bits_per_item = message_bits_;
    if (!max_memory_.empty()) w.max_memory = parse_amount(max_memory_);
    w.hashes = hashes_;
    w.max_hashes = max_hashes_;
    if (!layout_.empty()) w.layout = named<layout_id>(layout_);
    w.delta_bits_per_item = delta_bits_;
    w.delta_fraction = delta_fraction_;
    if (!minimize_.empty()) w.minimize = *named<goal>(minimize_);
    return w;
}

geometry spectral_geometry(wishes w, const std::string& command) {
    w.layout = layout_id::spread;
    return take(choose(w), command).geometry();
}

void hash_options::add_to(command_line& command, const std::string& unseeded) {
    auto hash = command.add_option(
        "--hash", family_,
        std::string("Hash family; choose siphash if attackers may choose keys, because for the others anyone "
                    "can make any number of keys with one digest") +
            (given() ? "" : " (default: fold64, or xxh3 if the collisions of its 64 bits would count)"));
    hash.one_of(names_of(hash_families()));
    if (given()) hash.shows_default();
    command.add_option(
        "--seed SEED", seed_,
        fmt::format("Seed of the hash, decimal or hexadecimal after 0x (default: 0; for siphash {})",
                    unseeded));
    command
        .add_option("--seed-file FILE", seed_file_,
                    "File that holds the seed as its only word, to keep it secret: the list of processes "
                    "shows --seed (default: none)")
        .excludes("--seed");
}

hash_seed hash_options::seed() const {
    if (!seed_.empty()) return parse_seed("--seed " + seed_, seed_);
    if (!seed_file_.empty()) {
        const auto word = read_secret("--seed-file", seed_file_);
        return parse_seed("--seed-file " + seed_file_, word);  // a secret: the text is not repeated
    }
    if (given() != hash_family::siphash) return {};
    return take(hash::random_seed(), "give a --seed");
}

}  // namespace posy::tool
