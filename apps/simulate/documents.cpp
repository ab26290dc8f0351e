#include "documents.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace posy::simulate {
namespace {

namespace fs = std::filesystem;

std::string beginning_of(const fs::path& path) {
    std::string bytes(std::size_t{256} << 10, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
}

// A zero byte, or what compressed files and PDF start with.
bool is_binary(const std::string& bytes) {
    return bytes.find('\0') != std::string::npos || bytes.starts_with("\x1f\x8b") ||
           bytes.starts_with("%PDF") || bytes.starts_with("BZh");
}

void count_words(const std::string& bytes, document& into) {
    std::string word;
    const auto end_word = [&] {
        if (word.size() >= 3 && word.size() <= 20) ++into.words[word], ++into.length;
        word.clear();
    };
    for (const char c : bytes) {
        const char lower = static_cast<char>(c | 0x20);
        if (lower >= 'a' && lower <= 'z') {
            word.push_back(lower);
        } else {
            end_word();
        }
    }
    end_word();
}

}  // namespace

std::vector<document> read_documents(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code failed;
    for (fs::recursive_directory_iterator next(folder, fs::directory_options::skip_permission_denied, failed),
         end;
         !failed && next != end; next.increment(failed)) {
        if (!next->is_symlink(failed) && next->is_regular_file(failed)) paths.push_back(next->path());
    }
    std::ranges::sort(paths);
    std::vector<document> all;
    for (const fs::path& path : paths) {
        const std::string bytes = beginning_of(path);
        if (is_binary(bytes)) continue;
        document d;
        d.name = path.string();
        d.topic = path.lexically_relative(folder).begin()->string();
        count_words(bytes, d);
        if (d.length != 0) all.push_back(std::move(d));
    }
    if (all.empty())
        throw std::invalid_argument("simulate: there are no text files under " + folder.string() +
                                    "; name another folder with --texts");
    return all;
}

std::vector<std::uint32_t> counts_of(const document& d, std::span<const std::string> words) {
    std::vector<std::uint32_t> counts;
    for (const std::string& word : words) {
        const auto found = d.words.find(word);
        counts.push_back(found == d.words.end() ? 0 : found->second);
    }
    return counts;
}

std::unordered_map<std::string, std::uint32_t> document_frequencies(std::span<const document> all) {
    std::unordered_map<std::string, std::uint32_t> frequencies;
    for (const document& d : all) {
        for (const auto& [word, count] : d.words) ++frequencies[word];
    }
    return frequencies;
}

}  // namespace posy::simulate
