#include "json_value.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tool.hpp"

namespace posy::tool {
namespace {

using json = nlohmann::json;

class value_finder : public nlohmann::json_sax<json> {
  public:
    explicit value_finder(const json_steps& path) : path_(path) {}

    std::optional<std::string> take() && { return std::move(found_); }

    bool null() override { return leads_here(), true; }
    bool boolean(bool value) override {
        return scalar([&] { return value ? "true" : "false"; });
    }
    bool number_integer(std::int64_t value) override {
        return scalar([&] { return std::to_string(value); });
    }
    bool number_unsigned(std::uint64_t value) override {
        return scalar([&] { return std::to_string(value); });
    }
    bool number_float(double value, const std::string& text) override {
        const bool integer = text.find_first_of(".eE") == std::string::npos;
        return scalar([&] { return integer ? text : json(value).dump(); });
    }
    bool string(std::string& value) override {
        return scalar([&] { return std::move(value); });
    }
    bool binary(json::binary_t&) override { return true; }  // there is none in text
    bool start_object(std::size_t) override { return open(false); }
    bool start_array(std::size_t) override { return open(true); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(std::string& name) override {
        open_.back().at_step = on_path(open_.back()) && name == path_[open_.size() - 1];
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

  private:
    struct container {
        bool array, on_path;
        bool at_step = false;     // of an object: the path goes on with the member that comes
        std::uint64_t index = 0;  // of an array: the element that comes
    };

    bool on_path(const container& c) const { return c.on_path && open_.size() <= path_.size(); }
    // Is the value that begins now at the path, or around what is there? What was found before is replaced.
    bool leads_here() {
        if (open_.empty()) return true;
        container& in = open_.back();
        const std::uint64_t index = in.index++;
        const bool leads =
            in.array ? on_path(in) && path_[open_.size() - 1] == std::to_string(index) : in.at_step;
        if (leads) found_.reset();
        return leads;
    }
    template <class Text>
    bool scalar(Text text) {
        if (leads_here() && open_.size() == path_.size()) found_ = text();
        return true;
    }
    bool open(bool array) {
        open_.push_back({array, leads_here()});
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    const json_steps& path_;
    std::vector<container> open_;
    std::optional<std::string> found_;
};

}  // namespace

json_steps parse_json_path(std::string text) {
    if (!text.starts_with('/')) {
        if (text.starts_with('.')) text.erase(0, 1);  // as jq writes it
        std::ranges::replace(text, '.', '/');
        text.insert(0, "/");
    }
    try {
        json_steps steps;
        for (json::json_pointer rest(text); !rest.empty(); rest.pop_back()) steps.push_back(rest.back());
        std::ranges::reverse(steps);
        return steps;
    } catch (const json::exception&) {
        throw failure("--json-path " + text +
                      ": write it as user.id or /user/id, with ~0 for ~ and ~1 for /");
    }
}

std::optional<std::string> json_value(std::string_view line, const json_steps& path) {
    value_finder finder(path);
    if (!json::sax_parse(line, &finder)) return std::nullopt;
    return std::move(finder).take();
}

}  // namespace posy::tool
