// The manual page and the shell completions, generated from the commands themselves: one description of every
// option, in one place.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "tool.hpp"

namespace posy::tool {
namespace {

using commands = std::vector<const CLI::App*>;

commands commands_of(const CLI::App& app) {
    auto all = app.get_subcommands([](const CLI::App*) { return true; });
    return {all.begin(), all.end()};
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
    auto all = command.get_options([](const CLI::Option* o) { return !o->get_positional(); });
    return {all.begin(), all.end()};
}

bool takes_value(const CLI::Option& o) { return o.get_items_expected_max() > 0; }

// Some defaults are not in the text: --help shows them beside the name.
std::string text_of(const CLI::Option& o) {
    const std::string& otherwise = o.get_default_str();
    return o.get_description() + (otherwise.empty() ? "" : " (default: " + otherwise + ")");
}

// Text for roff: no line may start with a control character, and backslashes are doubled.
std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
        line_start = c == '\n';
    }
    return out;
}

std::string manual(const CLI::App& app) {
    std::string page = fmt::format(".TH POSY 1 \"\" \"posy {}\" \"User Commands\"\n.SH NAME\nposy \\- {}\n",
                                   POSY_VERSION, roff(app.get_description()));
    page += ".SH SYNOPSIS\n.B posy\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIFILES\\fR]\n.SH DESCRIPTION\n" +
            roff(app.get_footer()) + "\n.SH COMMANDS\n";
    for (const CLI::App* command : commands_of(app)) {
        page += fmt::format(".SS posy {}", command->get_name());
        for (const CLI::Option* o :
             command->get_options([](const CLI::Option* each) { return each->get_positional(); })) {
            page += " " + o->get_name();
        }
        page += "\n" + roff(command->get_description()) + ".\n";
        for (const CLI::Option* o : options_of(*command)) {
            page += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(o->get_name(false, true)),
                                takes_value(*o) ? " \\fIVALUE\\fR" : "", roff(text_of(*o)));
        }
        if (!command->get_footer().empty()) page += ".PP\n.nf\n" + roff(command->get_footer()) + "\n.fi\n";
    }
    page += ".SH EXIT STATUS\n0 if something was found or done, 1 if nothing was, 2 on an error.\n";
    return page;
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
    return all;
}

std::vector<std::string> flags_of(const CLI::App& command) {
    std::vector<std::string> flags;
    for (const CLI::Option* o : options_of(command)) {
        for (const std::string& name : o->get_lnames()) flags.push_back("--" + name);
        for (const std::string& name : o->get_snames()) flags.push_back("-" + name);
    }
    return flags;
}

std::string bash(const CLI::App& app) {
    std::vector<std::string> names;
    std::string cases;
    for (const CLI::App* command : commands_of(app)) {
        names.push_back(command->get_name());
        cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), joined(flags_of(*command)));
    }
    return fmt::format(R"(_posy() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=
  if (( COMP_CWORD == 1 )); then
    mapfile -t COMPREPLY < <(compgen -W "{}" -- "$current")
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -F _posy posy
)",
                       joined(names), cases);
}

// Single quotes for the shell.
std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
        text.replace(at, 1, "'\\''");
    return "'" + text + "'";
}

std::string zsh(const CLI::App& app) {
    std::string list, cases;
    for (const CLI::App* command : commands_of(app)) {
        list += fmt::format("    {}\n", quoted(command->get_name() + ":" + command->get_description()));
        cases += fmt::format("    {}) _arguments '*:file:_files'", command->get_name());
        for (const CLI::Option* o : options_of(*command)) {
            std::string what = text_of(*o);
            std::ranges::replace(what, '[', '(');
            std::ranges::replace(what, ']', ')');
            std::ranges::replace(what, ':', ',');
            for (const std::string& name : o->get_lnames()) {
                cases += " " + quoted(fmt::format("--{}[{}]{}", name, what,
                                                  takes_value(*o) ? ":value:_files" : ""));
            }
        }
        cases += " ;;\n";
    }
    return fmt::format(
        "#compdef posy\n_posy() {{\n  local -a commands=(\n{}  )\n  if (( CURRENT == 2 )); then\n    "
        "_describe command commands\n"
        "    return\n  fi\n  local name=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $name in\n{}  "
        "esac\n}}\n_posy \"$@\"\n",
        list, cases);
}

std::string fish(const CLI::App& app) {
    std::string script;
    for (const CLI::App* command : commands_of(app)) {
        script += fmt::format("complete -c posy -n __fish_use_subcommand -f -a {} -d {}\n",
                              command->get_name(), quoted(command->get_description()));
        for (const CLI::Option* o : options_of(*command)) {
            script +=
                fmt::format("complete -c posy -n '__fish_seen_subcommand_from {}'", command->get_name());
            for (const std::string& name : o->get_lnames()) script += " -l " + name;
            for (const std::string& name : o->get_snames()) script += " -s " + name;
            script += fmt::format("{} -d {}\n", takes_value(*o) ? " -r" : "", quoted(text_of(*o)));
        }
    }
    return script;
}

}  // namespace

void add_manual(CLI::App& app) {
    CLI::App* page = add_command(app, "manual", "Print the manual page in roff", "  posy manual | man -l -");
    page->callback([&app] { print(manual(app)); });

    const auto shell = std::make_shared<std::string>();
    CLI::App* command = add_command(app, "completion", "Print the completion script of a shell",
                                    "  source <(posy completion bash)");
    command->add_option("SHELL", *shell, "Shell to complete for: bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->callback([&app, shell] {
        print(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
    });
}

}  // namespace posy::tool
