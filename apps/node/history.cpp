#include "history.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace posy::node {

void history::sample(std::uint64_t milliseconds, const metrics& now) {
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    const std::lock_guard lock(mutex_);
    for (const auto& [name, value] : now.samples()) {
        auto& values = series_[name];
        values.resize(at_.size(), missing);
        values.push_back(value);
    }
    at_.push_back(milliseconds);
    for (auto& [name, values] : series_) values.resize(at_.size(), missing);
    if (at_.size() <= length) return;
    at_.pop_front();
    for (auto& [name, values] : series_) values.pop_front();
    std::erase_if(series_, [](const auto& s) {
        return std::all_of(s.second.begin(), s.second.end(), [](double v) { return std::isnan(v); });
    });
}

std::string history::json() const {
    const std::lock_guard lock(mutex_);
    nlohmann::json all{{"at", at_}, {"series", nlohmann::json::object()}};
    for (const auto& [name, values] : series_) all["series"][name] = values;  // NaN is written as null
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace posy::node
