// The command line: a program, its commands, their options, and what users are told of them.
//
// CLI11 does the work, behind this header: a file that includes CLI11 takes five seconds longer to compile,
// and only command_line*.cpp do. `command_line` and `option` are handles, as cheap to copy as a pointer;
// what they refer to lives as long as the program.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace posy::tool {

// The arguments cannot be used: exit status 2, and the line that the user sees names --help.
struct wrong_use : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class T, class... Some>
concept one_of_these = (std::same_as<T, Some> || ...);

// What an option can set. One that is given several times fills a vector.
template <class T>
concept option_value = one_of_these<T, std::string, double, unsigned, std::uint16_t, std::uint64_t,
                                    std::optional<double>, std::optional<unsigned>, std::vector<std::string>,
                                    std::vector<double>, std::vector<std::uint16_t>>;

class option {
  public:
    explicit option(CLI::Option& of) : option_(&of) {}

    option required() const;
    // Only these values, which the help then lists.
    option one_of(const std::vector<std::string>& values) const;
    option between(double low, double high) const;
    option positive() const;
    option existing_file() const;
    // Adds the present value of what the option sets to its help.
    option shows_default() const;
    // Several values in one argument.
    option separated_by(char) const;
    // Not in the help.
    option hidden() const;
    // Of another option, which is declared already.
    option excludes(const std::string& name) const;
    option needs(const std::string& name) const;
    // What is wrong with the text; nothing if it is fine.
    option check(const std::function<std::string(const std::string&)>&) const;
    // What the text stands for; throws wrong_use.
    option reads(const std::function<std::string(const std::string&)>&) const;

    // On this command line.
    bool given() const;

  private:
    CLI::Option* option_;
};

// An option and what it was set to.
struct setting {
    std::string name;                   // without dashes
    bool flag = false;                  // it takes no value, and is true or false
    bool several = false;               // it may be repeated
    std::vector<std::string> values{};  // as they were read; none: it was not given
    friend bool operator==(const setting&, const setting&) = default;
};

// An option for those who print lists of them.
struct option_description {
    std::string names;  // -o,--output
    std::vector<std::string> long_names, short_names;
    std::string value;  // FILE; empty: it takes none
    std::string help;
    std::vector<std::string> choices{};  // all values there are, if that is a fixed set
    bool several = false;                // of them, separated by commas
};

struct command_description {
    std::string name, what, footer;               // "trace record" for one that is a part of another
    std::string whole{};                          // what that other one does
    std::vector<option_description> arguments{};  // KEYS
    std::vector<option_description> options{};
};

// One command and its options.
class command_line {
  public:
    explicit command_line(CLI::App& of) : app_(&of) {}

    // `names` ends with what stands for the value in the help: "-o,--output FILE". A name without dashes is
    // that of an argument: "KEYS". `into` has the default, and outlives the program's run.
    template <option_value T>
    option add_option(const std::string& names, T& into, const std::string& help);
    option add_flag(const std::string& names, bool& into, const std::string& help);
    // An option that is acted on as soon as all arguments are taken, before their values are checked.
    option add_action(const std::string& name, const std::string& value,
                      const std::function<void(const std::string&)>& act, const std::string& help);
    // What the command does, when all options are set.
    void runs(const std::function<void()>&);

    // All options declared so far do nothing without this one, and are refused.
    void all_need(const std::string& name) const;

    // All options but help, given or not.
    std::vector<setting> settings() const;
    // As if the option were in the arguments. Throws wrong_use when a value cannot be used.
    void set(const std::string& name, const std::vector<std::string>& values) const;

    option find(const std::string& name) const;
    bool given(const std::string& name) const { return find(name).given(); }

    // A command of its own: of the program, or as a part of this one, which then needs one of its parts.
    command_line add_command(const std::string& name, const std::string& what, const std::string& footer);

  protected:
    CLI::App* app_;
};

// The whole of it. Not thread-safe.
class program : public command_line {
  public:
    program(const std::string& name, const std::string& version, const std::string& what,
            const std::string& footer);
    ~program();
    program(const program&) = delete;
    program& operator=(const program&) = delete;

    // Runs the command that the arguments name, or prints the help or version that they ask for. Throws
    // wrong_use, and whatever the command throws.
    void run(int argc, const char* const* argv);

    command_description description() const;
    // Instead of a command that has parts, its parts.
    std::vector<command_description> commands() const;

  private:
    explicit program(std::unique_ptr<CLI::App>);

    std::unique_ptr<CLI::App> owned_;
};

}  // namespace posy::tool
