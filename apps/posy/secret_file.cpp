#include "secret_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tool.hpp"

namespace posy::tool {

std::string read_secret(const std::string& option, const std::string& path) {
    const std::string where = option + " " + path + ": ";
    std::ifstream file(path);
    if (!file) throw failure(where + "cannot be opened: " + std::strerror(errno));
    std::string word, more;
    if (!(file >> word)) throw failure(where + (file.eof() ? "the file is empty" : "cannot be read"));
    // A secret with a space in it would be cut in half, and it would not be noticed.
    if (file >> more) throw failure(where + "it has more than one word; write one, without spaces");
    return word;
}

}  // namespace posy::tool
