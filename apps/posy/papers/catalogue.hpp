// The catalogue: every table, figure and formula of the five documents, and the section of the report that
// computes it again. It is the only list of them: sections get their numbers and titles from it, the index of
// the report and `posy papers --list` are written from it, and a section that is not in it cannot be written.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posy::tool::papers {

struct catalogue_entry {
    std::string_view document;  // a short name
    std::string_view where;     // in the document
    // table, figure; formula: displayed on its own line or slide; text: a formula or figure inside a
    // sentence; simulation; code
    std::string_view kind;
    std::string_view what;
    std::string_view section;  // its name
};
std::span<const catalogue_entry> catalogue();

// A section's name is chapter/rest.
struct section_title {
    std::string_view name, title;
    std::string_view chapter() const { return name.substr(0, name.find('/')); }
};
std::span<const section_title> sections();

// The chapters in the order of the report.
std::vector<std::string_view> chapter_order();

// "4" and "4.2": where a chapter or section stands, whichever others are written.
std::string number_of(std::string_view chapter_or_section);
// "4.2 Table IV: …". Precondition: the catalogue has it.
std::string heading_of(std::string_view section);

}  // namespace posy::tool::papers
