// posy compare: how much two sets have in common, from their filters alone.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "posy/estimate.hpp"
#include "text.hpp"
#include "tool.hpp"

namespace posy::tool {

void add_compare(CLI::App& app) {
    struct state {
        std::string a, b;
        double level = 0.95;
        bool json = false;
    };
    const auto s = std::make_shared<state>();
    CLI::App* command = add_command(
        app, "compare", "Estimate the sizes of two sets, their intersection, union and similarity",
        "  posy compare monday.posy tuesday.posy\n"
        "  posy compare a.posy b.posy --level 0.99 --json");
    command->add_option("A", s->a, "A filter; - for standard input")->required();
    command->add_option("B", s->b, "Another of the same geometry")->required();
    command->add_option("--level", s->level, "How often the intervals shall hold the truth")
        ->capture_default_str();
    command->add_flag("--json", s->json, "Print a JSON object");
    command->callback([s] {
        refuse_both_from_stdin(s->a, s->b);
        if (!(s->level > 0 && s->level < 1)) throw failure("--level must lie between 0 and 1");
        const auto a = load_plain(s->a), b = load_plain(s->b);
        const auto c = take(compare(a, b, s->level), display_name(s->a) + " and " + display_name(s->b));
        if (s->json) {
            const nlohmann::ordered_json j{
                {"level", s->level},          {"a", to_json(c.a)},
                {"b", to_json(c.b)},          {"intersection", to_json(c.intersection)},
                {"union", to_json(c.united)}, {"jaccard", to_json(c.jaccard)}};
            return print(j.dump(2) + "\n");
        }
        print(fmt::format(
            "|A|       {}\n|B|       {}\n|A ∩ B|   {}\n|A ∪ B|   {}\nJaccard   {:.4f} ({:.4f} … {:.4f})\n"
            "Intervals hold the truth in {:g} % of cases.\n",
            range(c.a), range(c.b), range(c.intersection), range(c.united), c.jaccard.value, c.jaccard.low,
            c.jaccard.high, 100 * s->level));
    });
}

}  // namespace posy::tool
