// A report in parts, written twice: report.md for editors and diffs, report.html for eyes, one file with its
// pictures inside. Beside them lie the pictures and the data of every table and figure.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace posy::tool::papers {

struct cell {
    cell(std::string text_) : text(std::move(text_)) {}
    cell(const char* text_) : text(text_) {}
    cell(std::string text_, std::string beside_, bool misprint_)
        : text(std::move(text_)), beside(std::move(beside_)), misprint(misprint_) {}

    std::string text;
    std::string beside{};  // ours, next to what is printed
    bool misprint = false;
};

using csv_row = std::vector<std::string>;

struct paragraph {
    std::string text;
};
struct list {
    std::vector<std::string> points;
};
struct table {
    std::string caption;
    std::vector<std::vector<cell>> rows;  // the first is the heading
};
struct picture {
    std::string name, caption;
    std::string script;  // for gnuplot, without terminal and output
};
// Written as name.csv, and mentioned where it stands.
struct data {
    std::string name;
    std::vector<csv_row> rows;  // the first is the heading
};

struct section {
    std::string title;
    std::vector<std::variant<paragraph, list, table, picture, data>> parts;
};

struct report {
    std::string title;
    std::vector<section> sections;
};

void write(const report&, const std::filesystem::path& directory);

}  // namespace posy::tool::papers
