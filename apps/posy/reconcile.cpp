// posy reconcile: find what each of two sets has that the other has not, with few bytes sent.
#include "posy/reconcile/session.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "filter_options.hpp"
#include "keys.hpp"
#include "numbers.hpp"
#include "reconcile_keys.hpp"
#include "reconcile_peer.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using namespace reconcile;

struct options {
    std::vector<std::string> peer_command;  // none: the peer is a file, or at the end of pipes
    key_options keys;
    reading_options reading;
    hash_options hash{hash_family::siphash};
    std::optional<option> family, size;  // --hash, --bits-per-item
    std::string method = "exact", in, out, limit;
    double bits_per_item = 10;
    unsigned digest_bits = 64;
    bool remote = false, missing_here = false, missing_there = false, json = false, verbose = false;

    hasher the_hasher() const {
        if (hash.family() == hash_family::siphash && !hash.has_seed())
            return take(fresh_hasher(), "reconcile: give a --seed");
        return hasher(hash.family(), hash.seed());
    }
    // Whether the peer may choose this hash.
    bool follows(const hasher& theirs) const {
        return posy::check(theirs) && (!family->given() || hash.family() == theirs.family()) &&
               (!hash.has_seed() || the_hasher() == theirs);
    }
    digest_width width() const { return digest_bits == 64 ? digest_width::half : digest_width::full; }
    settings how() const {
        settings s{
            .method = *named<reconcile::method>(method), .bits_per_item = bits_per_item, .fetch = true};
        if (const read_limits wanted = reading.limits(); wanted.expansion == 0) s.limits = wanted;
        if (!limit.empty()) s.limits.max_bytes = parse_amount(limit);
        return s;
    }
};

// Fails with what is wrong. An error about a limit names the option that raises it.
template <class T>
T agree(result<T> value, const settings& how, const std::string& who) {
    if (value) {
        if constexpr (std::is_void_v<T>)
            return;
        else
            return std::move(*value);
    }
    const error& why = value.error();
    const bool of_messages =
        (how.limits.expansion != 0 || how.limits.max_bytes != how.limits.believed_bytes) &&
        why.limit == how.limits.max_bytes;
    throw failure(who + ": " + text_of(why, of_messages ? "--limit" : "--max-array"));
}

// Delivers all that `from` has to send.
bool deliver(session& from, session& to, const settings& how) {
    bool any = false;
    while (auto message = from.send()) {
        any = true;
        agree(to.receive(*message), how, "reconcile");
    }
    return any;
}

// Messages from and to the peer.
class line {
  public:
    line(peer other, const settings& how)
        : other_(std::move(other)), how_(how), reader_(other_.in(), how.limits) {}

    message next() {
        std::optional<message> next;
        if (other_.wait()) next = agree(reader_.next(), how_, "the peer");
        if (!next) throw failure("the peer ended the conversation too early");
        return std::move(*next);
    }
    result<void> say(const std::vector<std::byte>& message) {
        return base::write_fully(other_.out(), message);
    }
    std::string finish() { return other_.finish(); }
    void hear(session& mine, const message& m) const {
        agree(mine.receive(to_bytes(m.body)), how_, "reconcile");
    }

  private:
    peer other_;
    settings how_;
    message_reader reader_;
};

void converse(session& mine, line& with, const message* first = nullptr) {
    const auto answering = [&](auto&& hear_next) {
        try {
            hear_next();
        } catch (const failure&) {
            if (auto why = mine.send()) (void)with.say(*why);
            throw;
        }
    };
    if (first) answering([&] { with.hear(mine, *first); });
    while (true) {
        while (auto message = mine.send()) {
            // A peer that ended may have said why.
            if (auto sent = with.say(*message); !sent) {
                with.hear(mine, with.next());
                take(sent, "the peer");
            }
        }
        if (mine.done()) return;
        answering([&] { with.hear(mine, with.next()); });
    }
}

void converse_with_command(session& mine, const settings& how, const std::vector<std::string>& command) {
    line with(peer::command(command), how);
    std::string wrong;
    try {
        converse(mine, with);
    } catch (const failure& f) {
        wrong = f.what();
    }
    const std::string end = with.finish();
    if (wrong.empty()) return;  // the reconciliation is complete, however the command ends after that
    throw failure(wrong + (end.empty() ? "" : "; the command '" + command[0] + "' " + end));
}

void show_costs(const options& o, const outcome& d) {
    const bool exact = o.method == "exact";
    if (exact && !o.verbose) return;
    std::string line = fmt::format("posy: {} only here and {} only there", count(double(d.only_here.size())),
                                   count(double(d.only_there.size())));
    if (!exact) {
        line += fmt::format("; expected to be {} % and {} % of the differences",
                            fixed(100 * d.here_expected, 2), fixed(100 * d.there_expected, 2));
    }
    line += '\n';
    const auto cost = [&](const char* what, const traffic& t) {
        line += fmt::format("posy: {}: {} bytes sent, {} received, round trips: {}\n", what,
                            count(double(t.sent)), count(double(t.received)), t.round_trips);
    };
    if (o.verbose) {
        cost("to find them", d.finding);
        cost("to tell them", d.telling);
        if (d.listed > 0) line += fmt::format("posy: {} keys listed\n", count(double(d.listed)));
        if (d.symbols > 0) line += fmt::format("posy: {} coded symbols\n", count(double(d.symbols)));
        if (!exact) {
            line += fmt::format("posy: {} keys and {} tree nodes were looked up here\n",
                                count(double(d.elements_visited)), count(double(d.nodes_visited)));
        }
    }
    fmt::print(stderr, "{}", line);
}

std::string to_json(const options& o, const key_table& table, const outcome& d,
                    const std::vector<std::string>& here, const std::vector<std::string>& there) {
    const auto cost = [](const traffic& t) {
        return nlohmann::ordered_json{
            {"bytes_sent", t.sent}, {"bytes_received", t.received}, {"round_trips", t.round_trips}};
    };
    const nlohmann::ordered_json j{{"method", o.method},
                                   {"items_here", table.set().size()},
                                   {"items_there", d.items_there},
                                   {"only_here", here},
                                   {"only_there", there},
                                   {"expected_share_here", d.here_expected},
                                   {"expected_share_there", d.there_expected},
                                   {"finding", cost(d.finding)},
                                   {"telling", cost(d.telling)},
                                   {"symbols", d.symbols},
                                   {"listed", d.listed},
                                   {"elements_visited", d.elements_visited},
                                   {"nodes_visited", d.nodes_visited}};
    return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void show(const options& o, const key_table& table, const outcome& d) {
    std::vector<std::string> here, there = d.texts;
    for (const digest& element : d.only_here) here.push_back(table.text_of(element));
    std::ranges::sort(here);
    std::ranges::sort(there);
    if (o.json) {
        print(to_json(o, table, d, here, there));
    } else {
        const bool both = o.missing_here == o.missing_there;
        std::string out;
        const auto list = [&](const std::vector<std::string>& keys, const char* mark) {
            for (const std::string& key : keys) ((out += both ? mark : "") += key) += o.keys.record_end();
        };
        if (both || o.missing_there) list(here, "< ");
        if (both || o.missing_here) list(there, "> ");
        print(out);
        show_costs(o, d);
    }
    if (here.empty() && there.empty()) throw answer_is_no{};
}

void check(const options& o) {
    const std::size_t files = o.keys.files.size();
    const bool pipes = !o.in.empty();
    if (o.size->given() && o.method == "exact")
        throw failure(
            "--bits-per-item is the size of a filter or tree, and --method exact has none; leave it out, or "
            "choose another --method");
    if (o.in.empty() != o.out.empty()) throw failure("--in and --out must be given together");
    if ((files > 1) + !o.peer_command.empty() + (pipes || o.remote) != 1 || files < 1 || files > 2) {
        throw failure(
            "reconcile takes two files; or one file, and the command of the peer after --; or one file, and "
            "--in and --out, or --remote");
    }
    if (files == 2) refuse_both_from_stdin(o.keys.files[0], o.keys.files[1]);
    if (o.remote && !pipes) {
        if (o.keys.files[0] == "-")
            throw failure("with --remote, standard input comes from the peer; name a file of keys");
        if (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO))
            throw failure(
                "--remote is for the other end of 'posy reconcile FILE -- COMMAND', and this is a terminal; "
                "use --in and --out, or leave --remote out");
    }
}

// The side that answers takes the hash of the side that asks, unless its own options say otherwise: the
// session then reports the difference.
session answer_as_asked(const options& o, key_table& table, const settings& how, const message& first) {
    const auto* asks = std::get_if<envelope>(&first.body);
    table.hash_by(asks && o.follows(asks->hash()) ? asks->hash() : o.the_hasher());
    return session::answer(table.set(), how, table.owner());
}

void run(const options& o) {
    check(o);
    key_options here = o.keys, there = o.keys;
    here.files = {o.keys.files[0]};
    there.files = {o.keys.files.back()};
    key_table table(here, o.width());
    settings how = o.how();
    const bool silent = o.remote && o.in.empty();
    how.fetch = !silent;
    if (o.remote) {
        line with(silent ? peer::standard() : peer::pipes(o.in, o.out), how);
        const message first = with.next();
        session mine = answer_as_asked(o, table, how, first);
        converse(mine, with, &first);
        if (!silent) show(o, table, mine.found());
        return;
    }
    const hasher hash = o.the_hasher();
    table.hash_by(hash);
    session mine = take(session::ask(table.set(), how, table.owner()), "reconcile");
    if (o.keys.files.size() == 2) {
        key_table other(there, o.width());
        other.hash_by(hash);
        how.fetch = false;
        session theirs = session::answer(other.set(), how, other.owner());
        while (deliver(mine, theirs, how) || deliver(theirs, mine, how)) continue;
    } else if (!o.peer_command.empty()) {
        converse_with_command(mine, how, o.peer_command);
    } else {
        line with(peer::pipes(o.in, o.out), how);
        converse(mine, with);
    }
    show(o, table, mine.found());
}

}  // namespace

void add_reconcile(command_line& app, const std::vector<std::string>& peer_command) {
    const auto o = std::make_shared<options>();
    o->peer_command = peer_command;
    command_line command = add_command(
        app, "reconcile", "Find what each of two sets has that the other has not",
        "  posy reconcile monday.txt tuesday.txt              < only in the first, > only in the second\n"
        "  posy reconcile here.txt -- ssh host posy reconcile --remote there.txt\n"
        "  posy reconcile here.txt --missing-here -- ssh host posy reconcile --remote there.txt >> here.txt\n"
        "  posy reconcile a.txt --in to-a --out to-b          and at the other end of the named pipes:\n"
        "  posy reconcile b.txt --in to-b --out to-a --remote\n"
        "Both sides must read keys in the same way and have the same --digest-bits. The side without "
        "--remote\n"
        "chooses the method and the hash: siphash under a seed drawn for each run, so that colliding keys\n"
        "cannot be prepared. Exit status: 0 if a difference was found, 1 if none, 2 on an error.");
    o->keys.add_to(command, "FILES", "One file of keys, or two; - for standard input");
    command
        .add_option(
            "--method", o->method,
            "exact finds every difference; filter and tree find most of them, by a Bloom filter or a tree")
        .one_of(names_of<reconcile::method>())
        .shows_default();
    command
        .add_option("--bits-per-item BITS", o->bits_per_item,
                    "Bits per item of the filter or tree, with --method filter or tree")
        .shows_default();
    command
        .add_option("--digest-bits BITS", o->digest_bits,
                    "Bits of the digest that stands for a key, 64 or 128; the same on both sides")
        .one_of({"64", "128"})
        .shows_default();
    command.add_flag("--missing-here", o->missing_here,
                     "Print only the keys that this side lacks, without the mark >");
    command.add_flag("--missing-there", o->missing_there,
                     "Print only the keys that the other side lacks, without the mark <");
    command.add_flag("--remote", o->remote,
                     "Answer a peer on standard input and output, or on --in and --out");
    command.add_option("--in PIPE", o->in,
                       "Named pipe to read the messages of the peer from; needs --out (default: none)");
    command.add_option("--out PIPE", o->out,
                       "Named pipe to write the messages for the peer to; needs --in (default: none)");
    add_amount(command, "--limit SIZE", o->limit,
               "Largest message to accept from a peer in bytes, e.g. 64MiB (default: 1GiB)");
    o->reading.add_to(command);
    command.add_flag("-v,--verbose", o->verbose,
                     "Show on standard error how many bytes and round trips it took");
    command.add_flag("--json", o->json, "Print the differences and what they took as a JSON object")
        .excludes("--missing-here")
        .excludes("--missing-there")
        .excludes("--verbose");
    o->hash.add_to(command, "a random one for each run; with --remote, that of the peer");
    o->family = command.find("--hash");
    o->size = command.find("--bits-per-item");
    command.runs([o] {
        std::signal(SIGPIPE, SIG_IGN);  // the other side's end is an error with a text
        run(*o);
    });
}

}  // namespace posy::tool
