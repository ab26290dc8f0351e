// posy pack, posy unpack: the smallest message for transport, and back.
#include <fmt/core.h>
#include <unistd.h>

#include <mutex>

#include "filter_options.hpp"
#include "keys.hpp"
#include "locking.hpp"
#include "numbers.hpp"
#include "posy/base/file.hpp"
#include "posy/packet.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    key_options keys;  // whose files are filters unless `from_keys`
    hash_options hash;
    reading_options reading;
    lock_options lock;
    bool from_keys = false, fast = false;
    std::string codec, queryable, output = "-", max_bytes, max_memory;
    std::optional<unsigned> max_hashes;
};

void save_bytes(const std::string& path, byte_view bytes, const change_lock* held = nullptr) {
    const std::string name = display_name(path, true);
    if (path == "-") return take(base::write_fully(STDOUT_FILENO, bytes), name);
    const change_lock lock = change_lock::to_replace(path, held);
    auto file = take(base::atomic_file::create(path), name);
    take(base::write_fully(file.get(), bytes), name);
    take(file.commit(), name);
}

void pack_keys(const options& o) {
    if (o.max_bytes.empty())
        throw failure("pack: --from-keys needs the size of the packet; give it with --max-bytes");
    packet_wishes want{.max_bytes = parse_amount(o.max_bytes),
                       .max_hashes = o.max_hashes,
                       .hash = o.hash.family(),
                       .seed = o.hash.seed()};
    if (!o.max_memory.empty()) want.max_memory = parse_amount(o.max_memory);
    if (!seekable(o.keys))
        throw failure("pack: a packet may need several attempts; give the keys in a file, not a pipe");
    std::uint64_t items = count_keys(o.keys);
    const auto fill = [&](bloom_filter& filter) { insert_keys(filter, o.keys, filter.hash(), "packing"); };
    const packet p = take(pack_set(items, fill, want), "pack");
    save_bytes(o.output, p.message);
    if (isatty(STDERR_FILENO)) {
        fmt::print(stderr, "{} items in {}, false-positive rate {}\n", count(static_cast<double>(items)),
                   bytes(p.message.size()), rate(p.false_positive_rate));
    }
}

any_body pack_body(const options& o, any_body body, const std::string& name) {
    if (o.queryable.empty()) {
        // What is queryable is packed again from its bits.
        if (std::holds_alternative<compressed_filter>(body)) return plain_of(std::move(body), name);
        return body;
    }
    if (std::holds_alternative<counting_filter>(body))
        fmt::print(stderr,
                   "posy: note: {}: a queryable filter has no counters: keys can no longer be removed from "
                   "what is written\n",
                   name);
    return take(compressed_filter::make(plain_of(std::move(body), name), *named<queryable_form>(o.queryable)),
                name);
}

// A codec that readers reject for an array of this size is not used.
void warn_of_other_codec(const options& o, byte_view message) {
    constexpr std::size_t codec_at = 6;
    const auto used = static_cast<codec_id>(message[codec_at]);
    if (o.codec.empty() || used == *named<codec_id>(o.codec) || used == codec_id::raw) return;
    fmt::print(stderr,
               "posy: note: readers reject {} for an array of this size, because it takes too long; coded as "
               "{} instead\n",
               o.codec, name_of(used));
}

void pack_filter(const options& o) {
    if (o.keys.files.size() > 1)
        throw failure("pack: one filter at a time; unite them first with 'posy union'");
    const std::string path = o.keys.files.empty() ? "-" : o.keys.files[0];
    packing how{.want = o.fast ? coding::fastest : coding::smallest};
    if (!o.codec.empty()) how.codec = named<codec_id>(o.codec);
    const auto lock = change_lock::to_change({path}, o.output, o.lock);
    message m = load_message(path, o.reading.limits());
    how.generation = m.generation;
    const any_body body = pack_body(o, std::move(m.body), display_name(path));
    if (o.max_bytes.empty() && !how.codec) return save_body(o.output, body, how, &lock);
    const auto message = to_bytes(body, how);
    warn_of_other_codec(o, message);
    if (o.max_bytes.empty()) return save_bytes(o.output, message, &lock);
    if (const std::uint64_t limit = parse_amount(o.max_bytes); message.size() > limit) {
        throw failure(
            fmt::format("{}: the message takes {} bytes, {} more than allowed; fold the filter, or pack its "
                        "keys with --from-keys",
                        display_name(path), message.size(), message.size() - limit));
    }
    save_bytes(o.output, message, &lock);
}

// What a filter is built by; without --from-keys there is one.
void add_from_keys(command_line& pack, options& o) {
    pack.add_flag(
        "--from-keys", o.from_keys,
        "FILES hold keys: build the filter with the lowest rate whose message fits into --max-bytes");
    o.keys.add_to(
        pack, "FILES",
        "The filter, in a file or at a URL; with --from-keys, files of keys; - or none for standard input");
    o.hash.add_to(pack);
    add_amount(pack, "--max-memory SIZE", o.max_memory,
               "With --from-keys: largest array at the receiver in bytes, e.g. 64KiB; a lower limit means a "
               "higher rate (default: no limit)");
    pack.add_option("--max-hashes N", o.max_hashes,
                    "With --from-keys: largest number of hashes per key (default: no limit)");
    pack.all_need("--from-keys");
}

// How a filter that is there is read and coded.
void add_codings(command_line& pack, options& o) {
    pack.add_flag("--fast", o.fast, "Choose the faster codec, for a message that is up to 0.1 % larger");
    pack.add_option(
            "--codec", o.codec,
            "Codec of the message (default: the one with the smallest message, or with --fast a fast one)")
        .one_of(names_of<codec_id>())
        .excludes("--fast");
    pack.add_option("--queryable", o.queryable,
                    "Compressed form that is queried without unpacking (default: none; the message is "
                    "unpacked to query)")
        .one_of(names_of<queryable_form>())
        .excludes("--fast")
        .excludes("--codec");
    o.lock.add_to(pack);
    o.reading.add_to(pack);
    for (const char* option : {"--fast", "--codec", "--queryable", "--lock-wait", "--max-array"})
        pack.find(option).excludes("--from-keys");
}

}  // namespace

void add_pack(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line pack = add_command(
        app, "pack", "Write the smallest message for transport",
        "  posy pack urls.posy -o urls.packed\n"
        "  posy pack --queryable small urls.posy -o urls.packed     'posy query' reads it as it is\n"
        "  posy pack --from-keys urls.txt --max-bytes 1400 -o packet   never a byte more\n"
        "  posy pack big.posy | ssh host posy unpack - -o big.posy");
    add_from_keys(pack, *o);
    add_codings(pack, *o);
    add_amount(pack, "--max-bytes SIZE", o->max_bytes,
               "Largest size of the whole message in bytes, e.g. 1400 (default: no limit)");
    pack.add_option("-o,--output FILE", o->output, "File to write; - for standard output").shows_default();
    pack.runs([o] { o->from_keys ? pack_keys(*o) : pack_filter(*o); });

    struct state {
        std::string file, output = "-";
        reading_options reading;
    };
    const auto s = std::make_shared<state>();
    command_line unpack = add_command(
        app, "unpack", "Turn a message back into a file that is mapped and queried as it is",
        "  posy unpack urls.packed -o urls.posy\n"
        "  posy unpack --max-array 2GiB sparse.packed -o sparse.posy   a large array in few bytes");
    unpack.add_option("FILE", s->file, "The message: a file, a URL, or - for standard input").required();
    unpack.add_option("-o,--output FILE", s->output, "File to write; - for standard output").shows_default();
    s->reading.add_to(unpack);
    unpack.runs([s] {
        message m = load_message(s->file, s->reading.limits());
        if (std::holds_alternative<compressed_filter>(m.body))
            m.body = plain_of(std::move(m.body), display_name(s->file));
        save_body(s->output, m.body, {.generation = m.generation});
    });
}

}  // namespace posy::tool
