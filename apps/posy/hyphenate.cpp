// posy hyphenate: words with hyphens, by rules in memory, a filter in memory and a table on disk.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "input_stream.hpp"
#include "numbers.hpp"
#include "posy/base/file.hpp"
#include "posy/dictionary/hyphenator.hpp"
#include "posy/dictionary/words.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    std::vector<std::string> texts = {"-"};
    std::string rules, make, patterns, hyphen = "-";
    std::optional<double> share, rate;  // of --make
    bool count = false, json = false;
    reading_options reading;
};

// The three files of a language.
std::string rules_file(const std::string& name) { return name + ".rules"; }
std::string table_file(const std::string& name) { return name + ".table"; }
std::string filter_file(const std::string& name) { return name + ".posy"; }

dictionary::hyphen_patterns read_patterns(const std::string& path) {
    return take(dictionary::hyphen_patterns::parse(read_text(path)), path);
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> all;
    dictionary::for_each_word(
        text, [&](const std::string& word, std::size_t, std::string_view) { all.push_back(word); });
    return all;
}

// Memory: the different words, and one text.
std::vector<std::string> different_words(const std::vector<std::string>& paths) {
    std::unordered_set<std::string> all;
    for (const std::string& path : paths)
        dictionary::for_each_word(read_text(path), [&](const std::string& word, std::size_t,
                                                       std::string_view) { all.insert(word); });
    return {all.begin(), all.end()};
}

void write_file(const std::string& path, std::string_view text) {
    auto file = take(base::atomic_file::create(path), path);
    take(base::write_fully(file.get(), as_byte_view(text)), path);
    take(file.commit(), path);
}

std::string without_hyphens(std::string word) {
    std::erase(word, '-');
    return word;
}

void make(const options& o) {
    const auto patterns = read_patterns(o.patterns);
    const std::vector<std::string> words = different_words(o.texts);
    if (words.empty()) throw failure("--make: the texts have no words to choose rules for");
    const auto made = dictionary::choose_rules(patterns, words, o.share.value_or(0.9));
    if (made.rules.size() == 0)
        throw failure(
            "--make: no rule is needed for this share of the words; give more words or a larger --share");
    const hasher hash;
    std::vector<digest> digests;
    for (const std::string& each : made.exceptions) digests.push_back(hash(without_hyphens(each)));
    const auto filter = take(sealed_filter::make(hash, digests, {o.rate.value_or(0.01)}), "hyphenate");
    const std::string rules = made.rules.text(), table = made.table();
    write_file(table_file(o.make), table);
    save_body(filter_file(o.make), filter);
    write_file(rules_file(o.make), rules);
    const auto number = [](std::uint64_t n) { return count(static_cast<double>(n)); };
    print(
        fmt::format("words            {}\n"
                    "rules            {} of {} patterns, {}\n"
                    "right by rules   {:.2f} %\n"
                    "filter           {} words, {}, false-positive rate {}\n"
                    "table            {}\n",
                    number(made.words), number(made.rules.size()), number(patterns.size()),
                    bytes(rules.size()), 100 * made.share_by_rules(), number(made.exceptions.size()),
                    bytes(filter.bytes().size()), rate(filter.false_positive_rate()), bytes(table.size())));
}

// How many words are divided differently from all patterns.
std::uint64_t wrong_by(const dictionary::hyphen_patterns& patterns, std::string_view hyphen,
                       std::span<const std::string> words, std::span<const std::string> divided) {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool whole = words[i].find('-') == std::string::npos;
        wrong += whole && dictionary::with_hyphens(words[i], patterns.points(words[i]), hyphen) != divided[i];
    }
    return wrong;
}

struct outcome {
    dictionary::hyphenator::tally total;
    std::optional<std::uint64_t> wrong;
};

std::string text_of(const options& o, const outcome& of) {
    const auto& [total, wrong] = of;
    if (o.json)
        return fmt::format(
            "{{\"words\": {}, \"table_accesses\": {}, \"saved\": {}, \"exceptions\": {}, "
            "\"false_accesses\": {}, \"expected_false_accesses\": {:.2f}, \"wrong\": {}}}\n",
            total.words, total.accesses, total.saved(), total.exceptions, total.false_accesses(),
            total.expected_false_accesses(), wrong ? std::to_string(*wrong) : "null");
    const auto number = [](std::uint64_t n) { return count(static_cast<double>(n)); };
    std::string text = fmt::format(
        "words            {}\n"
        "table accesses   {} ({} saved)\n"
        "  exceptions     {}\n"
        "  in vain        {} (expected {:.1f})\n",
        number(total.words), number(total.accesses), number(total.saved()), number(total.exceptions),
        number(total.false_accesses()), total.expected_false_accesses());
    if (wrong) text += fmt::format("wrong            {}\n", number(*wrong));
    return text;
}

void divide(const options& o) {
    const std::string table_name = table_file(o.rules), filter_name = filter_file(o.rules);
    const auto file = take(base::open_for_reading(table_name), table_name);
    const auto table =
        take(base::mapping::of(file.get(), 0, base::regular_size(file.get()).value_or(0)), table_name);
    const std::string_view lines(reinterpret_cast<const char*>(table.bytes().data()), table.bytes().size());
    dictionary::hyphenator by(
        read_patterns(rules_file(o.rules)),
        take(dictionary::word_filter::of(load_message(filter_name, o.reading.limits()).body), filter_name),
        dictionary::hyphen_table(lines));
    std::optional<dictionary::hyphen_patterns> truth;
    if (!o.patterns.empty()) truth = read_patterns(o.patterns);
    outcome all;
    if (truth) all.wrong = 0;
    for (const std::string& path : o.texts) {
        dictionary::for_each_block(read_text(path), [&](std::string_view block, std::size_t) {
            const auto words = words_of(block);
            const auto divided = by.divide(words, o.hyphen);
            if (truth) *all.wrong += wrong_by(*truth, o.hyphen, words, divided);
            if (!o.count && !o.json && !words.empty()) print(fmt::format("{}\n", fmt::join(divided, "\n")));
        });
    }
    all.total = by.total();
    if (o.count || o.json) print(text_of(o, all));
    if (all.total.words == 0) throw answer_is_no{};
}

void run(const options& o) {
    if (o.make.empty() == o.rules.empty())
        throw wrong_use("hyphenate needs either --make NAME or --rules NAME");
    if (!o.make.empty() && o.patterns.empty())
        throw wrong_use(
            "--make needs --patterns, for instance /usr/share/hyphen/hyph_en_US.dic of Debian's "
            "hyphen-en-us");
    if (!o.make.empty() && (o.json || o.count))
        throw wrong_use("--make prints what it has written; --count and --json go with --rules");
    if (o.make.empty() && (o.share || o.rate))
        throw wrong_use("--share and --fpr go with --make; the files of --rules have been made already");
    return o.make.empty() ? divide(o) : make(o);
}

}  // namespace

void add_hyphenate(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "hyphenate",
        "Print words with hyphens: simple rules, and a filter of the words that need the table",
        "  posy hyphenate --make english --patterns /usr/share/hyphen/hyph_en_US.dic /usr/share/dict/words\n"
        "                         chooses rules and writes english.rules, english.posy and english.table\n"
        "  posy hyphenate --rules english letter.txt         each word on a line, with its hyphens\n"
        "  posy hyphenate --rules english -c letter.txt      how often the table was read, and how often "
        "not\n"
        "Exit status: 0 if there were words, 1 if none, 2 on an error.");
    command.add_option("TEXTS", o->texts,
                       "Files of text in UTF-8, or of words; - or none for standard input");
    command.add_option("--rules NAME", o->rules, "Name of the files that --make has written");
    command.add_option(
        "--make NAME", o->make,
        "Choose rules for the words of the texts, and write NAME.rules, NAME.posy and NAME.table");
    command.add_option("--patterns FILE", o->patterns,
                       "All patterns, which are the truth: of --make; with --rules, words that are divided "
                       "differently are counted as wrong");
    command
        .add_option("--share SHARE", o->share,
                    "Share of the words that the rules of --make divide rightly (default: 0.9)")
        .between(0, 1);
    command.add_option(
        "-f,--fpr RATE", o->rate,
        "False-positive rate of the filter of --make: the share of other words for which the table is "
        "read in vain (default: 0.01)");
    command.add_option("--hyphen TEXT", o->hyphen, "What stands for a hyphen").shows_default();
    command.add_flag("-c,--count", o->count, "Print only counts: of words, and of accesses to the table");
    command.add_flag("--json", o->json, "Print the counts as a JSON object");
    o->reading.add_to(command);
    command.runs([o] { run(*o); });
}

}  // namespace posy::tool
