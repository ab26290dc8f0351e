#include "config_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tool.hpp"

namespace posy::tool {
namespace {

std::string place_of(const std::string& path, const toml::source_region& where) {
    return fmt::format("{}:{}:{}", path, where.begin.line, where.begin.column);
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw failure(fmt::format("--config {}: cannot be opened: {}", path, std::strerror(errno)));
    try {
        return {std::istreambuf_iterator<char>(file), {}};
    } catch (const std::ios_base::failure&) {  // of a folder, for one
        throw failure("--config " + path + ": cannot be read; give a TOML file");
    }
}

class reader {
  public:
    explicit reader(std::string path) : path_(std::move(path)) {}

    void take(const toml::table& all) {
        for (const auto& [key, value] : all)
            if (!value.is_table()) take(std::string(key.str()), value);
    }
    std::vector<file_setting> found;

  private:
    void take(const std::string& key, const toml::node& value) {
        file_setting setting{.key = key,
                             .values = {},
                             .boolean = value.is_boolean(),
                             .array = value.is_array(),
                             .place = place_of(path_, value.source())};
        const auto before = std::ranges::find(found, key, &file_setting::key);
        if (before != found.end())
            throw failure(fmt::format("{}: {} is at the top of the file, too ({}); give it once",
                                      setting.place, key, before->place));
        if (const toml::array* list = value.as_array()) {
            for (const toml::node& each : *list) setting.values.push_back(scalar(key, each));
        } else {
            setting.values.push_back(scalar(key, value));
        }
        found.push_back(std::move(setting));
    }

    std::string scalar(const std::string& key, const toml::node& value) const {
        if (const auto* text = value.as_string()) return text->get();
        if (const auto* whole = value.as_integer()) return std::to_string(whole->get());
        if (const auto* number = value.as_floating_point()) return fmt::format("{}", number->get());
        if (const auto* truth = value.as_boolean()) return truth->get() ? "true" : "false";
        throw failure(fmt::format("{}: {} is not a string, number, boolean or array of those",
                                  place_of(path_, value.source()), key));
    }

    std::string path_;
};

}  // namespace

std::vector<file_setting> read_config_file(const std::string& path, std::string_view command,
                                           const std::vector<std::string>& other_commands) {
    toml::table all;
    try {
        all = toml::parse(text_of(path), path);
    } catch (const toml::parse_error& e) {
        throw failure(
            fmt::format("{}: {}; write TOML, KEY = VALUE", place_of(path, e.source()), e.description()));
    }
    reader keys(path);
    keys.take(all);
    for (const auto& [key, value] : all) {
        const toml::table* const table = value.as_table();
        if (!table) continue;
        if (key.str() == command) {
            for (const auto& [name, inner] : *table)
                if (inner.is_table())
                    throw failure(fmt::format("{}: [{}] has no tables in it; write KEY = VALUE",
                                              place_of(path, inner.source()), key.str()));
            keys.take(*table);
        } else if (std::ranges::find(other_commands, key.str()) == other_commands.end()) {
            throw failure(fmt::format("{}: there is no table [{}]; write [{}], or leave it out",
                                      place_of(path, value.source()), key.str(), command));
        }
    }
    return std::move(keys.found);
}

}  // namespace posy::tool
