#include "metrics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace posy::node {

void metrics::counter(std::string_view name, std::string_view help, double value, std::string_view labels) {
    add(family_of("counter", name, help), name, value, labels);
}

void metrics::gauge(std::string_view name, std::string_view help, double value, std::string_view labels) {
    add(family_of("gauge", name, help), name, value, labels);
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
metrics::family& metrics::family_of(std::string_view type, std::string_view name, std::string_view help) {
    const auto found = std::ranges::find(families_, name, &family::name);
    if (found != families_.end()) return *found;
    families_.push_back({std::string(name), std::string(help), std::string(type), {}});
    return families_.back();
}

void metrics::add(family& to, std::string_view name, double value, std::string_view labels) {
    std::string sample(name);
    if (!labels.empty()) sample += fmt::format("{{{}}}", labels);
    to.lines += fmt::format("{} {}\n", sample, value);
    samples_.emplace_back(std::move(sample), value);
}

void metrics::histogram(std::string_view name, std::string_view help, const durations::reading& now,
                        std::string_view labels) {
    auto& to = family_of("histogram", name, help);
    const std::string all(name), before = labels.empty() ? "" : std::string(labels) + ",";
    for (std::size_t i = 0; i < now.up_to.size(); ++i) {
        const auto bound = i < durations::bounds.size() ? fmt::format("{}", durations::bounds[i]) : "+Inf";
        add(to, all + "_bucket", static_cast<double>(now.up_to[i]), before + label("le", bound));
    }
    add(to, all + "_sum", now.seconds, labels);
    add(to, all + "_count", static_cast<double>(now.count()), labels);
}

std::string metrics::text() const {
    std::string all;
    for (const auto& f : families_)
        all += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{3}", f.name, f.help, f.type, f.lines);
    return all;
}

}  // namespace posy::node
