"""The catalogue of posy papers is complete: what the documents have is in it, and each entry has its place in the report.

Usage: papers_catalogue_test.py POSY [unittest arguments]
"""
import os
import re
import xml.etree.ElementTree as xml

from papers_report import ReportTest, main

# What the documents have, counted in them: displayed formulas by number, tables, figures. Two of the second paper's
# formulas have numbers of their own and one is its theorem; the slides' formulas are counted by slide.
FORMULAS = {"Summary Cache": set(range(1, 8)), "Survey": set(range(1, 22)),
            "Compressed Bloom Filters": set(range(1, 15)) - {4, 6, 11}}
TABLES = {"Summary Cache": {"Table 3", "Table 4", "Table 5"}, "Survey": {"Table 1"},
          "Compressed Bloom Filters": {"Table " + n for n in ["I", "II", "III", "IV", "V", "VI", "VII"]}}
FIGURES = {"Summary Cache": {"Figure 3", "Figure 4"}, "Survey": {"Figure 1", "Figure 2"},
           "Compressed Bloom Filters": {"Fig. 1", "Fig. 2"},
           "Slides": {"A Bloom filter example", "False positive rate vs. k", "Rate vs. bits per entry"}}


class Catalogue(ReportTest):
    ARGUMENTS = ["--trials", "0"]

    def test_nothing_is_missing(self):
        entries = self.rows("catalogue")
        for document, numbers in FORMULAS.items():
            found = [re.search(r"formula (\d+)", e["where"]) for e in entries
                     if e["document"] == document and e["kind"] == "formula"]
            self.assertEqual(sorted(int(m[1]) for m in found if m), sorted(numbers), document)
        for kind, expected in [("table", TABLES), ("figure", FIGURES)]:
            for document, places in expected.items():
                self.assertEqual({e["where"] for e in entries if e["document"] == document and e["kind"] == kind}, places)
        places = {(e["document"], e["where"]) for e in entries}
        for place in ["II-A, (1)", "II-B, (2)", "Theorem 1"]:
            self.assertIn(("Compressed Bloom Filters", place), places)
        for place in ["Figure A-1", "Figure A-2", "getOptimalBloomFilterSize", "getOptimalK"]:
            self.assertIn(("Hadoop", place), places)
        self.assertEqual({e["document"] for e in entries},
                         {"Summary Cache", "Compressed Bloom Filters", "Survey", "Slides", "Hadoop"})

    def test_every_entry_has_a_section_and_every_section_an_entry(self):
        entries = self.rows("catalogue")
        page = xml.fromstring(self.text("report.html"))
        markdown = self.text("report.md")
        sections = {h.get("id"): h.text for h in page.iter("h3")}
        self.assertEqual({e["section"].replace("/", "-") for e in entries}, set(sections))
        self.assertEqual(re.findall(r'^<a id="(?!chapter-)(.*)"></a>$', markdown, re.M), list(sections))
        self.assertEqual(re.findall(r"^### (.*)$", markdown, re.M), list(sections.values()))
        for e in entries:
            self.assertTrue(sections[e["section"].replace("/", "-")].startswith(e["number"] + " "), e)
        # The index comes first, and its links lead to the sections.
        self.assertEqual(next(page.iter("h2")).text, "What is where")
        links = [a.get("href")[1:] for a in page.iter("a") if re.match("#(?!chapter-)", a.get("href"))]
        self.assertEqual(links, [e["section"].replace("/", "-") for e in entries])
        # No section is empty: each has a table, a figure or a sentence before the next.
        for part in re.split(r"^### .*$", markdown, flags=re.M)[1:]:
            self.assertGreater(len(part.strip()), 30)

    def test_the_list(self):
        entries = self.rows("catalogue")
        lines = self.papers("--list").stdout.splitlines()
        self.assertEqual(len(lines), 1 + len(entries))
        for line, e in zip(lines[1:], entries):
            self.assertTrue(line.startswith(e["document"]), line)
            for field in ["where", "kind", "what", "number"]:
                self.assertIn(e[field], line)

    def test_a_part_of_the_report_says_what_it_leaves_out(self):
        self.papers("--only", "formulas,bounds", "--trials", "0", "-o", "some")
        text = self.text(os.path.join("..", "some", "report.md"))
        self.assertIn("chapter fan1998, not in this run", text)
        self.assertNotIn("chapter bounds, not in this run", text)


if __name__ == "__main__":
    main()
