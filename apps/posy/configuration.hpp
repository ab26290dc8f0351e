// The options of a daemon from a file as well: --config and --check.
//
// The file's keys are the command's own options, so there is no second list of them. What the arguments say
// goes before what the file says. A daemon reads both again on SIGHUP, into new arguments of its own: a whole
// that is checked before any of it is used. Thread safety: none.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace posy::tool {

class configuration {
  public:
    // Adds the options; before those that the file may set.
    void add_to(command_line, const std::string& name);

    const std::string& file() const { return file_; }
    bool check_only() const { return check_only_; }
    // "--memory 1: give more", where the file said that, becomes "FILE:LINE:COLUMN: memory 1: give more".
    std::string located(const std::string& message) const;
    // Where an option is set, in words for a user: "FILE:LINE:COLUMN: memory", or "--memory".
    std::string place_of(const std::string& name) const;

  private:
    void read(command_line, const std::string& path);

    std::string name_, file_;
    bool check_only_ = false;
    std::map<std::string, std::string> places_;  // of the keys of the file that were used
};

// Runs a command of that configuration: its errors name the place in the file, and with --check it ends when
// `check` found none, and has printed the doubts that it returned.
void run_configured(configuration&, const std::function<std::vector<std::string>()>& check,
                    const std::function<void()>& work);

// An option that does nothing without another one. Both without dashes.
struct dependency {
    std::string option, needs;
};
// Throws failure for one that was given alone.
void refuse_idle(const std::vector<setting>&, const std::vector<dependency>&);

// The arguments of a command, all of them with its name, once more: `declare` adds its options to a command
// line, whose settings are returned. Throws failure.
std::vector<setting> settings_again(const std::vector<std::string>& words,
                                    const std::function<void(command_line&)>& declare);
// Options whose values differ, without `others`.
std::vector<std::string> changed(const std::vector<setting>& before, const std::vector<setting>& after,
                                 const std::set<std::string>& others);

}  // namespace posy::tool
