// Figures for Prometheus, as text (exposition format 0.0.4). Collected anew for every reader: a component
// writes down what it knows, nothing is registered beforehand.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "durations.hpp"

namespace posy::node {

class metrics {
  public:
    // `labels` as they stand between the braces: R"(peer="px1",kind="delta")", or empty; label() quotes.
    void counter(std::string_view name, std::string_view help, double value, std::string_view labels = {});
    void gauge(std::string_view name, std::string_view help, double value, std::string_view labels = {});
    // `name` without _bucket, _sum and _count.
    void histogram(std::string_view name, std::string_view help, const durations::reading&,
                   std::string_view labels = {});
    static std::string label(std::string_view name, std::string_view value);

    std::string text() const;
    // name{labels} and value, of all.
    const std::vector<std::pair<std::string, double>>& samples() const { return samples_; }

  private:
    struct family {
        std::string name, help, type, lines;
    };
    family& family_of(std::string_view type, std::string_view name, std::string_view help);
    void add(family&, std::string_view name, double value, std::string_view labels);
    std::vector<family> families_;
    std::vector<std::pair<std::string, double>> samples_;
};

}  // namespace posy::node
