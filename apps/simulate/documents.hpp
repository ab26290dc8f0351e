// Real documents for the searches: the text files under a folder with their words and how often each occurs,
// and the frequencies in all of them that a central server would have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace posy::simulate {

struct document {
    std::string name;                            // its path
    std::string topic;                           // the first folder of its path below the one that was read
    std::uint64_t length = 0;                    // in words
    std::map<std::string, std::uint32_t> words;  // how often each occurs
};

// Words are runs of 3 to 20 letters, in lower case. Binary and compressed files are left out, and all after
// the first 256 KiB of a file. In the order of their names, the same on every run. Throws
// std::invalid_argument, which names the folder, if there are none.
std::vector<document> read_documents(const std::filesystem::path& folder);

// How often a document has each word.
std::vector<std::uint32_t> counts_of(const document&, std::span<const std::string> words);

// The number of documents with each word.
std::unordered_map<std::string, std::uint32_t> document_frequencies(std::span<const document>);

}  // namespace posy::simulate
