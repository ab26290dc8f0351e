// posy union, intersect, fold: set algebra on files.
#include "foreign.hpp"
#include "locking.hpp"
#include "posy/algebra.hpp"
#include "streaming.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// How a command takes each message, and how it combines two.
struct combination {
    any_body (*operand)(any_body, const std::string& name);
    result<void> (*combine)(any_body& into, const any_body& from);
};

template <class Body>
concept unites = requires(Body& into, const Body& from) {
    unite(into, from);
};

any_body plain_operand(any_body body, const std::string& name) { return plain_of(std::move(body), name); }

// Growing and window filters and sketches are united as what they are, all others as the plain filter in
// them.
any_body united_operand(any_body body, const std::string& name) {
    const auto as_it_is = []<class Body>(const Body&) { return unites<Body>; };
    return std::visit(as_it_is, body) ? std::move(body) : plain_operand(std::move(body), name);
}

result<void> unite_any(any_body& into, const any_body& from) {
    if (into.index() != from.index())
        return error::mismatch(kind_name(from) + " cannot be united with " + kind_name(into));
    return std::visit(
        [&]<class Body>(Body& mine) -> result<void> {
            if constexpr (unites<Body>) return unite(mine, std::get<Body>(from));
            return error::mismatch(kind_name(into) + " cannot be united");
        },
        into);
}

result<void> intersect_any(any_body& into, const any_body& from) {
    return intersect(std::get<bloom_filter>(into), std::get<bloom_filter>(from));
}

// Filters of other programs, if the first is one; whether it is.
bool unite_foreign(const std::vector<std::string>& files, const std::string& output,
                   const foreign_options& o) {
    const auto all = load_foreign(files[0], o);
    if (!all) {
        for (const std::string& file : files)
            refuse_foreign(file, "; it and a filter of Posy's own do not unite");
        return false;
    }
    for (std::size_t i = 1; i < files.size(); ++i) {
        const auto next = load_foreign(files[i], o);
        if (!next)
            throw failure(display_name(files[i]) +
                          ": not a filter of the same program as the first; filters of Posy's own and of "
                          "other programs do not unite");
        take(all->unite(*next), display_name(files[i]));
    }
    save_foreign(output, take(all->to_bytes(), display_name(files[0])));
    return true;
}

// Of a reducer, whose filters come from mappers.
result<void> hinted(result<void> done, bool streaming) {
    if (done || !streaming || done.error().kind != error_kind::mismatch) return done;
    error why = done.error();
    why.message += "; all mappers need the same --items, --fpr and --seed";
    return why;
}

void add_combination(command_line& app, const std::string& name, const std::string& what,
                     const std::string& examples, combination how) {
    struct state {
        std::vector<std::string> files;
        std::string output = "-";
        foreign_options foreign;
        bool streaming = false;
        lock_options lock;
        reading_options reading;
    };
    const auto s = std::make_shared<state>();
    command_line command = add_command(app, name, what, examples);
    command
        .add_option("FILES", s->files,
                    "Filters of one kind and geometry: files or URLs with one or several in each, or - for "
                    "standard input")
        .required();
    command.add_option("-o,--output FILE", s->output, "File to write; - for standard output").shows_default();
    if (how.combine == unite_any)
        s->foreign.add_to(command, "FILES are filters of another program, where their bytes do not tell");
    command.add_flag("--streaming", s->streaming,
                     "Read lines of 'posy build --streaming', equal ones once, and print such a line to "
                     "standard output; with -o FILE, write the filter");
    if (how.combine == unite_any) command.find("--format").excludes("--streaming");
    s->lock.add_to(command);
    s->reading.add_to(command);
    command.runs([s, how] {
        const auto lock = change_lock::to_change(s->files, s->output, s->lock);
        if (how.combine == unite_any && !s->streaming && unite_foreign(s->files, s->output, s->foreign))
            return;
        std::optional<any_body> all;
        const auto combine = [&](message next, const std::string& file) {
            any_body body = how.operand(std::move(next.body), file);
            if (!all) {
                all = std::move(body);
            } else {
                take(hinted(how.combine(*all, body), s->streaming), file);
            }
        };
        if (s->streaming) {
            for_each_streamed(s->files, combine, s->reading.limits());
        } else {
            for_each_message(s->files, combine, s->reading.limits());
        }
        if (s->streaming && s->output == "-") return print_streaming(*all);
        save_body(s->output, *all, {}, &lock);
        warn_if_past_plan(*all, s->output);
    });
}

void add_fold(command_line& app) {
    struct state {
        std::string file, output = "-";
        std::uint64_t by = 2;
        lock_options lock;
        reading_options reading;
    };
    const auto s = std::make_shared<state>();
    command_line command =
        add_command(app, "fold", "Make a filter smaller: the same set in fewer bits",
                    "  posy fold big.posy -o half.posy\n"
                    "  posy fold big.posy --by 10 -o tenth.posy\n"
                    "The result is, bit for bit, the filter that would have been built at that size.");
    command.add_option("FILE", s->file, "The filter: a file, a URL, or - for standard input").required();
    command
        .add_option("--by N", s->by, "Factor by which the array shrinks; must divide the number of its bits")
        .between(std::uint64_t{1}, max_bits)
        .shows_default();
    command.add_option("-o,--output FILE", s->output, "File to write; - for standard output").shows_default();
    s->lock.add_to(command);
    s->reading.add_to(command);
    command.runs([s] {
        const auto lock = change_lock::to_change({s->file}, s->output, s->lock);
        const bloom_filter filter = load_plain(s->file, s->reading.limits());
        save_body(s->output, take(fold(filter, s->by), display_name(s->file)), {}, &lock);
    });
}

}  // namespace

void add_set_algebra(command_line& app) {
    add_combination(
        app, "union", "Unite filters or sketches: exactly that of the united sets",
        "  posy union monday.posy tuesday.posy -o week.posy\n"
        "  cat part-*.posy | posy union - -o all.posy              the reducer of a map-reduce job\n"
        "  posy union sketch-*.posy -o all.posy                    sketches add up",
        {united_operand, unite_any});
    add_combination(app, "intersect", "Intersect filters: contains the common keys, and a few more",
                    "  posy intersect a.posy b.posy -o common.posy\n"
                    "  posy compare a.posy b.posy                              how many keys are common\n"
                    "A key of only one set passes with the false-positive rate of the other filter.",
                    {plain_operand, intersect_any});
    add_fold(app);
}

}  // namespace posy::tool
