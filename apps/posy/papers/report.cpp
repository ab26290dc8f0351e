#include "report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base64.hpp"
#include "catalogue.hpp"
#include "gnuplot.hpp"
#include "posy/base/file.hpp"
#include "tool.hpp"

namespace posy::tool::papers {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, const std::string& text) {
    auto file = take(base::atomic_file::create(path), path.string());
    take(base::write_fully(file.get(), as_byte_view(text)), path.string());
    take(file.commit(), path.string());
}

// ---- Pictures --------------------------------------------------------------------------------------------

std::string drawn(const picture& p, const fs::path& path) {
    draw("set terminal svg size 720,440 dynamic background rgb 'white' font 'sans,14'\n" + p.script,
         path.string());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// What a link says and where a section stands: its name, without the slash.
std::string anchor(std::string name) {
    std::ranges::replace(name, '/', '-');
    return name;
}

std::string chapter_anchor(std::size_t number) { return fmt::format("chapter-{}", number); }

std::string quoted(const std::string& field) {
    if (field.find_first_of(",\"\n") == std::string::npos) return field;
    std::string safe = "\"";
    for (const char c : field) safe += c == '"' ? "\"\"" : std::string(1, c);
    return safe + "\"";
}

// ---- Markdown --------------------------------------------------------------------------------------------

// A bar inside a cell would end it.
std::string piped(const std::string& text) {
    std::string safe;
    for (const char c : text) safe += c == '|' ? "\\|" : std::string(1, c);
    return safe;
}

class markdown {
  public:
    explicit markdown(const report& r) : text_("# " + r.title + "\n") {
        (*this)(list{r.about});
        text_ += "\nContents:\n\n";
        for (std::size_t i = 0; i < r.sections.size(); ++i)
            text_ += fmt::format("- [{}](#{})\n", r.sections[i].title, chapter_anchor(i));
    }
    void chapter(const std::string& title) {
        text_ += fmt::format("\n<a id=\"{}\"></a>\n\n## {}\n", chapter_anchor(chapters_++), title);
    }
    void operator()(const heading& h) {
        text_ += fmt::format("\n<a id=\"{}\"></a>\n\n### {}\n", anchor(h.section), heading_of(h.section));
    }
    void operator()(const paragraph& p) { text_ += "\n" + p.text + "\n"; }
    void operator()(const list& l) {
        text_ += "\n";
        for (const auto& point : l.points) text_ += "- " + point + "\n";
    }
    void operator()(const table& t) {
        text_ += t.caption.empty() ? "\n" : "\n**" + t.caption + "**\n\n";
        for (std::size_t i = 0; i < t.rows.size(); ++i) {
            for (const cell& c : t.rows[i]) {
                const std::string text =
                    c.link.empty() ? piped(c.text) : fmt::format("[{}](#{})", c.text, anchor(c.link));
                text_ += "| " + (c.misprint ? "**" + text + "** ✗" : text) +
                         (c.beside.empty() ? "" : " / " + c.beside) +
                         (c.measured.empty() ? "" : " / " + c.measured) + " ";
            }
            text_ += "|\n";
            if (i != 0) continue;
            for (std::size_t j = 0; j < t.rows[0].size(); ++j) text_ += j == 0 || t.words ? "|---" : "|---:";
            text_ += "|\n";
        }
    }
    void operator()(const picture& p) {
        text_ += fmt::format("\n![{1}]({0}.svg)\n\n*{1}*\n", p.name, p.caption);
    }
    void operator()(const data& d) { text_ += fmt::format("\nData: [{0}.csv]({0}.csv)\n", d.name); }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
    std::size_t chapters_ = 0;
};

// ---- HTML ------------------------------------------------------------------------------------------------

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '&') {
            safe += "&amp;";
        } else if (c == '<') {
            safe += "&lt;";
        } else if (c == '>') {
            safe += "&gt;";
        } else if (c == '"') {
            safe += "&quot;";
        } else {
            safe += c;
        }
    }
    return safe;
}

std::string linked(const cell& c) {
    if (c.link.empty()) return escaped(c.text);
    return fmt::format("<a href=\"#{}\">{}</a>", anchor(c.link), escaped(c.text));
}

class html {
  public:
    html(const report& r, fs::path directory) : directory_(std::move(directory)) {
        text_ = fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{0}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 0 auto; padding: 1rem; }}
h1, h2, h3 {{ line-height: 1.2; }}
h2 {{ margin-top: 2.5rem; border-bottom: 2px solid #7b4fa3; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-weight: bold; padding: 0.5rem 0; }}
th, td {{ padding: 0.2rem 0.5rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
.words th, .words td {{ text-align: left; white-space: normal; }}
th {{ background: #f3eef8; }}
td small {{ color: #777; display: block; }}
td.misprint {{ background: #fde4dc; }}
td.misprint b {{ color: #d0421b; }}
figure {{ margin: 1.5rem 0; }}
figure img {{ width: 100%; height: auto; }}
figcaption {{ font-size: 0.9rem; color: #555; }}
</style>
</head>
<body>
<h1>{0}</h1>
)",
                            escaped(r.title));
        (*this)(list{r.about});
        text_ += "<nav><p>Contents:</p>\n<ul>\n";
        for (std::size_t i = 0; i < r.sections.size(); ++i)
            text_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", chapter_anchor(i),
                                 escaped(r.sections[i].title));
        text_ += "</ul></nav>\n";
    }
    void chapter(const std::string& title) {
        text_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", chapter_anchor(chapters_++), escaped(title));
    }
    void operator()(const heading& h) {
        text_ += fmt::format("<h3 id=\"{}\">{}</h3>\n", anchor(h.section), escaped(heading_of(h.section)));
    }
    void operator()(const paragraph& p) { text_ += "<p>" + escaped(p.text) + "</p>\n"; }
    void operator()(const list& l) {
        text_ += "<ul>\n";
        for (const auto& point : l.points) text_ += "<li>" + escaped(point) + "</li>\n";
        text_ += "</ul>\n";
    }
    void operator()(const table& t) {
        text_ += fmt::format("<div class=\"wide\"><table{}><caption>{}</caption>\n",
                             t.words ? " class=\"words\"" : "", escaped(t.caption));
        for (std::size_t i = 0; i < t.rows.size(); ++i) {
            const std::string kind = i == 0 ? "th" : "td";
            text_ += "<tr>";
            for (const cell& c : t.rows[i]) {
                std::string small;
                for (const std::string& line : {c.beside, c.measured})
                    if (!line.empty()) small += fmt::format("<small>{}</small>", escaped(line));
                text_ += fmt::format(fmt::runtime(c.misprint ? "<{0} class=\"misprint\"><b>{1} ✗</b>{2}</{0}>"
                                                             : "<{0}>{1}{2}</{0}>"),
                                     kind, linked(c), small);
            }
            text_ += "</tr>\n";
        }
        text_ += "</table></div>\n";
    }
    void operator()(const picture& p) {
        const std::string image = drawn(p, directory_ / (p.name + ".svg"));
        text_ += fmt::format(
            // As data: pictures bring identifiers of their own, which would meet in one document.
            "<figure><img alt=\"{0}\" src=\"data:image/svg+xml;base64,{1}\"/>"
            "<figcaption>{0}</figcaption></figure>\n",
            escaped(p.caption), base64(image));
    }
    void operator()(const data& d) {
        std::string lines;
        for (const auto& row : d.rows) {
            for (std::size_t i = 0; i < row.size(); ++i) lines += (i == 0 ? "" : ",") + quoted(row[i]);
            lines += "\n";
        }
        put(directory_ / (d.name + ".csv"), lines);
        text_ += fmt::format("<p>Data: <a href=\"{0}.csv\">{0}.csv</a></p>\n", d.name);
    }
    std::string text() const { return text_ + "</body>\n</html>\n"; }

  private:
    fs::path directory_;
    std::string text_;
    std::size_t chapters_ = 0;
};

}  // namespace

// ---- Sheets ----------------------------------------------------------------------------------------------

sheet::value::value(double x)
    : value(std::abs(x) < 1e7 && x == std::floor(x) ? fmt::format("{:.0f}", x) : fmt::format("{:.4g}", x),
            x) {}
sheet::value::value(std::string shown_, double x)
    : shown(std::move(shown_)), exact(shown == "–" ? "" : fmt::format("{}", x)) {}

sheet::sheet(std::string file, std::string caption, std::vector<column> columns)
    : columns_(std::move(columns)), table_{std::move(caption), {{}}}, data_{std::move(file), {{}}} {
    for (const column& c : columns_) {
        data_.rows[0].push_back(c.name);
        if (!c.title.empty()) table_.rows[0].emplace_back(c.title);
    }
}

void sheet::row(const std::vector<value>& values) {
    table_.rows.emplace_back();
    data_.rows.emplace_back();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        data_.rows.back().push_back(values.at(i).exact);
        if (!columns_[i].title.empty()) table_.rows.back().emplace_back(values.at(i).shown);
    }
}

void sheet::append_to(section& s) const {
    s.parts.emplace_back(table_);
    s.parts.emplace_back(data_);
}

// ---- Files -----------------------------------------------------------------------------------------------

void write(const report& r, const fs::path& directory) {
    markdown plain(r);
    html page(r, directory);
    for (const section& s : r.sections) {
        plain.chapter(s.title);
        page.chapter(s.title);
        for (const auto& part : s.parts) {
            std::visit(plain, part);
            std::visit(page, part);
        }
    }
    put(directory / "report.md", plain.text());
    put(directory / "report.html", page.text());
}

}  // namespace posy::tool::papers
