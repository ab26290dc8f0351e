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
    std::string link{};      // the section it leads to
    std::string measured{};  // next to ours
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
    bool words = false;                   // all columns to the left
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

// A section of a chapter, by its name in the catalogue.
struct heading {
    std::string section;
};

struct section {
    std::string title;
    std::vector<std::variant<heading, paragraph, list, table, picture, data>> parts;
};

// A table of the report and the file of its numbers, row by row: a cell has a text for people and all its
// digits for programs.
class sheet {
  public:
    struct column {
        std::string name, title;  // in the file, in the table; a column without a title is in the file alone
    };
    struct value {
        value(double x);  // four digits, or a whole number
        value(std::uint64_t x) : shown(std::to_string(x)), exact(shown) {}
        value(unsigned x) : value(std::uint64_t{x}) {}
        value(int x) : shown(std::to_string(x)), exact(shown) {}
        value(std::string text) : shown(text), exact(std::move(text)) {}
        value(const char* text) : value(std::string(text)) {}
        value(std::string shown_, double x);
        std::string shown, exact;
    };
    // Not measured, or beyond the formula: a dash, and nothing in the file.
    static value none() { return {std::string("–"), 0}; }

    sheet(std::string file, std::string caption, std::vector<column> columns);
    void row(const std::vector<value>& values);
    void append_to(section&) const;

  private:
    std::vector<column> columns_;
    table table_;
    data data_;
};

// It opens with what made it and with its contents.
struct report {
    std::string title;
    std::vector<std::string> about;  // version, trials, seeds, date
    std::vector<section> sections;
};

void write(const report&, const std::filesystem::path& directory);

}  // namespace posy::tool::papers
