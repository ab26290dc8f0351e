#include "command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <sstream>

#include "edit_distance.hpp"
#include "numbers.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using text_function = std::function<std::string(const std::string&)>;

// A check without a name: a name would stand in the help, beside that of the value.
void add_check(CLI::Option& o, const text_function& wrong) { o.check(CLI::Validator(wrong, "", "check")); }

void split(const std::string& names, std::string& options, std::string& value) {
    const std::size_t space = names.find(' ');
    options = names.substr(0, space);
    value = space == std::string::npos ? "" : names.substr(space + 1);
}

std::string joined(const std::vector<std::string>& words) { return CLI::detail::join(words, ","); }

// one_of() writes the values of an option in place of what else stands for its value.
std::string set_of(const std::vector<std::string>& values) { return "{" + joined(values) + "}"; }
std::vector<std::string> values_in(const std::string& set) {
    if (!set.starts_with('{')) return {};
    return CLI::detail::split(set.substr(1, set.size() - 2), ',');
}

option_description description_of(const CLI::Option& o) {
    return {.names = o.get_name(o.get_positional(), true),
            .long_names = o.get_lnames(),
            .short_names = o.get_snames(),
            .value = o.get_items_expected_max() > 0 ? o.get_type_name() : "",
            .help = o.get_description(),
            .choices = values_in(o.get_type_name()),
            .several = o.get_delimiter() != '\0'};
}

constexpr std::size_t help_columns = 98;  // and two more where --help-all puts a margin

// The words of the text in lines of at most this many characters; each but the first is behind a margin.
std::string wrapped(const std::string& text, std::size_t first, std::size_t margin) {
    std::string out;
    std::size_t column = first;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (column > margin && column + 1 + word.size() > help_columns) {
            out += "\n" + std::string(margin, ' ');
            column = margin;
        } else if (column > margin) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
    }
    return out;
}

// Help that fits the columns.
class narrow_help : public CLI::Formatter {
  public:
    std::string make_subcommand(const CLI::App* command) const override {
        const std::string name = "  " + command->get_name();
        return name + std::string(margin - name.size(), ' ') +
               wrapped(command->get_description(), margin, margin) + "\n";
    }
    std::string make_option(const CLI::Option* o, bool positional) const override {
        std::string line = "  " + wrapped(make_option_name(o, positional) + make_option_opts(o), 2, 2);
        line += line.size() + 2 > margin ? "\n" + std::string(margin, ' ')
                                         : std::string(margin - line.size(), ' ');
        return line + wrapped(make_option_desc(o), margin, margin) + "\n";
    }
    // Behind the footer of a command that takes amounts: what their units are.
    std::string make_footer(const CLI::App* app) const override {
        const auto is_amount = [](const CLI::Option* o) {
            return o->get_type_name() == "N" || o->get_type_name() == "SIZE";
        };
        const bool any = !app->get_options(is_amount).empty();
        return CLI::Formatter::make_footer(app) + (any ? amount_units + std::string("\n") : "");
    }

    // Without the lists of options that exclude this one: whoever gives both is told.
    std::string make_option_opts(const CLI::Option* o) const override {
        const std::string all = CLI::Formatter::make_option_opts(o);
        std::string own = all.substr(0, all.find(" Excludes:"));
        if (own.size() < longest_set) return own;
        return CLI::detail::find_and_replace(std::move(own), ",", ", ");  // a long set is wrapped
    }

  private:
    static constexpr std::size_t margin = 30, longest_set = 90;
};

// A number of keys is none of bytes: who writes 1B may mean a billion.
std::string not_bytes(const std::string& text) {
    const bool digits_first = !text.empty() && text[0] >= '0' && text[0] <= '9';
    if (!digits_first || (!text.ends_with('b') && !text.ends_with('B'))) return {};
    return "'" + text + "' is in bytes; give a number such as 1000, 10M (10,000,000) or 1G (a billion)";
}

// The options and commands that could have been meant where there was this.
std::vector<std::string> names_in(const CLI::App& app, bool options) {
    std::vector<std::string> all;
    for (const CLI::Option* o : app.get_options())
        for (const std::string& name : o->get_lnames()) all.push_back("--" + name);
    if (options) return all;
    all.clear();
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        all.push_back(command->get_name());
    return all;
}

// "seal or check"
std::string in_words(const std::vector<std::string>& names) {
    std::string all;
    for (std::size_t i = 0; i < names.size(); ++i)
        all += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
    return all;
}

// The arguments that nobody wanted, in words; empty if there are none.
std::string unwanted(const CLI::App& at, const std::vector<std::string>& left) {
    if (left.empty()) return {};
    const std::string word = left.front().substr(0, left.front().find('='));
    const bool is_option = word.starts_with('-');
    const bool has_commands = !names_in(at, false).empty();
    const auto meant = nearest(word, names_in(at, is_option));
    const std::string hint = meant ? "; did you mean " + *meant + "?" : "";
    if (is_option) return "there is no option " + word + hint;
    if (has_commands) return "there is no command '" + word + "'" + hint;
    return "'" + word + "' is an argument too many";
}

command_description description_of(const CLI::App& app) {
    command_description d{.name = app.get_name(), .what = app.get_description(), .footer = app.get_footer()};
    for (const CLI::Option* o : app.get_options()) {
        if (o->get_group().empty()) continue;
        (o->get_positional() ? d.arguments : d.options).push_back(description_of(*o));
    }
    return d;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace

option option::required() const {
    option_->required();
    return *this;
}

option option::one_of(const std::vector<std::string>& values) const {
    const std::string set = set_of(values);
    option_->type_name(set);
    return check([values, set](const std::string& text) {
        return std::ranges::find(values, text) == values.end() ? text + " not in " + set : "";
    });
}

option option::between(double low, double high) const {
    return check([low, high](const std::string& text) {
        const auto number = parse_number(text);
        const bool fine = number && *number >= low && *number <= high;
        return fine ? "" : fmt::format("Value {} not in range {} to {}", text, low, high);
    });
}

option option::positive() const {
    return check([](const std::string& text) {
        const auto number = parse_number(text);
        const bool fine = number && *number > 0 && *number <= std::numeric_limits<double>::max();
        return fine ? "" : text + " is not above 0";
    });
}

option option::existing_file() const {
    add_check(*option_, [](const std::string& text) { return CLI::ExistingFile(text); });
    return *this;
}

option option::shows_default() const {
    std::string value = option_->capture_default_str()->get_default_str();
    option_->default_str("");
    if (value.starts_with('[')) value = value.substr(1, value.size() - 2);  // of a vector
    option_->description(option_->get_description() + " (default: " + value + ")");
    return *this;
}

option option::separated_by(char c) const {
    option_->delimiter(c);
    return *this;
}

option option::hidden() const {
    option_->group("");
    return *this;
}

option option::excludes(const std::string& name) const {
    option_->excludes(name);
    return *this;
}

option option::needs(const std::string& name) const {
    option_->needs(name);
    return *this;
}

option option::check(const text_function& wrong) const {
    add_check(*option_, wrong);
    return *this;
}

option option::reads(const text_function& read) const {
    const bool counts = option_->get_type_name() == "N";
    const auto transform = [read, counts](std::string& text) -> std::string {
        if (const std::string wrong = counts ? not_bytes(text) : ""; !wrong.empty()) return wrong;
        try {
            text = read(text);
        } catch (const wrong_use& wrong) {
            return wrong.what();
        }
        return {};
    };
    option_->transform(CLI::Validator(transform, "", "reads"));
    return *this;
}

bool option::given() const { return option_->count() > 0; }

namespace {

// -o=x would be the file "=x".
std::string not_behind_a_sign(const std::string& text) {
    if (!text.starts_with('=')) return {};
    return "'" + text + "' begins with '='; leave that out behind a short option";
}

// A number may be written as 1% or 1/1000. Says what is wrong with it.
std::string from_share(std::string& text) {
    const auto share = parse_share(text);
    if (!share) return "'" + text + "' is not a number such as 0.01, 1e-6, 1% or 1/1000";
    if (!parse_number(text)) text = fmt::format("{}", *share);
    return {};
}

// Seconds may be written as all times are: 5m, 500ms.
std::string from_duration(std::string& text) {
    if (parse_number(text)) return {};
    try {
        text = fmt::format("{}", static_cast<double>(parse_duration("", text).count()) / 1e6);
    } catch (const failure&) {
        return "'" + text + "' is not a time such as 90s, 500ms, 10m, 2h30m, 7d or 1w";
    }
    return {};
}

}  // namespace

template <option_value T>
option command_line::add_option(const std::string& names, T& into, const std::string& help) {
    std::string options, value;
    split(names, options, value);
    CLI::Option* const added = app_->add_option(options, into, help);
    if (!added->get_snames().empty()) add_check(*added, not_behind_a_sign);
    // One value each time that it is given: the next argument may be a file.
    if (!added->get_positional()) added->allow_extra_args(false);
    if (value == "SECONDS")
        added->transform(CLI::Validator(from_duration, ""));
    else if constexpr (one_of_these<T, double, std::optional<double>, std::vector<double>>)
        added->transform(CLI::Validator(from_share, ""));
    if (value == "N") add_check(*added, not_bytes);
    return option(*added->type_name(value));
}

template option command_line::add_option(const std::string&, std::string&, const std::string&);
template option command_line::add_option(const std::string&, double&, const std::string&);
template option command_line::add_option(const std::string&, unsigned&, const std::string&);
template option command_line::add_option(const std::string&, std::uint16_t&, const std::string&);
template option command_line::add_option(const std::string&, std::uint64_t&, const std::string&);
template option command_line::add_option(const std::string&, std::optional<double>&, const std::string&);
template option command_line::add_option(const std::string&, std::optional<unsigned>&, const std::string&);
template option command_line::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template option command_line::add_option(const std::string&, std::vector<double>&, const std::string&);
template option command_line::add_option(const std::string&, std::vector<std::uint16_t>&, const std::string&);

option command_line::add_flag(const std::string& names, bool& into, const std::string& help) {
    return option(*app_->add_flag(names, into, help));
}

void command_line::runs(const std::function<void()>& work) { app_->callback(work); }

void command_line::all_need(const std::string& name) const {
    CLI::Option* const needed = app_->get_option(name);
    for (CLI::Option* each : app_->get_options()) {
        const bool help = each == app_->get_help_ptr() || each == app_->get_help_all_ptr();
        if (each != needed && !help && !each->get_positional()) each->needs(needed);
    }
}

option command_line::find(const std::string& name) const { return option(*app_->get_option(name)); }

command_line command_line::add_command(const std::string& name, const std::string& what,
                                       const std::string& footer) {
    CLI::App* const added = app_->add_subcommand(name, what);
    added->footer(footer);
    if (app_->get_parent()) app_->require_subcommand(1);
    return command_line(*added);
}

program::program(const std::string& name, const std::string& version, const std::string& what,
                 const std::string& footer)
    : program(std::make_unique<CLI::App>(what, name)) {
    owned_->formatter(std::make_shared<narrow_help>());
    owned_->set_version_flag("--version", version);
    owned_->require_subcommand(1);
    owned_->set_help_all_flag("--help-all", "Help of every command");
    owned_->footer(footer);
}

program::program(std::unique_ptr<CLI::App> app) : command_line(*app), owned_(std::move(app)) {}

program::~program() = default;

void program::run(int argc, const char* const* argv) {
    const auto fail = [this](const std::exception& why) {
        std::string name = owned_->get_name();
        const CLI::App* at = owned_.get();
        while (!at->get_subcommands().empty()) {
            at = at->get_subcommands().front();
            name += " " + at->get_name();
        }
        std::string text = unwanted(*at, owned_->remaining(true));
        const auto parts = names_in(*at, false);
        if (text.empty()) text = parts.empty() ? why.what() : "a command is missing: " + in_words(parts);
        throw wrong_use(fmt::format("{}{} '{} --help'", text, text.ends_with('?') ? " Try" : "; try", name));
    };
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (!arguments.empty() && arguments[0] == "help") {  // help count: count --help
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
    std::ranges::reverse(arguments);  // as CLI11 takes them
    try {
        owned_->parse(std::move(arguments));
    } catch (const CLI::ParseError& end) {
        if (end.get_exit_code() != 0) fail(end);
        std::ostringstream help;
        owned_->exit(end, help, help);
        print(help.str());
    } catch (const wrong_use& wrong) {
        fail(wrong);
    }
}

command_description program::description() const { return description_of(*owned_); }

std::vector<command_description> program::commands() const {
    std::vector<command_description> all;
    for (const CLI::App* command : commands_of(*owned_)) {
        const auto parts = commands_of(*command);
        if (parts.empty()) all.push_back(description_of(*command));
        for (const CLI::App* part : parts) {
            all.push_back(description_of(*part));
            all.back().name = command->get_name() + " " + all.back().name;
            all.back().whole = command->get_description();
        }
    }
    return all;
}

}  // namespace posy::tool
