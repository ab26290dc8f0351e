"""posy papers on a reduced run: the report is whole, the tables are the papers', the simulations beat them.

Usage: papers_test.py POSY [unittest arguments]
"""
import base64
import math
import os
import re
import subprocess
import xml.etree.ElementTree as xml

from papers_report import POSY, TABLES, ReportTest, log2_binomial, main, read_csv

TRIALS = 200

ENTRY = ["table", "bits_per_item", "hashes", "change", "quantity", "printed"]
PICTURES = ["fan1998_figure4", "mitzenmacher2002_figure1", "mitzenmacher2002_figure2", "slides_rate_by_bits",
            "slides_rate_by_hashes"]
# The most that the mean of a case may be.
MOST = {"(14 2)": 9908, "(48 3)": 19791, "(7 1)": 4957, "(12.6 2)": 9481, "delta (32 2)": 2081}


class Papers(ReportTest):
    ARGUMENTS = ["--trials", str(TRIALS)]

    # ---- the report ----

    def test_pages_and_pictures_are_well_formed_and_complete(self):
        page = xml.fromstring(self.text("report.html"))
        headings = [h.text for h in page.iter("h2")]
        self.assertEqual(len(headings), 12)  # the index and eleven chapters
        pictures = [i.get("src") for i in page.iter("img")]
        self.assertEqual(len(pictures), len(PICTURES))
        for source in pictures:  # the page needs no other file
            kind, data = source.split(",", 1)
            self.assertEqual(kind, "data:image/svg+xml;base64")
            xml.fromstring(base64.b64decode(data, validate=True))
        for name in PICTURES:
            drawing = xml.parse(os.path.join(self.dir, name + ".svg")).getroot()
            self.assertTrue(drawing.tag.endswith("svg"))
            self.assertTrue(list(drawing.iter("{http://www.w3.org/2000/svg}path")), name)
        links = {a.get("href") for a in page.iter("a") if not a.get("href").startswith("#")}
        markdown = self.text("report.md")
        self.assertEqual(links, set(re.findall(r"\]\(([^)]*\.csv)\)", markdown)))
        self.assertEqual(links, {f for f in os.listdir(self.dir) if f.endswith(".csv")})
        self.assertEqual([h for h in re.findall(r"^## (.*)$", markdown, re.M)], headings)
        self.assertEqual(markdown.count(" ✗"), self.text("report.html").count(" ✗"))

    def test_it_opens_with_what_made_it_and_its_contents(self):
        version = subprocess.run([POSY, "--version"], capture_output=True, text=True).stdout.strip()
        markdown = self.text("report.md")
        opening = markdown[:markdown.index("\n## ")]
        page = xml.fromstring(self.text("report.html")).find("body")
        points = ["".join(li.itertext()) for li in page.find("ul")]
        for saying in [f"Version: {version}", f"Trials: {TRIALS} of each simulation", "Seeds: trial i", "Date: 2026-05-01"]:
            self.assertIn("- " + saying, opening)
            self.assertTrue(any(p.startswith(saying) for p in points), saying)
        chapters = [(h.get("id"), h.text) for h in page.findall("h2")]
        self.assertEqual([(a.get("href"), a.text) for a in page.find("nav").iter("a")], [("#" + name, title) for name, title in chapters])
        self.assertEqual(re.findall(r"(?m)^- \[(.*)\]\(#(chapter-\d+)\)$", opening), [(title, name) for name, title in chapters])
        for name, _ in chapters:
            self.assertEqual(markdown.count(f'<a id="{name}"></a>'), 1)
        done = self.papers("--only", "fan1998", "--trials", "0", "-o", "when", status=2, environment={"SOURCE_DATE_EPOCH": "May"})
        self.assertIn("SOURCE_DATE_EPOCH=May: give the seconds since 1970", done.stderr)

    def test_tables_3_to_5_show_what_was_measured(self):
        rows = {(r["bits_per_item"], r["hashes"]): r for r in self.rows("fan1998") if r["quantity"] == "rate"}
        row = rows["8", "5"]
        shown = f"{float(row['measured']):.3g} ± {float(row['standard_error']):.1g}"
        self.assertIn(f"| {row['printed']} / {float(row['computed']):.4g} / {shown} |", self.text("report.md"))
        tables = self.text("report.md").split("Table 3: false")[1].split("Figure 4: false")[0]
        cells = re.findall(r"/ [^/|]* / (0 of [\d,]+|[\d.e-]+ ± [\d.e-]+) \|", tables)
        self.assertEqual(len(cells), len(rows))

    def test_points_have_error_bars(self):
        for name in ["fan1998_figure4", "mitzenmacher2002_figure1", "mitzenmacher2002_figure2", "slides_rate_by_hashes"]:
            rows = self.rows(name)
            columns = [c for c in rows[0] if c.endswith("_measured")]
            tried = 0
            for row in rows:
                for column in columns:
                    error = row[column.replace("_measured", "_standard_error")]
                    self.assertEqual(row[column] == "", error == "", name)
                    if error:
                        self.assertTrue(0 < float(error) < float(row[column]), (name, row))
                        tried += 1
            self.assertGreater(tried, 5, name)
            self.assertIn("± standard error", self.text(name + ".svg"))

    def test_no_two_pictures_are_alike(self):
        drawings = set()
        for name in PICTURES:
            text = self.text(name + ".svg")
            drawings.add(tuple(sorted(re.findall(r"<path[^>]* d=['\"]([^'\"]{200,})", text))))
        self.assertEqual(len(drawings), len(PICTURES))
        # The slide that repeats Figure 4 shows how far its points are from their formula.
        rows = self.numbers("slides_rate_by_bits")
        self.assertGreater(len(rows), 20)
        for row in rows:  # odds of 7e-6 each
            self.assertLess(abs(row["measured"] - row["expected"]), 4.5 * row["standard_error"], row)

    def test_plural_forms(self):
        self.papers("--only", "fan1998,simulation,survey", "--trials", "1", "-o", "one")
        for file in ["report.md", "report.html"]:
            with open(os.path.join(self.scratch.name, "one", file), encoding="utf-8") as f:
                text = f.read()
            self.assertNotRegex(text, r"\b1 (filters|trials|entries|messages|keys)\b")
            self.assertRegex(text, r"\b1 filter\b")
            self.assertRegex(text, r"\b1 trial\b")

    def test_every_printed_entry_is_there_and_the_misprints_are_marked(self):
        misprints = read_csv(TABLES, "misprints.csv")
        for source, name in [("fan1998", "fan1998"), ("mitzenmacher2002", "mitzenmacher2002"),
                             ("broder2004", "broder2004")]:
            ours, printed = read_csv(self.dir, name + ".csv"), read_csv(TABLES, source + ".csv")
            self.assertEqual([[r.get(c) for c in ENTRY] for r in ours], [[r.get(c) for c in ENTRY] for r in printed])
            marked = [[source, *(r[c] for c in ["table", "bits_per_item", "hashes", "quantity", "printed", "corrected",
                                                "kind"])] for r in ours if r["corrected"]]
            self.assertEqual(sorted(marked), sorted(list(m.values()) for m in misprints if m["source"] == source))
            for row in ours:
                value = float(row["corrected"] or row["printed"])
                # Three digits at least, so half a percent; two where the paper's second is a five or more.
                self.assertLessEqual(abs(float(row["computed"]) / value - 1), 0.0056, row)
        for misprint in misprints:
            self.assertIn(f"printed {misprint['printed']}, the formula gives {misprint['corrected']}", self.text("report.md"))

    def test_measured_rates_agree(self):
        # 4.5 standard errors: odds of 7e-6 an entry, 0.003 for all. Only where ten hits were to be expected.
        tried = 0
        for name, queries in [("fan1998", 100_000), ("mitzenmacher2002", 20_000), ("broder2004", 20_000)]:
            for row in read_csv(self.dir, name + ".csv"):
                if row["quantity"] != "rate" or float(row["computed"]) * queries < 10:
                    continue
                off = float(row["measured"]) - float(row["computed"])
                # The formula is that of endless filters; ours are smaller, and their rate is up to k²/m higher.
                finite = float(row["computed"]) * float(row["hashes"]) ** 2 / (float(row["bits_per_item"]) * 10_000)
                self.assertLess(abs(off), 4.5 * float(row["standard_error"]) + finite, row)
                tried += 1
        self.assertGreater(tried, 200)

    # ---- the simulations ----

    def test_simulations_beat_the_paper_and_keep_to_theory(self):
        rows = {r["case"]: r for r in read_csv(self.dir, "simulation.csv")}
        printed = {f"{'delta ' * bool(r['change'])}({r['bits_per_item']} {r['hashes']})": r
                   for r in read_csv(TABLES, "simulations.csv")}
        self.assertEqual(set(rows), set(MOST))
        self.assertEqual(set(rows), set(printed))
        for case, most in MOST.items():
            largest = float(printed[case]["largest"])
            for column in ["theory", "mean", "deviation"]:
                self.assertEqual(float(rows[case]["printed_" + column] or 0), float(printed[case][column] or 0), case)
            row = {name: float(value) for name, value in rows[case].items() if name != "case" and value}
            self.assertEqual(row["trials"], TRIALS)
            self.assertGreaterEqual(row["read_back"], 1)
            self.assertLessEqual(row["mean"], most, case)
            self.assertLess(row["largest"], largest, case)
            self.assertEqual(row["printed_largest"], largest)
            # The number of ones takes 2 or 3 bytes; m H(x/m) is a byte above the bound; the end takes up to one.
            self.assertTrue(2 < row["mean"] - row["bound"] < 5, case)
            # Geometry, seed and checksum of a filter; of a delta its base as well.
            self.assertTrue(20 < row["frame_mean"] - row["mean"] < 40, case)
            # The mean of log2 C(m, x) to second order; 4.5 standard errors fail once in 150,000.
            n, k, c = 10_000, row["hashes"], row["change"]
            m = row["bits_per_item"] * n
            zero = (1 - 1 / m) ** (k * n)
            share = 1 - zero if c == 0 else 2 * zero * (1 - zero ** c)
            x = m * share
            variance = row["ones_deviation"] ** 2
            expected = (log2_binomial(m, x) - variance / 2 * math.log2(math.e) * m / (x * (m - x))) / 8
            error = row["deviation"] / math.sqrt(TRIALS)
            self.assertLess(abs(row["bound"] - expected), 4.5 * error, case)
            self.assertLess(abs(row["ones_mean"] - x), 4.5 * row["ones_deviation"] / math.sqrt(TRIALS), case)
            measured = row["hits"] / row["queries"]
            self.assertLess(abs(measured - row["expected_rate"]), 4.5 * row["rate_error"], case)

    def test_any_number_of_threads_gives_the_same_report(self):
        for threads in ["1", "3"]:
            self.papers("--trials", "40", "--threads", threads, "-o", "threads" + threads)
        one, three = (os.path.join(self.scratch.name, "threads" + t) for t in "13")
        self.assertEqual(sorted(os.listdir(one)), sorted(os.listdir(three)))
        for name in os.listdir(one):
            with open(os.path.join(one, name), "rb") as a, open(os.path.join(three, name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    # ---- options ----

    def test_the_summary(self):
        self.assertIn("fan1998           Tables 3 to 5: 439 of 442 printed entries are their formula, 3 are misprints", self.out)
        self.assertIn("mitzenmacher2002  Tables I to VII: 46 of 52 printed entries are their formula, 6 are misprints", self.out)
        self.assertIn("200 trials, n = 10,000, bytes", self.out)
        self.assertIn("delta (32, 2)", self.out)

    def test_less(self):
        self.papers("--only", "fan1998", "--trials", "0", "-o", "fan")
        made = os.listdir(os.path.join(self.scratch.name, "fan"))
        self.assertEqual(sorted(made), ["catalogue.csv", "fan1998.csv", "fan1998_figure4.csv", "fan1998_figure4.svg", "report.html", "report.md"])
        self.assertEqual({r["measured"] for r in read_csv(self.scratch.name, "fan", "fan1998.csv")}, {""})
        self.papers("--trials", "0", "-o", "formulas")
        with open(os.path.join(self.scratch.name, "formulas", "report.md"), encoding="utf-8") as f:
            self.assertIn("Nothing was simulated", f.read())

    def test_bad_wishes(self):
        for args, saying in [(["--only", "hamlet"], "hamlet"), (["--trials", "many"], "many"), (["--trials", "1G"], "at most"),
                             (["--trials", "0", "-o", os.path.join(TABLES, "misprints.csv")], "misprints.csv")]:
            done = self.papers(*args, status=2)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Aposy: [^\n]*\n\Z")
            self.assertIn(saying, done.stderr)


if __name__ == "__main__":
    main()
