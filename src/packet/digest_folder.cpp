#include "posy/packet/digest_folder.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "posy/base/file.hpp"

namespace posy::packets {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t microseconds = 1'000'000;  // per second
constexpr std::string_view ending = ".posy";

std::string seconds_text(std::uint64_t time) {
    const std::string parts = std::to_string(time % microseconds);
    return std::to_string(time / microseconds) + "." + std::string(6 - parts.size(), '0') + parts;
}

// Takes a decimal number off the front.
bool take_number(std::string_view& text, std::uint64_t& into) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (failed != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_text(std::string_view& text, std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
}

bool take_seconds(std::string_view& text, std::uint64_t& into) {
    std::uint64_t whole = 0, parts = 0;
    if (!take_number(text, whole) || !take_text(text, ".") || !take_number(text, parts)) return false;
    if (parts >= microseconds || whole > (~std::uint64_t{0} - parts) / microseconds) return false;
    into = whole * microseconds + parts;
    return true;
}

error failed_at(const fs::path& path, const std::error_code& why) {
    return error::input_output(path.string() + ": " + why.message());
}

}  // namespace

std::string page_name::text() const {
    return seconds_text(when.from) + "-" + seconds_text(when.to) + "-" + std::to_string(number) +
           std::string(ending);
}

// What is read is written again and compared: there is one way to write a name.
std::optional<page_name> page_name::parse(std::string_view text) {
    page_name name;
    std::string_view rest = text;
    if (!take_seconds(rest, name.when.from) || !take_text(rest, "-") || !take_seconds(rest, name.when.to) ||
        !take_text(rest, "-") || !take_number(rest, name.number) || rest != ending ||
        name.when.from > name.when.to || name.text() != text)
        return {};
    return name;
}

result<std::vector<page_name>> parse_page_list(std::string_view text) {
    std::vector<page_name> names;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const auto name = page_name::parse(text.substr(at, end - at));
        if (!name) return error::damaged("a line that is not the name of a page", at);
        names.push_back(*name);
        at = end + 1;
    }
    return names;
}

result<digest_page> page_of(result<message> read, const page_name& name) {
    if (!read) return read.error();
    auto* filter = std::get_if<bloom_filter>(&read->body);
    if (!filter)
        return error::mismatch("the page holds a message of kind " +
                               std::string(posy::name_of(kind_of(read->body))) + ", not a filter");
    return digest_page{std::move(*filter), name.when};
}

result<digest_folder> digest_folder::create(const fs::path& where) {
    std::error_code failed;
    fs::create_directories(where, failed);
    if (failed) return failed_at(where, failed);
    return open(where);
}

result<digest_folder> digest_folder::open(const fs::path& where) {
    std::error_code failed;
    if (!fs::is_directory(where, failed))
        return failed ? failed_at(where, failed)
                      : error::invalid(where.string() +
                                       " is not a folder; give one that 'posy trace record' wrote");
    return digest_folder(where);
}

result<page_name> digest_folder::save(const digest_page& page) {
    page_name name{page.when};
    std::error_code failed;
    while (fs::exists(where_ / name.text(), failed)) ++name.number;
    const auto saved = posy::save(where_ / name.text(), page.filter, {.want = coding::fastest});
    if (!saved) return saved.error().behind((where_ / name.text()).string());
    if (auto listed = write_list(); !listed) return listed.error();
    return name;
}

result<std::uint64_t> digest_folder::keep_within(std::uint64_t bytes) {
    auto names = pages();
    if (!names) return names.error();
    std::error_code failed;
    std::uint64_t kept = 0, removed = 0;
    for (auto name = names->rbegin(); name != names->rend(); ++name) {
        const fs::path path = where_ / name->text();
        const std::uint64_t size = fs::file_size(path, failed);
        if (failed) return failed_at(path, failed);
        // Once a page does not fit, all older ones go, too: there are no holes in what is remembered.
        if (removed == 0 && size <= bytes - kept) {
            kept += size;
            continue;
        }
        if (!fs::remove(path, failed) && failed) return failed_at(path, failed);
        ++removed;
    }
    if (removed != 0)
        if (auto listed = write_list(); !listed) return listed.error();
    return removed;
}

result<std::vector<page_name>> digest_folder::pages() const {
    std::vector<page_name> names;
    std::error_code failed;
    for (fs::directory_iterator entry(where_, failed), end; !failed && entry != end; entry.increment(failed))
        if (const auto name = page_name::parse(entry->path().filename().string())) names.push_back(*name);
    if (failed) return failed_at(where_, failed);
    std::ranges::sort(names, [](const page_name& a, const page_name& b) {
        return std::tie(a.when.from, a.when.to, a.number) < std::tie(b.when.from, b.when.to, b.number);
    });
    return names;
}

result<digest_page> digest_folder::load(const page_name& name, const read_limits& limits) const {
    const fs::path path = where_ / name.text();
    auto page = page_of(posy::load(path, limits), name);
    if (!page) return page.error().behind(path.string());
    return page;
}

result<void> digest_folder::write_list() const {
    const auto names = pages();
    if (!names) return names.error();
    std::string text;
    for (const page_name& name : *names) text += name.text() + "\n";
    auto file = base::atomic_file::in_place_of(where_ / list_name);
    if (!file) return file.error();
    if (auto written = base::write_fully(file->get(), as_byte_view(text)); !written) return written;
    return file->commit(base::durability::kill);
}

}  // namespace posy::packets
