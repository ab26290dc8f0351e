// posy password: passwords that have leaked, and those that are like them, are refused.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>

#include "keys.hpp"
#include "numbers.hpp"
#include "password_file.hpp"
#include "posy/base/wipe.hpp"
#include "posy/dictionary/password_list.hpp"
#include "secret_lines.hpp"
#include "source.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using dictionary::password_list, dictionary::password_verdict;

struct seal_options {
    key_options keys;
    std::string output, form;
    double rate = password_list::default_rate;
};

// The name of a file without its extensions: what the lines of a range lack.
std::string prefix_of(const input_file& file) {
    const std::string name = std::filesystem::path(file.name).filename();
    return name.substr(0, name.find('.'));
}

std::vector<digest> read(const seal_options& o) {
    const bool published = o.form == "sha1";
    std::vector<digest> all;
    std::atomic<bool> any_other = false;  // a line that is no hash
    std::mutex one_at_a_time;
    for_each_block(o.keys, "reading", [&](const block& piece) {
        std::vector<digest> mine;
        const std::string prefix = prefix_of(*piece.file);
        for_each_key(o.keys, piece, [&](std::string_view key, std::string_view record) {
            if (key.empty()) return;
            if (!published) {
                mine.push_back(dictionary::password_digest(key));
                if (!any_other && !dictionary::published_digest(key, prefix)) any_other = true;
                return;
            }
            const auto hash = dictionary::published_digest(key, prefix);
            if (!hash) throw failure(where(piece, record) + ": " + hash.error().message);
            if (*hash) mine.push_back(**hash);
        });
        const std::lock_guard lock(one_at_a_time);
        all.insert(all.end(), mine.begin(), mine.end());
    });
    if (o.form.empty() && !any_other && !all.empty())
        throw failure("every line is a SHA-1 hash: give --form sha1, or --form plain if these are passwords");
    return all;
}

void seal(seal_options o) {
    check_output(o.output);
    o.keys.lines_of_text = true;
    if (o.form != "sha1") base::forbid_core_dumps();
    if (o.form == "sha1") o.keys.trim = true;  // no hash has blanks
    const auto list = take(password_list::make(read(o), {o.rate, o.keys.thread_count()}), "password");
    save_body(o.output, list.filter());
    if (!isatty(STDERR_FILENO)) return;
    const auto& filter = list.filter();
    fmt::print(stderr,
               "{} passwords in {}; one of ten characters that is unlike them is refused with odds of {}\n",
               count(static_cast<double>(list.passwords())), bytes(filter.bytes().size()),
               rate(dictionary::false_refusals(filter.false_positive_rate(), 10)));
}

struct check_options {
    std::vector<std::string> lists;
    reading_options reading;
    std::string alphabet = std::string(dictionary::printable_ascii());
    bool quiet = false;
};

password_list load_list(const std::string& path, const check_options& o) {
    message m = load_message(path, o.reading.limits());
    const auto* sealed = std::get_if<sealed_filter>(&m.body);
    if (!sealed)
        throw failure(display_name(path) + ": " + kind_name(m.body) +
                      ", not a list of passwords; 'posy password seal' makes one");
    return take(password_list::open(*sealed), display_name(path));
}

void check(const check_options& o) {
    std::vector<password_list> lists;
    for (const std::string& path : o.lists) {
        if (path == "-") throw failure("standard input has the passwords; name the file of the list");
        // It may be a password, so it is not shown.
        std::error_code unknown;
        if (!is_url(path) && !std::filesystem::exists(path, unknown))
            throw failure(
                fmt::format("there is no file of the name that is list {}; passwords come on standard "
                            "input, not as arguments",
                            lists.size() + 1));
        lists.push_back(load_list(path, o));
    }
    const auto letters = dictionary::alphabet(o.alphabet);
    secret_lines passwords(password_list::longest, "Password: ");
    bool any = false, refused = false;
    while (const auto password = passwords.next()) {
        auto verdict = password_verdict::fine;
        for (const auto& list : lists) {
            const auto found = list.check(*password, letters);
            if (found != password_verdict::fine) verdict = found;
            if (found == password_verdict::listed) break;
        }
        any = true;
        refused = refused || verdict != password_verdict::fine;
        if (!o.quiet) print(fmt::format("{}\n", name_of(verdict)));
    }
    // An empty input must not pass for a good password.
    if (!any) throw failure("no password came on standard input");
    if (refused) throw answer_is_no{};
}

void add_seal_part(command_line& whole) {
    const auto o = std::make_shared<seal_options>();
    command_line command = add_command(
        whole, "seal", "Make a list of leaked passwords that 'posy password check' reads",
        "  posy password seal leaked.txt -o leaked.posy\n"
        "  posy password seal --form sha1 pwned-passwords-sha1.txt -o leaked.posy\n"
        "  posy password seal --form sha1 ranges/????? -o leaked.posy      00000, 00001, … FFFFF\n"
        "A line is a password, with its quotes and commas, whatever the name of the file is. For tables\n"
        "there are --csv, --tsv and --field. Lines end with LF or CR LF; empty ones are skipped.\n"
        "A list cannot be added to: check several lists instead.");
    o->keys.add_to(command, "FILES", "Files of passwords, compressed or not; - or none for standard input");
    command.add_option("-o,--output FILE", o->output, "File to write; - for standard output").required();
    command
        .add_option("--form", o->form,
                    "Form of the files: plain, a password per line; sha1, lines HASH:COUNT or HASH as Have I "
                    "Been Pwned publishes them, whole or as files of a range that are named by the first "
                    "digits of their hashes (default: plain, and files of hashes are an error)")
        .one_of({"plain", "sha1"});
    command
        .add_option("-f,--fpr RATE", o->rate,
                    "Rate of the filter; a password of L characters has (2 L + 1) 95 questions, and may be "
                    "refused by mistake for each of them")
        .shows_default();
    command.runs([o] { seal(*o); });
}

void add_check_part(command_line& whole) {
    const auto o = std::make_shared<check_options>();
    command_line command = add_command(
        whole, "check", "Say whether passwords are in a list, or one edit away from one that is",
        "  posy password check leaked.posy                 asks for a password, and does not show it\n"
        "  posy password check leaked.posy < new.txt       a line for each: ok, empty, listed or near\n"
        "  posy password check -q leaked.posy our-own.posy < new.txt && echo accepted\n"
        "Passwords are read from standard input, never from arguments, and are not printed or kept.\n"
        "They have at most 128 bytes. Exit status: 0 if all are fine, 1 if one is refused, 2 on an error.");
    command.add_option("LISTS", o->lists, "Lists that 'posy password seal' made: files or URLs").required();
    o->reading.add_to(command);
    command.add_option(
        "--alphabet CHARACTERS", o->alphabet,
        "Characters that an edit inserts or puts in place of another (default: printable ASCII)");
    command.add_flag("-q,--quiet", o->quiet, "Print nothing; only set the exit status");
    command.runs([o] { check(*o); });
}

}  // namespace

bool is_password_list(const any_body& body) {
    constexpr double rare = 1e-4;
    const auto* sealed = std::get_if<sealed_filter>(&body);
    return sealed && sealed->false_positive_rate() < rare && password_list::open(*sealed);
}

void add_password(command_line& app) {
    command_line password =
        add_command(app, "password", "Refuse passwords that have leaked, and what is one edit away from them",
                    "  posy password seal leaked.txt -o leaked.posy\n"
                    "  posy password check leaked.posy < new-password.txt");
    add_seal_part(password);
    add_check_part(password);
}

}  // namespace posy::tool
