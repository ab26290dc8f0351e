#include "locking.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "tool.hpp"

namespace posy::tool {
namespace {

namespace fs = std::filesystem;

bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return a == b || fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

}  // namespace

void lock_options::add_to(command_line& command) {
    command
        .add_option("--lock-wait SECONDS", wait,
                    "Seconds to wait while another posy process changes the same file; 0 to fail at once")
        .between(0.0, 1e6)
        .shows_default();
}

change_lock::change_lock(const std::string& path, const lock_options& how, bool option)
    : how_(how), path_(path) {
    const auto tell = [&](int holder) {
        fmt::print(stderr, "posy: {}: waiting for {}, which is changing it\n", path,
                   holder > 0 ? fmt::format("process {}", holder) : "another process");
    };
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(how.wait * 1000));
    auto taken = base::file_lock::take(path, {.limit = limit, .on_wait = tell});
    if (!taken && option && taken.error().kind == error_kind::busy)
        throw failure(path + ": " + taken.error().text() + ", or wait longer with --lock-wait SECONDS");
    lock_.emplace(take(std::move(taken), path));
}

change_lock change_lock::to_change(const std::vector<std::string>& inputs, const std::string& output,
                                   const lock_options& how) {
    const auto is_output = [&](const std::string& input) { return input != "-" && same_file(input, output); };
    if (output == "-" || !std::ranges::any_of(inputs, is_output)) return change_lock(how);
    if (const auto folder = fs::path(output).parent_path(); !folder.empty() && !fs::exists(folder))
        return change_lock(how);  // reading the file will fail, with a better message
    return {output, how, true};
}

change_lock change_lock::to_replace(const std::string& output, const change_lock* held) {
    const bool ours = held && !held->path_.empty() && same_file(held->path_, output);
    const lock_options how = held ? held->how_ : lock_options();
    if (output == "-" || ours) return change_lock(how);
    return {output, how, held != nullptr};
}

}  // namespace posy::tool
