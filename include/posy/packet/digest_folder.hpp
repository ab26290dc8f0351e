// The pages of a digest table as files in a folder, so that they outlive the process and the memory.
//
// A page is a message with a filter (docs/format.md), coded, so that a page with few packets is small. Its
// name is its time, in seconds since 1970, and a number that makes it the only one: FIRST-LAST-NUMBER.posy. A
// page is written under another name and renamed: it is there whole or not at all. The file pages.txt lists
// the names, one per line, for readers that have the folder from a web server.
//
// One process writes to a folder, any number read. A page that is damaged is an error of its own, and the
// others still answer. Thread safety: none.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/message.hpp"
#include "posy/packet/digest_table.hpp"

namespace posy::packets {

struct page_name {
    time_window when;
    std::uint64_t number = 0;

    std::string text() const;
    // Nothing if the text is not what text() writes.
    static std::optional<page_name> parse(std::string_view);
    friend bool operator==(const page_name&, const page_name&) = default;
};

// The names in a pages.txt. Lines that are no names are an error with their offset.
result<std::vector<page_name>> parse_page_list(std::string_view text);

// A page that was fetched or read. An error if the message is damaged or holds something else than a filter.
result<digest_page> page_of(result<message>, const page_name&);

class digest_folder {
  public:
    static constexpr const char* list_name = "pages.txt";

    // Made if it is not there.
    static result<digest_folder> create(const std::filesystem::path&);
    static result<digest_folder> open(const std::filesystem::path&);

    result<page_name> save(const digest_page&);
    // Removes the oldest pages until the others take at most this many bytes; how many were removed.
    result<std::uint64_t> keep_within(std::uint64_t bytes);

    // By time.
    result<std::vector<page_name>> pages() const;
    result<digest_page> load(const page_name&, const read_limits& = {}) const;

  private:
    explicit digest_folder(std::filesystem::path where) : where_(std::move(where)) {}
    result<void> write_list() const;

    std::filesystem::path where_;
};

}  // namespace posy::packets
