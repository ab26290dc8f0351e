// posy spell: the words of a text that no dictionary has.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "input_stream.hpp"
#include "numbers.hpp"
#include "posy/base/machine.hpp"
#include "posy/base/threads.hpp"
#include "posy/dictionary/markup.hpp"
#include "posy/dictionary/suggestions.hpp"
#include "posy/dictionary/words.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using json = nlohmann::ordered_json;

// Lists of words are sealed when they are read, at a rate that leaves suggestions without mistakes.
constexpr double list_rate = 0x1p-32;
constexpr std::string_view lists = "/usr/share/dict/";

struct options {
    std::vector<std::string> texts = {"-"}, dictionaries;
    std::string markup = "auto", affixes = "auto";
    bool strict = false, suggest = false, count = false, unique = false, quiet = false, json = false;
    unsigned most = 5;
    fetch_options how;
    reading_options reading;
};

// A file, or the name of a list where Debian has them.
std::string path_of(const std::string& dictionary) {
    if (is_url(dictionary) || std::filesystem::exists(dictionary)) return dictionary;
    const std::string list = std::string(lists) + dictionary;
    if (std::filesystem::exists(list)) return list;
    throw failure(
        fmt::format("{}: no such dictionary, nor {}; install a list of words, such as Debian's wamerican, "
                    "or name a file with --dictionary",
                    dictionary, list));
}

dictionary::word_filter sealed_list(const std::string& path) {
    const std::string text = read_text(path);
    std::vector<std::string> words;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view word = rest.substr(0, end);
        if (word.ends_with('\r')) word.remove_suffix(1);
        if (!word.empty()) words.push_back(dictionary::normal_form(word));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return take(
        dictionary::word_filter::seal(std::vector<std::string_view>(words.begin(), words.end()), list_rate),
        path);
}

bool is_message(const std::string& path) {
    if (is_url(path)) return true;
    const auto file = take(base::open_for_reading(path), path);
    std::string first(8, '\0');
    first.resize(take(base::read_fully(file.get(), std::as_writable_bytes(std::span(first))), path));
    return is_posy(first);
}

dictionary::word_list load(const options& o, const std::string& name) {
    const std::string path = path_of(name);
    std::error_code ignored;
    const std::filesystem::path behind = std::filesystem::weakly_canonical(path, ignored);  // words is a link
    dictionary::language rules = dictionary::language_of(behind.empty() ? path : behind.string());
    if (o.affixes != "auto") rules = *named<dictionary::language>(o.affixes);
    if (o.strict) rules = dictionary::language::none;
    if (!is_message(path)) return {sealed_list(path), rules};
    return {take(dictionary::word_filter::of(load_message(path, o.reading.limits(), o.how).body), path),
            rules};
}

std::vector<dictionary::word_list> load(const options& o) {
    std::vector<dictionary::word_list> all;
    for (const std::string& each : o.dictionaries) all.push_back(load(o, each));
    if (o.dictionaries.empty()) all.push_back(load(o, "words"));
    return all;
}

class report {
  public:
    report(const options& o, dictionary::speller& by) : o_(o), speller_(by) {}

    void check(const std::string& path) {
        const auto form =
            o_.markup == "auto" ? dictionary::markup_of(path) : *named<dictionary::markup>(o_.markup);
        const std::string text = dictionary::without_markup(read_text(path), form);
        const std::uint64_t before = found_;
        std::size_t line = 1, line_start = 0, at = 0;  // at moves forward only: one pass over the text
        dictionary::for_each_block(text, [&](std::string_view block, std::size_t start) {
            const auto found = speller_.misspelt(block);
            if (o_.suggest && !o_.quiet && !o_.count) suggest_for(found);
            for (const auto& each : found) {
                if (o_.unique && !told_.insert(each.word).second) continue;
                const std::size_t offset = start + each.offset;
                for (; at < offset; ++at) {
                    if (text[at] != '\n') continue;
                    line_start = at + 1;
                    ++line;
                }
                tell(path, line, offset - line_start + 1, each.word);
            }
        });
        if (o_.count && !o_.quiet && !o_.json) print(fmt::format("{}{}\n", prefix(path), found_ - before));
    }
    void finish() {
        if (o_.json && !o_.quiet)
            print(json{{"words", speller_.words()},
                       {"misspelt", found_},
                       {"expected_missed", speller_.expected_missed()},
                       {"found", list_}}
                      .dump(2, ' ', false, json::error_handler_t::replace) +
                  "\n");
        if (false_ >= 0.5)
            fmt::print(stderr,
                       "posy: note: of the suggestions some {:.0f} are no words, but false positives of the "
                       "dictionary; seal it with --fpr 1e-6 or lower\n",
                       false_);
        if (found_ == 0) throw answer_is_no{};
    }

  private:
    std::string prefix(const std::string& path) const {
        return o_.texts.size() > 1 ? display_name(path) + ":" : std::string();
    }
    void tell(const std::string& path, std::size_t line, std::size_t column, const std::string& word) {
        ++found_;
        if (o_.quiet || o_.count) return;
        std::vector<std::string> meant;
        if (o_.suggest) meant = suggestions_.at(word);
        if (o_.json) {
            list_.push_back(
                {{"file", display_name(path)}, {"line", line}, {"column", column}, {"word", word}});
            if (o_.suggest) list_.back()["suggestions"] = meant;
        } else {
            print(fmt::format("{}{}:{}{}{}\n", prefix(path), line, word, o_.suggest ? ": " : "",
                              fmt::join(meant, ", ")));
        }
    }
    // On all cores: a word takes up to some milliseconds.
    void suggest_for(const std::vector<dictionary::speller::misspelling>& found) {
        std::vector<std::pair<const std::string, std::vector<std::string>>*> fresh;
        for (const auto& each : found) {
            const auto [place, is_new] = suggestions_.try_emplace(each.word);
            if (is_new) fresh.push_back(&*place);
        }
        std::vector<double> wrong(fresh.size());
        base::for_each_index(fresh.size(), base::usable_cores(), [&](std::size_t i) {
            auto made = dictionary::suggest(speller_.dictionaries(), fresh[i]->first, o_.most);
            wrong[i] = made.expected_false;
            fresh[i]->second = std::move(made.words);
        });
        for (const double each : wrong) false_ += each;
    }

    const options& o_;
    dictionary::speller& speller_;
    std::uint64_t found_ = 0;
    double false_ = 0;
    json list_ = json::array();
    std::unordered_set<std::string> told_;
    std::unordered_map<std::string, std::vector<std::string>> suggestions_;
};

void run(const options& o) {
    dictionary::speller by(load(o));
    report all(o, by);
    for (const std::string& text : o.texts) all.check(text);
    all.finish();
}

template <class Enum>
std::vector<std::string> auto_or_names() {
    std::vector<std::string> all = names_of<Enum>();
    all.insert(all.begin(), "auto");
    return all;
}

}  // namespace

void add_spell(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command =
        add_command(app, "spell", "Print the misspelt words of texts, by dictionaries that are filters",
                    "  posy spell letter.txt                                  by the system's list, "
                    "/usr/share/dict/words\n"
                    "  posy spell --suggest letter.txt                        and what may have been meant\n"
                    "  posy spell -d british-english -d names.txt *.md        right is what any of them has\n"
                    "  posy seal /usr/share/dict/words --fpr 0.001 -o words.posy    1.25 bytes per word\n"
                    "  posy spell -d words.posy --affixes english page.html\n"
                    "A word in lower case in the dictionary accepts it Capitalised and in CAPITALS, too; not "
                    "the reverse.\n"
                    "Exit status: 0 if a misspelt word was found, 1 if none, 2 on an error.");
    command.add_option(
        "TEXTS", o->texts,
        "Files of text in UTF-8, compressed by gzip or zstd or not; - or none for standard input");
    command.add_option("-d,--dictionary FILE", o->dictionaries,
                       "Dictionary: a filter, a list with a word per line, a URL, or the name of a list in "
                       "/usr/share/dict; can be repeated (default: words)");
    command
        .add_option(
            "--affixes LANGUAGE", o->affixes,
            "Language by whose rules endings and prefixes are taken off; auto goes by the name of the "
            "dictionary")
        .one_of(auto_or_names<dictionary::language>())
        .shows_default();
    command.add_flag("--strict", o->strict, "Take off no affixes: only what a dictionary has is right");
    command.add_option("--markup FORM", o->markup, "Markup to skip; auto goes by the end of the file's name")
        .one_of(auto_or_names<dictionary::markup>())
        .shows_default();
    command.add_flag("-s,--suggest", o->suggest,
                     "Add words of the dictionary that are one or two edits away");
    command.add_option("--most N", o->most, "Largest number of suggestions per word").shows_default();
    command.add_flag("-c,--count", o->count,
                     "Print only the number of misspelt words; with several files, that of each");
    command.add_flag("-u,--unique", o->unique, "Print each misspelt word once, where it occurs first");
    command.add_flag("-q,--quiet", o->quiet, "Print nothing; only set the exit status");
    command.add_flag("--json", o->json, "Print a JSON object");
    o->how.add_to(command);
    o->reading.add_to(command);
    command.runs([o] { run(*o); });
}

}  // namespace posy::tool
