// posy query: which of these keys may be in the set.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "foreign.hpp"
#include "keys.hpp"
#include "near_match.hpp"
#include "numbers.hpp"
#include "ordered_blocks.hpp"
#include "password_file.hpp"
#include "posy/dictionary/edits.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    std::string filter;
    key_options keys;
    foreign_options foreign;
    fetch_options how;
    reading_options reading;
    bool invert = false, count = false, quiet = false, near = false, json = false;
    std::string alphabet = std::string(dictionary::printable_ascii());
    std::optional<command_line> command;
};

// One question, to any kind of filter.
template <class Filter>
bool asked(const Filter& filter, const hasher& hash, std::string_view key) {
    return filter.may_contain(hash(key));
}
bool asked(const bloomier_map& map, const hasher& hash, std::string_view key) {
    return map.find(hash(key)).has_value();
}
bool asked(const foreign_filter& filter, const hasher&, std::string_view key) {
    return filter.may_contain(as_byte_view(key));
}

// A filter of another program has its own.
template <class Filter>
hasher hash_of(const Filter& filter) {
    if constexpr (std::same_as<Filter, foreign_filter>)
        return hasher();
    else
        return filter.hash();
}

// What a block prints. Keys that stand one after the other in its text are taken together, and where that is
// all of them they are written from there.
class printed_keys {
  public:
    explicit printed_keys(std::string_view block) : block_(block) {}

    // A key of the block, with its value if it has one, and the end of a record.
    void add(std::string_view key, std::string_view value, char end) {
        const auto behind = static_cast<std::size_t>(key.data() - block_.data()) + key.size();
        if (value.empty() && behind < block_.size() && block_[behind] == end)
            return add_stretch({key.data(), key.size() + 1});
        add_stretch({});
        copied_.append(key).append(value).push_back(end);
    }
    void print() const {
        if (!copied_.empty()) tool::print(copied_);
        if (!stretch_.empty()) tool::print(stretch_);
    }

  private:
    void add_stretch(std::string_view more) {
        if (stretch_.data() + stretch_.size() == more.data()) {
            stretch_ = {stretch_.data(), stretch_.size() + more.size()};
        } else {
            copied_.append(stretch_);
            stretch_ = more;
        }
    }

    std::string_view block_;
    std::string copied_;
    std::string_view stretch_;  // behind what was copied
};

template <class Filter>
class query {
  public:
    query(const options& o, const Filter& filter) : o_(o), filter_(filter), hash_(hash_of(filter)) {}

    // The keys of the block that are to be printed, and how many there are.
    struct answers {
        printed_keys out;
        std::uint64_t asked = 0, found = 0;
    };
    answers operator()(const block& piece) const {
        answers all{printed_keys(piece.text)};
        answer(piece, all);
        return all;
    }

  private:
    void answer(const block& piece, answers& all) const {
        std::vector<digest> digests;
        std::vector<std::string_view> texts;
        const auto tell = [&](std::string_view text, bool yes, std::optional<std::uint64_t> value = {}) {
            ++all.asked;
            if (yes == o_.invert) return;
            ++all.found;
            if (o_.count || o_.quiet || o_.json) return;
            all.out.add(text, value ? "\t" + std::to_string(*value) : "", o_.keys.record_end());
        };
        for_each_key(o_.keys, piece, [&](std::string_view key, std::string_view text) {
            if (o_.near && key.size() > longest_near)
                throw failure(
                    fmt::format("{}: a key of {} bytes; --near takes keys of at most {}, since it "
                                "tries every change of every character",
                                where(piece, text), key.size(), longest_near));
            if (o_.near)
                return tell(
                    text,
                    may_contain_near([&](std::string_view each) { return tool::asked(filter_, hash_, each); },
                                     key, o_.alphabet));
            if constexpr (std::same_as<Filter, foreign_filter>)
                return tell(text, tool::asked(filter_, hash_, o_.keys.bytes_of(key)));
            digests.push_back(o_.keys.hash(hash_, key));
            texts.push_back(text);
        });
        if constexpr (std::same_as<Filter, bloomier_map>) {
            std::vector<std::optional<std::uint64_t>> values(digests.size());
            filter_.find(digests, values);
            for (std::size_t i = 0; i < digests.size(); ++i) tell(texts[i], values[i].has_value(), values[i]);
        } else if constexpr (!std::same_as<Filter, foreign_filter>) {
            const std::unique_ptr<bool[]> yes(new bool[digests.size()]);
            filter_.may_contain(digests, {yes.get(), digests.size()});
            for (std::size_t i = 0; i < digests.size(); ++i) tell(texts[i], yes[i]);
        }
    }

    const options& o_;
    const Filter& filter_;
    hasher hash_;
};

template <class Filter>
double rate_of(const Filter& filter) {
    return filter.false_positive_rate();
}
double rate_of(const foreign_filter& filter) { return filter.about().false_positive_rate; }
double rate_of(const compressed_filter& filter) { return take(filter.false_positive_rate(), "query"); }

// How many keys each file had, in the order of the files.
class tally {
  public:
    explicit tally(const std::vector<std::string>& files) {
        for (const std::string& file : files) counts_.emplace_back(display_name(file), 0);
    }
    void add(const std::string& file, std::uint64_t found) {
        const auto place = std::ranges::find(counts_, file, &entry::first);
        if (place != counts_.end()) place->second += found;
    }
    // Like grep: with several files, each on its line.
    std::string text(std::uint64_t all) const {
        if (counts_.size() < 2) return fmt::format("{}\n", all);
        std::string lines;
        for (const auto& [file, count] : counts_) lines += fmt::format("{}:{}\n", file, count);
        return lines;
    }

  private:
    using entry = std::pair<std::string, std::uint64_t>;
    std::vector<entry> counts_;
};

template <class Filter>
void run(const options& o, const Filter& filter) {
    if (o.near) warn_if_near_is_vague(rate_of(filter), o.alphabet);
    // Room for a part of a block: whoever reads a pipe is woken less often. Elsewhere it does nothing.
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
    const query<Filter> q(o, filter);
    tally by_file(o.keys.files);
    std::uint64_t asked = 0, found = 0;
    for_each_block_in_order(o.keys, "querying", [&](const block& piece) {
        return [&, file = piece.file, all = q(piece)] {
            asked += all.asked;
            found += all.found;
            by_file.add(file->name, all.found);
            all.out.print();
        };
    });
    if (o.json && !o.quiet) {
        print(fmt::format("{{\"keys\": {}, \"{}\": {}, \"false_positive_rate\": {}}}\n", asked,
                          o.invert ? "absent" : "may_be_present", found, rate_of(filter)));
    } else if (o.count && !o.quiet) {
        print(by_file.text(found));
    }
    if (found == 0) throw answer_is_no{};
}

void run(const options& o) {
    o.keys.refuse_both_from_stdin(o.filter);
    if (o.near && o.keys.integers) throw failure("--near changes characters; it does not go with --integers");
    o.how.refuse_for_file(*o.command, o.filter);
    if (const auto foreign = load_foreign(o.filter, o.foreign)) {
        const key_kind kind = foreign->keys();
        const bool integers = kind == key_kind::integers;
        if (kind != key_kind::any && integers != o.keys.integers)
            throw failure(display_name(o.filter) +
                          (integers ? ": the column has integers; give --integers"
                                    : ": the column has no integers; leave --integers out"));
        return run(o, *foreign);
    }
    message m = load_message(o.filter, o.reading.limits(), o.how);
    if (is_password_list(m.body))
        throw failure(display_name(o.filter) +
                      ": a list of passwords, which has their hashes; ask it with 'posy password check'");
    if (!o.quiet) warn_if_past_plan(m.body, display_name(o.filter));
    if (const auto* compressed = std::get_if<compressed_filter>(&m.body)) return run(o, *compressed);
    if (const auto* counting = std::get_if<counting_filter>(&m.body)) return run(o, counting->projection());
    if (const auto* sealed = std::get_if<sealed_filter>(&m.body)) return run(o, *sealed);
    if (const auto* map = std::get_if<bloomier_map>(&m.body)) return run(o, *map);
    if (const auto* growing = std::get_if<growing_filter>(&m.body)) return run(o, *growing);
    run(o, plain_of(std::move(m.body), display_name(o.filter)));
}

}  // namespace

void add_query(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "query", "Print the keys that may be in the set",
        "  posy query urls.posy candidates.txt\n"
        "  posy query -v --words dict.posy < letter.txt           a spell checker\n"
        "  posy query -c urls.posy log.txt                        how many\n"
        "  posy query --near passwords.posy < new-password.txt    also what is one typo away\n"
        "  posy query http://10.0.0.2:3130/summary keys.txt       a node's filter; see also 'posy follow'\n"
        "  posy query indicators.bloom log.txt                    one of another program\n"
        "Exit status: 0 if a key was printed or counted, 1 if none, 2 on an error.");
    command
        .add_option("FILTER", o->filter,
                    "The filter: a file, the URL where it is published, or - for standard input")
        .required();
    o->keys.add_to(command);
    o->foreign.add_to(command, "FILTER is one of another program, where its bytes do not tell");
    o->foreign.add_column_to(command);
    o->how.add_to(command);
    o->reading.add_to(command);
    command.add_flag("-v,--invert", o->invert, "Print the keys that are certainly not in the set");
    command.add_flag("-c,--count", o->count,
                     "Print only the number of keys; with several files, that of each");
    command.add_flag("-q,--quiet", o->quiet, "Print nothing; only set the exit status");
    command.add_flag(
        "--near", o->near,
        "Accept also keys that are one edit away from a key of the set: a character inserted, deleted or "
        "replaced, or two neighbours swapped; keys have at most 1024 bytes");
    command
        .add_option("--alphabet CHARACTERS", o->alphabet,
                    "Characters that --near inserts and substitutes (default: printable ASCII)")
        .needs("--near");
    command.add_flag("--json", o->json, "Print the counts of all files together as a JSON object")
        .excludes("--count");
    o->command = command;
    command.runs([o] { run(*o); });
}

}  // namespace posy::tool
