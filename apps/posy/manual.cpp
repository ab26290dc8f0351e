// The manual page and the shell completions, generated from the commands themselves: one description of every
// option, in one place.
#include <fmt/core.h>

#include <algorithm>

#include "tool.hpp"

namespace posy::tool {
namespace {

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

std::string manual(const program& app) {
    const command_description posy = app.description();
    std::string page = fmt::format(".TH POSY 1 \"\" \"posy {}\" \"User Commands\"\n.SH NAME\nposy \\- {}\n",
                                   POSY_VERSION, roff(posy.what));
    page += ".SH SYNOPSIS\n.B posy\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIFILES\\fR]\n.SH DESCRIPTION\n" +
            roff(posy.footer) + "\n.SH COMMANDS\n";
    for (const command_description& command : app.commands()) {
        page += ".SS posy " + command.name;
        for (const option_description& argument : command.arguments) page += " " + argument.names;
        page += "\n" + roff(command.what) + ".\n";
        for (const auto* list : {&command.arguments, &command.options}) {
            for (const option_description& o : *list) {
                const std::string value = o.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(o.value));
                page += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(o.names), value, roff(o.help));
            }
        }
        if (!command.footer.empty()) page += ".PP\n.nf\n" + roff(command.footer) + "\n.fi\n";
    }
    page += ".SH EXIT STATUS\n0 if something was found or done, 1 if nothing was, 2 on an error.\n";
    return page;
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
    return all;
}

std::vector<std::string> flags_of(const command_description& command) {
    std::vector<std::string> flags;
    for (const option_description& o : command.options) {
        for (const std::string& name : o.long_names) flags.push_back("--" + name);
        for (const std::string& name : o.short_names) flags.push_back("-" + name);
    }
    return flags;
}

// What a command line begins with: a command, and the words that can follow it: its parts, or the values of
// its first argument.
struct first_word {
    std::string name, what;
    bool has_parts = false;
    std::vector<std::string> next{};
};

std::vector<first_word> first_words(const program& app) {
    std::vector<first_word> all;
    for (const command_description& command : app.commands()) {
        const std::size_t space = command.name.find(' ');
        if (space == std::string::npos) {
            all.push_back({command.name, command.what});
            if (!command.arguments.empty()) all.back().next = command.arguments[0].choices;
            continue;
        }
        const std::string first = command.name.substr(0, space);
        if (all.empty() || all.back().name != first) all.push_back({first, command.whole, true});
        all.back().next.push_back(command.name.substr(space + 1));
    }
    return all;
}

std::string bash(const program& app) {
    std::vector<std::string> names;
    std::string parts, cases, values;
    for (const first_word& word : first_words(app)) {
        names.push_back(word.name);
        if (!word.next.empty())
            parts += fmt::format("    {}) parts=\"{}\" ;;\n", word.name, joined(word.next));
    }
    for (const command_description& command : app.commands()) {
        cases += fmt::format("    \"{} \"*) words=\"{}\" ;;\n", command.name, joined(flags_of(command)));
        for (const option_description& o : command.options) {
            if (o.choices.empty()) continue;
            for (const std::string& name : flags_of({.options = {o}}))
                values += fmt::format("    \"{} \"*\"{}\") values=\"{}\" ;;\n", command.name, name,
                                      joined(o.choices));
        }
    }
    return fmt::format(R"(_posy() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= parts= values=
  [[ $before == = ]] && before=${{COMP_WORDS[COMP_CWORD-2]}}
  [[ $current == = ]] && current=
  if (( COMP_CWORD == 1 )); then
    mapfile -t COMPREPLY < <(compgen -W "{}" -- "$current")
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  case "${{COMP_WORDS[*]:1:2}} " in
{}  esac
  case "${{COMP_WORDS[*]:1:2}} $before" in
{}  esac
  if [[ $values ]]; then
    local last=${{current##*,}}
    mapfile -t COMPREPLY < <(compgen -W "$values" -P "${{current%"$last"}}" -- "$last")
  elif (( COMP_CWORD == 2 )) && [[ $parts ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$parts" -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -F _posy posy
)",
                       joined(names), parts, cases, values);
}

// Single quotes for the shell.
std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
        text.replace(at, 1, "'\\''");
    return "'" + text + "'";
}

// One of the arguments of _arguments per name.
std::string zsh_option(const option_description& o) {
    std::string what = o.help;
    std::ranges::replace(what, '[', '(');
    std::ranges::replace(what, ']', ')');
    std::ranges::replace(what, ':', ',');
    const std::string value = o.choices.empty() ? (o.value.empty() ? "" : ":value:_files")
                              : o.several       ? ":value:_values -s , value " + joined(o.choices)
                                                : ":value:(" + joined(o.choices) + ")";
    std::string all;
    for (const std::string& name : o.long_names)
        all += " " + quoted(fmt::format("--{}{}[{}]{}", name, value.empty() ? "" : "=", what, value));
    for (const std::string& name : o.short_names)
        all += " " + quoted(fmt::format("-{}{}[{}]{}", name, value.empty() ? "" : "+", what, value));
    return all;
}

std::string zsh(const program& app) {
    std::string list, parts, cases;
    for (const first_word& word : first_words(app)) {
        list += fmt::format("    {}\n", quoted(word.name + ":" + word.what));
        if (word.has_parts) parts += fmt::format("    {}) parts=({}) ;;\n", word.name, joined(word.next));
    }
    for (const command_description& command : app.commands()) {
        cases += fmt::format("    {}) _arguments '*:file:_files'", quoted(command.name));
        if (!command.arguments.empty() && !command.arguments[0].choices.empty())
            cases += " " + quoted("1:part:(" + joined(command.arguments[0].choices) + ")");
        for (const option_description& o : command.options) cases += zsh_option(o);
        cases += " ;;\n";
    }
    return fmt::format(R"(#compdef posy
_posy() {{
  local -a commands=(
{}  ) parts
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  case $name in
{}  esac
  if (( $#parts )); then
    if (( CURRENT == 3 )); then
      _values part $parts
      return
    fi
    name+=" $words[3]"
    shift words
    (( CURRENT-- ))
  fi
  shift words
  (( CURRENT-- ))
  case $name in
{}  esac
}}
_posy "$@"
)",
                       list, parts, cases);
}

std::string fish(const program& app) {
    // Whether the line begins with these words; behind __posy_next the next word is completed.
    std::string script = R"(function __posy_in
    set -l words (commandline -opc)
    test "$words[2..(math (count $argv) + 1)]" = "$argv"
end
function __posy_next
    __posy_in $argv; and test (count (commandline -opc)) -eq (math (count $argv) + 1)
end
)";
    for (const first_word& word : first_words(app)) {
        script += fmt::format("complete -c posy -n __fish_use_subcommand -f -a {} -d {}\n", word.name,
                              quoted(word.what));
        for (const std::string& next : word.next)
            script += fmt::format("complete -c posy -n '__posy_next {}' -f -a {}\n", word.name, next);
    }
    for (const command_description& command : app.commands()) {
        for (const option_description& o : command.options) {
            script += fmt::format("complete -c posy -n '__posy_in {}'", command.name);
            for (const std::string& name : o.long_names) script += " -l " + name;
            for (const std::string& name : o.short_names) script += " -s " + name;
            const std::string values =
                quoted(o.several ? "(__fish_append , " + joined(o.choices) + ")" : joined(o.choices));
            script += o.choices.empty() ? (o.value.empty() ? "" : " -r") : " -x -a " + values;
            script += fmt::format(" -d {}\n", quoted(o.help));
        }
    }
    return script;
}

}  // namespace

void add_manual(program& app) {
    command_line page =
        add_command(app, "manual", "Print the manual page in roff", "  posy manual | man -l -");
    page.runs([&app] { print(manual(app)); });

    const auto shell = std::make_shared<std::string>();
    command_line command = add_command(app, "completion", "Print the completion script of a shell",
                                       "  source <(posy completion bash)\n"
                                       "  posy completion zsh > ~/.zfunc/_posy      a folder of fpath\n"
                                       "  posy completion fish > ~/.config/fish/completions/posy.fish");
    command.add_option("SHELL", *shell, "Shell to complete for: bash, zsh or fish")
        .required()
        .one_of({"bash", "zsh", "fish"});
    command.runs([&app, shell] {
        print(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
    });
}

}  // namespace posy::tool
