#include "corpus.hpp"

#include <algorithm>
#include <fstream>
#include <set>

namespace posy::simulate {
namespace {

constexpr std::size_t most_bytes = 1 << 20;

std::string beginning_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes(most_bytes, '\0');
    file.read(bytes.data(), most_bytes);
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return bytes;
}

// A zero byte, or what gzip and its like start with.
bool is_binary(const std::string& bytes) {
    return bytes.find('\0') < 4096 || bytes.starts_with("\x1f\x8b") || bytes.starts_with("%PDF") ||
           bytes.starts_with("BZh");
}

std::vector<std::string> words_of(const std::string& bytes) {
    std::set<std::string> words;
    std::string word;
    const auto end_word = [&] {
        if (word.size() >= 3 && word.size() <= 20) words.insert(word);
        word.clear();
    };
    for (const char c : bytes) {
        const char lower = static_cast<char>(c | 0x20);
        if (lower >= 'a' && lower <= 'z')
            word.push_back(lower);
        else
            end_word();
    }
    end_word();
    return {words.begin(), words.end()};
}

}  // namespace

std::vector<text> read_corpus(const std::filesystem::path& folder) {
    std::vector<text> all;
    std::error_code failed;
    using iterator = std::filesystem::recursive_directory_iterator;
    for (iterator next(folder, std::filesystem::directory_options::skip_permission_denied, failed), end;
         !failed && next != end; next.increment(failed)) {
        if (next->is_symlink(failed) || !next->is_regular_file(failed)) continue;
        const std::string bytes = beginning_of(next->path());
        if (is_binary(bytes)) continue;
        text t{next->path().string(), words_of(bytes)};
        if (!t.words.empty()) all.push_back(std::move(t));
    }
    std::ranges::sort(all, {}, &text::name);
    return all;
}

}  // namespace posy::simulate
