#include "metrics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace posy::node {

void metrics::counter(std::string_view name, std::string_view help, double value, std::string_view labels) {
    add("counter", name, help, value, labels);
}

void metrics::gauge(std::string_view name, std::string_view help, double value, std::string_view labels) {
    add("gauge", name, help, value, labels);
}

std::string metrics::label(std::string_view name, std::string_view value) {
    std::string quoted(name);
    quoted += "=\"";
    for (const char c : value) {
        if (c == '\\' || c == '"') quoted += '\\';
        quoted += c == '\n' ? ' ' : c;
    }
    return quoted + '"';
}

// The samples of a family have to stand together, in whatever order they are added.
void metrics::add(std::string_view type, std::string_view name, std::string_view help, double value,
                  std::string_view labels) {
    auto found = std::ranges::find(families_, name, &family::name);
    if (found == families_.end()) {
        families_.push_back({std::string(name), std::string(help), std::string(type), {}});
        found = families_.end() - 1;
    }
    std::string sample(name);
    if (!labels.empty()) sample += fmt::format("{{{}}}", labels);
    found->lines += fmt::format("{} {}\n", sample, value);
    samples_.emplace_back(std::move(sample), value);
}

std::string metrics::text() const {
    std::string all;
    for (const auto& f : families_)
        all += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{3}", f.name, f.help, f.type, f.lines);
    return all;
}

}  // namespace posy::node
