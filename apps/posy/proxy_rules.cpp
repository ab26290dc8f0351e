#include "proxy_rules.hpp"

#include <fmt/format.h>

#include "tool.hpp"

namespace posy::tool {

void add_rule_options(command_line& command, rule_arguments& a) {
    command.add_option(
        "--rule TEXT", a.rules,
        "Rule for clients, \"allow\" or \"deny\" and conditions: from NETWORKS, user NAMES, group NAMES, to "
        "HOSTS, "
        "port PORTS, method METHODS, tunnel; and limits of an allow, per client: rate N (requests per "
        "second), "
        "connections N (at a time), quota SIZE (bytes per day), and total-rate, total-connections, "
        "total-quota "
        "for all clients of the rule; the first rule that holds decides, and if none does the request gets "
        "403; "
        "may be repeated (default: none, all that may use the proxy may use it for everything)");
    command.add_option(
        "--users FILE", a.users.passwords,
        "File of users and hashed passwords for --rule, NAME:HASH per line as htpasswd -B writes "
        "it; read again on SIGHUP (default: none)");
    command.add_option(
        "--user-tokens FILE", a.users.tokens,
        "File of users and hashed Bearer tokens for --rule, NAME:SHA256 per line; read again on "
        "SIGHUP (default: none)");
    command.add_option("--groups FILE", a.users.groups,
                       "File of groups of users for --rule, GROUP: NAME NAME per line; read again on SIGHUP "
                       "(default: none)");
}

namespace {

void check_users(const rule_arguments& a, bool named) {
    if (named && !a.users.any())
        throw failure("--rule names users or groups; name the file of users with --users or --user-tokens");
    const auto option = !a.users.passwords.empty() ? "--users"
                        : !a.users.tokens.empty()  ? "--user-tokens"
                                                   : "--groups";
    const bool given = a.users.any() || !a.users.groups.empty();
    if (given && !named)
        throw failure(std::string(option) +
                      " has no effect: no --rule names a user or group; write user * for all of them");
    try {
        proxy::users::read(a.users);
    } catch (const std::runtime_error& wrong) {  // it begins with the file that it is about
        const std::string_view why = wrong.what();
        const bool about_groups = !a.users.groups.empty() && why.starts_with(a.users.groups);
        const bool about_tokens = !a.users.tokens.empty() && why.starts_with(a.users.tokens);
        throw failure(fmt::format("{}: {}",
                                  about_groups   ? "--groups"
                                  : about_tokens ? "--user-tokens"
                                                 : option,
                                  why));
    }
}

}  // namespace

void take_rules(const rule_arguments& a, proxy::options& how) {
    auto made = proxy::rule_list::parse(a.rules);
    if (!made) throw failure("--rule " + made.error().message);
    check_users(a, made->about_users());
    how.rules = std::move(*made);
    how.users = a.users;
}

}  // namespace posy::tool
