// What the options of a command were set to, and setting them from elsewhere than the arguments.
#include <CLI/CLI.hpp>

#include "command_line.hpp"

namespace posy::tool {
namespace {

// Help is no setting, and arguments have no names.
bool is_setting(const CLI::App& app, const CLI::Option& o) {
    return !o.get_positional() && &o != app.get_help_ptr() && &o != app.get_help_all_ptr() &&
           !o.get_lnames().empty();
}

setting setting_of(const CLI::Option& o) {
    return {.name = o.get_lnames().front(),
            .flag = o.get_items_expected_max() == 0,
            .several = o.get_items_expected_max() > 1,
            .values = o.results()};
}

}  // namespace

std::vector<setting> command_line::settings() const {
    std::vector<setting> all;
    for (const CLI::Option* o : std::as_const(*app_).get_options())
        if (is_setting(*app_, *o)) all.push_back(setting_of(*o));
    return all;
}

void command_line::set(const std::string& name, const std::vector<std::string>& values) const {
    CLI::Option* const o = app_->get_option("--" + name);
    for (const CLI::Option* other : o->get_excludes())
        if (other->count() > 0)
            throw wrong_use("--" + name + " does not go with " + other->get_name() + "; give one of them");
    for (const std::string& value : values) o->add_result(value);
    try {
        if (!values.empty()) o->run_callback();
    } catch (const CLI::ParseError& wrong) {
        throw wrong_use(wrong.what());
    }
}

option command_line::add_action(const std::string& name, const std::string& value,
                                const std::function<void(const std::string&)>& act, const std::string& help) {
    const CLI::callback_t called = [act](const CLI::results_t& values) {
        act(values.back());
        return true;
    };
    return option(*app_->add_option(name, called, help)->type_name(value)->allow_extra_args(false));
}

}  // namespace posy::tool
