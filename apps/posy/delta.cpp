// posy delta, posy apply: what changed between two generations of a filter, and the change applied.
#include "locking.hpp"
#include "tool.hpp"

namespace posy::tool {

void add_delta(command_line& app) {
    struct state {
        std::string a, b, output;
        lock_options lock;
        reading_options reading;
    };
    const auto d = std::make_shared<state>();
    d->output = "-";
    command_line delta =
        add_command(app, "delta", "Write what turns one filter into another of the same geometry",
                    "  posy delta monday.posy tuesday.posy -o change.posy\n"
                    "  posy delta old.posy new.posy | ssh host posy apply old.posy - -o new.posy");
    delta
        .add_option("OLD", d->a, "The filter that the other side has: a file, a URL, or - for standard input")
        .required();
    delta
        .add_option("NEW", d->b,
                    "The filter that the other side is to have: a file, a URL, or - for standard input")
        .required();
    delta.add_option("-o,--output FILE", d->output, "File to write; - for standard output").shows_default();
    d->reading.add_to(delta);
    delta.runs([d] {
        refuse_both_from_stdin(d->a, d->b);
        const std::string both = display_name(d->a) + " and " + display_name(d->b);
        const read_limits limits = d->reading.limits();
        save_body(d->output, take(make_delta(load_plain(d->a, limits), load_plain(d->b, limits)), both),
                  {.want = coding::smallest});
    });

    const auto s = std::make_shared<state>();
    command_line apply_command =
        add_command(app, "apply", "Apply a delta to the filter it was made against",
                    "  posy apply old.posy change.posy -o new.posy\n"
                    "  posy apply mirror.posy change.posy            changes mirror.posy in place");
    apply_command
        .add_option(
            "FILTER", s->a,
            "File of the filter, which is changed in place unless -o is given; with -o it may be a URL")
        .required();
    apply_command.add_option("DELTA", s->b, "The delta: a file, a URL, or - for standard input").required();
    apply_command.add_option(
        "-o,--output FILE", s->output,
        "File to write instead of FILTER; - for standard output (default: FILTER itself)");
    s->lock.add_to(apply_command);
    s->reading.add_to(apply_command);
    apply_command.runs([s] {
        refuse_both_from_stdin(s->a, s->b);
        const std::string& target = s->output.empty() ? s->a : s->output;
        const auto lock = change_lock::to_change({s->a}, target, s->lock);
        const read_limits limits = s->reading.limits();
        bloom_filter filter = load_plain(s->a, limits);
        // A delta of few bytes may be as large as the filter that is here, and no larger.
        const message m = load_message(s->b, limits.holding(filter.bits().words().size_bytes()));
        const auto* change = std::get_if<filter_delta>(&m.body);
        if (!change) throw failure(display_name(s->b) + ": this is a filter, not a delta");
        take(apply(filter, *change), display_name(s->a));
        save_body(target, filter, {}, &lock);
        warn_if_past_plan(filter, target);
    });
}

}  // namespace posy::tool
