"""posy simulate from outside: the list, one system, its tables, data and pictures.

Usage: simulate_test.py POSY [unittest arguments]
"""
import json
import os
import shutil
import unittest
import xml.etree.ElementTree

from harness import ToolTest, main

SMALL = ["tree", "--nodes", "50", "--objects", "2k", "--queries", "500"]


class Simulate(ToolTest):
    def test_the_list(self):
        listed = self.posy("simulate", "--list").decode()
        self.assertEqual(self.posy("simulate").decode(), listed)
        names = [line.split()[0] for line in listed.splitlines()]
        self.assertEqual(len(set(names)), len(names))
        self.assertIn("tree", names)
        self.assertIn("attenuated", names)

    def test_a_report_for_people_and_for_programs(self):
        table = self.posy("simulate", *SMALL).decode()
        self.assertTrue(table.startswith("tree: 50 nodes, 2000 objects"))
        self.assertRegex(table, r"\n {50,}measured +predicted\n")
        report = json.loads(self.posy("simulate", *SMALL, "--json"))
        self.assertEqual(report["system"], "tree")
        figures = {f["name"]: f for f in report["figures"]}
        self.assertEqual(figures["found"]["measured"], 1)
        self.assertEqual(figures["lookups of existing objects"]["measured"], 500)
        self.assertIsNone(figures["hops per lookup"]["predicted"])
        for name in figures:
            self.assertIn(name, table)
        for curve in report["plots"][0]["curves"]:
            self.assertTrue(all(len(point) == 2 for point in curve["points"]))

    def test_the_seed_decides(self):
        self.assertEqual(self.posy("simulate", *SMALL, "--seed", "7"), self.posy("simulate", *SMALL, "--seed", "7"))
        self.assertNotEqual(self.posy("simulate", *SMALL, "--seed", "7"), self.posy("simulate", *SMALL, "--seed", "8"))

    @unittest.skipUnless(shutil.which("gnuplot"), "there is no gnuplot")
    def test_a_picture_shows_every_figure_beside_its_prediction(self):
        os.makedirs(self.path("texts/a"))
        for i in range(20):
            self.write(f"texts/a/{i}", f"some words of text number {i * 7919}, all of them in file {i}".encode())
        small = {"tree": ["--nodes", "200", "--objects", "2k", "--queries", "3k"], "groups": ["--nodes", "40", "--objects", "400", "--queries", "200"],
                 "multicast": ["--nodes", "20", "--objects", "100", "--queries", "500"],
                 "geographic": ["--nodes", "16", "--objects", "400", "--queries", "200"],
                 "keywords": ["--nodes", "10", "--queries", "20", "--texts", "texts"]}
        for system, options in small.items():
            report = json.loads(self.posy("simulate", system, *options, "--plot", "picture.svg", "--json"))
            drawn = xml.etree.ElementTree.fromstring(self.read("picture.svg"))
            texts = ["".join(each.itertext()).strip() for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
            self.assertTrue({"measured", "predicted"} <= set(texts), texts)
            predicted = [f for f in report["figures"] if f["predicted"] is not None]
            self.assertGreater(len(predicted), 1)
            for figure in report["figures"]:
                self.assertIn(figure["name"].strip(), texts)
            for figure in predicted:
                self.assertTrue(any(text.startswith(f"{figure['predicted']:.6g}") for text in texts), figure)

    def test_no_more_nodes_than_a_system_has_room_for(self):
        self.fails("simulate", "multicast", "--nodes", "21846", saying="--nodes is 21846; this system takes at least 1 and at most 21845")
        self.fails("simulate", "geographic", "--nodes", "1048577", saying="at most 1048576")
        self.assertIn("21 routers (3 whole levels), 64 hosts, 100 groups of 10 members, 150 packets",
                      self.posy("simulate", "multicast", "--nodes", "20", "--objects", "100", "--queries", "150").decode())

    def test_wrong_use(self):
        self.fails("simulate", "shrubbery", saying="SYSTEM: shrubbery not in {mesh,")
        self.fails("simulate", "tree", "--loss", "2", saying="--loss")
        self.fails("simulate", "loops", "--churn", "0.1", saying="'loops' has no --churn; it takes --nodes, --queries")
        self.fails("simulate", "tree", "--nodes", "many", saying="--nodes")
        self.fails("simulate", "tree", "--nodes", "1", saying="--nodes is 1; this system takes at least 2")

    def test_too_few_are_refused(self):
        os.makedirs(self.path("texts/a"))
        self.write("texts/a/one", b"some words of a text")
        few = {"mesh": "noq", "groups": "noq", "attenuated": "noq", "geographic": "noq", "keywords": "noq",
               "multicast": "noq", "loops": "nq", "blue": "nq", "traceback": "noq", "ranking": "n"}
        names = {"n": "--nodes", "o": "--objects", "q": "--queries"}
        for system, options in few.items():
            texts = ["--texts", "texts"] if system in ("keywords", "ranking") else []
            for option in options:
                self.fails("simulate", system, names[option], "0", *texts, saying=names[option] + " is 0; this system takes at least")
        self.fails("simulate", "groups", "--nodes", "20", "--objects", "10", saying="--objects is 10; this system takes at least 20")
        self.fails("simulate", "ranking", "--texts", "texts", saying="--texts")

    def test_a_tree_that_loses_many_messages_is_reported(self):
        self.posy("simulate", "tree", "--nodes", "50", "--objects", "500", "--queries", "100", "--loss", "0.3")

    def test_the_error_is_that_of_the_measurement(self):
        self.assertRegex(self.posy("simulate", *SMALL).decode(), r"\nfalse forwards per lookup +[0-9.e-]+ ± [0-9.e-]+ +[0-9.e-]+\n")


if __name__ == "__main__":
    main()
