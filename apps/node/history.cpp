#include "history.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "posy/base/file.hpp"

namespace posy::node {

namespace {
constexpr double missing = std::numeric_limits<double>::quiet_NaN();
}

void history::sample(std::uint64_t milliseconds, const metrics& now) {
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

result<void> history::resume(std::string_view json, std::uint64_t now) {
    const auto all = nlohmann::json::parse(json, nullptr, false);
    const auto damaged = [] { return error::damaged("not the history of a node"); };
    if (!all.is_object() || !all.contains("at") || !all.contains("series")) return damaged();
    const auto &at = all["at"], &series = all["series"];
    if (!at.is_array() || !series.is_object() || at.size() > length + 1 || series.size() > most_series)
        return damaged();
    std::deque<std::uint64_t> times;
    for (const auto& each : at) {
        if (!each.is_number_unsigned() || (!times.empty() && each.get<std::uint64_t>() < times.back()))
            return damaged();
        times.push_back(each);
    }
    std::map<std::string, std::deque<double>> values;
    for (const auto& [name, list] : series.items()) {
        if (!list.is_array() || list.size() != times.size()) return damaged();
        auto& into = values[name];
        for (const auto& each : list) {
            if (!each.is_number() && !each.is_null()) return damaged();
            into.push_back(each.is_null() ? missing : each.get<double>());
        }
    }
    while (!times.empty() && (times.front() + oldest_kept < now || times.back() > now)) {
        times.pop_front();  // a clock that was set back makes all of it the future
        for (auto& [name, list] : values) list.pop_front();
    }
    if (times.empty()) return {};
    times.push_back(times.back() + 1);  // the gap
    for (auto& [name, list] : values) list.push_back(missing);
    const std::lock_guard lock(mutex_);
    at_ = std::move(times);
    series_ = std::move(values);
    return {};
}

result<void> history::load(const std::string& path, std::uint64_t now) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    if (none == std::errc::no_such_file_or_directory) return {};
    if (none) return error::invalid("cannot be read: " + none.message());
    if (size > most_bytes) return error::damaged("larger than any history of a node");
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return resume(text, now);
}

result<void> history::save(const std::string& path) const {
    auto file = base::atomic_file::create(path);
    if (!file) return file.error();
    if (auto done = base::write_fully(file->get(), as_byte_view(json())); !done) return done;
    return file->commit();
}

}  // namespace posy::node
