// Real texts for simulations: the text files under a folder, each as the set of its words.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace posy::simulate {

struct text {
    std::string name;                // its path
    std::vector<std::string> words;  // different ones, ascending
};

// Words are runs of 3 to 20 letters, in lower case. Compressed and binary files are left out, and all after
// the first MiB of a file. In the order of their names, the same on every run.
std::vector<text> read_corpus(const std::filesystem::path& folder = "/usr/share/doc");

}  // namespace posy::simulate
