#include "configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config_file.hpp"
#include "edit_distance.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

const std::set<std::string> never_in_file = {"config", "check", "repair"};

// What is wrong with the form of a value; empty if nothing is.
std::string wrong_form(const file_setting& given, const setting& wanted) {
    if (wanted.flag) return given.boolean ? "" : "takes no value; write true or false";
    if (given.array && !wanted.several) return "takes one value, not an array";
    return given.boolean ? "takes a value, not true or false; write a string or a number" : "";
}

}  // namespace

void configuration::add_to(command_line command, const std::string& name) {
    name_ = name;
    command.add_action(
        "--config", "FILE", [this, command](const std::string& path) { read(command, path); },
        "TOML file of further options, each by its name without dashes, as memory = \"1GiB\"; options on "
        "the command line go before those in the file (default: none)");
    command.add_flag("--check", check_only_,
                     "Check all options and the files that they name, --config among them, say whether they "
                     "are good, and exit with status 0 or 2");
}

void configuration::read(command_line command, const std::string& path) {
    file_ = path;
    const auto known = command.settings();
    std::vector<std::string> names;
    for (const auto& each : known)
        if (!never_in_file.contains(each.name)) names.push_back(each.name);
    for (const auto& given : read_config_file(path, name_, {"node", "proxy"})) {
        const auto fail = [&](const std::string& why) {
            throw failure(fmt::format("{}: {}{}", given.place, given.key, why));
        };
        if (std::ranges::find(names, given.key) == names.end()) {
            const auto meant = nearest(given.key, names);
            fail(fmt::format(" is not an option of posy {}{}", name_,
                             meant ? "; did you mean " + *meant + "?"
                                   : "; 'posy " + name_ + " --help' lists them, write them without dashes"));
        }
        const auto& wanted = *std::ranges::find(known, given.key, &setting::name);
        if (const auto wrong = wrong_form(given, wanted); !wrong.empty()) fail(" " + wrong);
        if (!wanted.values.empty()) continue;  // the arguments have it
        if (wanted.flag && given.values == std::vector<std::string>{"false"}) continue;  // as without it
        places_[given.key] = given.place;
        try {
            command.set(given.key, given.values);
        } catch (const wrong_use& wrong) {
            throw failure(located(wrong.what()));
        }
    }
}

std::string configuration::place_of(const std::string& name) const {
    const auto place = places_.find(name);
    return place == places_.end() ? "--" + name : place->second + ": " + name;
}

std::string configuration::located(const std::string& message) const {
    if (!message.starts_with("--")) return message;
    const auto place = places_.find(message.substr(2, message.find_first_of(" :") - 2));
    return place == places_.end() ? message : place->second + ": " + message.substr(2);
}

void refuse_idle(const std::vector<setting>& all, const std::vector<dependency>& of) {
    const auto given = [&](const std::string& name) {
        const auto found = std::ranges::find(all, name, &setting::name);
        return found != all.end() && !found->values.empty();
    };
    for (const auto& [option, needs] : of)
        if (given(option) && !given(needs))
            throw failure(
                fmt::format("--{} does nothing without --{}; give both, or neither", option, needs));
}

void run_configured(configuration& config, const std::function<std::vector<std::string>()>& check,
                    const std::function<void()>& work) {
    try {
        if (!config.check_only()) return work();
        for (const auto& doubt : check()) fmt::print(stderr, "posy: warning: {}\n", config.located(doubt));
    } catch (const std::runtime_error& wrong) {
        throw failure(config.located(wrong.what()));
    }
    print((config.file().empty() ? "options" : config.file()) + ": OK\n");
}

std::vector<setting> settings_again(const std::vector<std::string>& words,
                                    const std::function<void(command_line&)>& declare) {
    program app("posy", "", "", "");
    command_line command = app.add_command(words.at(0), "", "");
    declare(command);
    std::vector<const char*> arguments{"posy"};
    for (const auto& word : words) arguments.push_back(word.c_str());
    app.run(static_cast<int>(arguments.size()), arguments.data());
    return command.settings();
}

std::vector<std::string> changed(const std::vector<setting>& before, const std::vector<setting>& after,
                                 const std::set<std::string>& others) {
    std::vector<std::string> names;
    for (const auto& old : before) {
        const auto now = std::ranges::find(after, old.name, &setting::name);
        if (!others.contains(old.name) && now != after.end() && now->values != old.values)
            names.push_back(old.name);
    }
    return names;
}

}  // namespace posy::tool
