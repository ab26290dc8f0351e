#include "posy/dictionary/edits.hpp"

#include <algorithm>

namespace posy::dictionary {

std::string_view first_character(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
    const auto follows = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
    const std::string_view whole = text.substr(0, size);
    return whole.size() == size && std::ranges::all_of(whole.substr(1), follows) ? whole : text.substr(0, 1);
}

std::vector<std::string_view> characters(std::string_view text) {
    std::vector<std::string_view> all;
    all.reserve(text.size());
    while (!text.empty()) {
        all.push_back(first_character(text));
        text.remove_prefix(all.back().size());
    }
    return all;
}

std::vector<std::string_view> alphabet(std::string_view text) {
    std::vector<std::string_view> all = characters(text);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::string_view printable_ascii() {
    return " !\"#$%&'()*+,-./"
           "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
}

}  // namespace posy::dictionary
