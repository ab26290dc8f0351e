"""Spelling and hyphenation as users type them, with Debian's word list and patterns.

Usage: dictionaries_test.py POSY [unittest arguments]
"""
import gzip
import json
import math
import os
import random

from harness import ToolTest, main

LIST = "/usr/share/dict/american-english"
PATTERNS = "/usr/share/hyphen/hyph_en_US.dic"


def misspelt(words, count, seed):
    """Words of the list with one edit each that are not in the list."""
    draw = random.Random(seed)
    known, found = set(words), []
    small = [w for w in words if w.isascii() and w.isalpha() and w.islower() and len(w) > 4]
    while len(found) < count:
        word = draw.choice(small)
        at = draw.randrange(len(word))
        letter = draw.choice("abcdefghijklmnopqrstuvwxyz")
        word = draw.choice((word[:at] + word[at + 1 :], word[:at] + letter + word[at:], word[:at] + letter + word[at + 1 :]))
        if word not in known:
            known.add(word)
            found.append(word)
    return found


class Spelling(ToolTest):
    def spell(self, text, *args, status=0):
        return self.posy("spell", *args, stdin=text, status=status).decode()

    def test_the_american_list_at_one_in_a_thousand(self):
        with open(LIST, encoding="utf-8") as f:
            words = f.read().split()
        self.posy("seal", LIST, "--fpr", "0.001", "-o", "american.posy")
        self.assertLessEqual(os.path.getsize(self.path("american.posy")), 1.02 * math.log2(1000) / 8 * len(words))
        self.posy("query", "-v", "american.posy", LIST, status=1)  # every word is there
        self.posy("spell", "--strict", "-d", "american.posy", LIST, status=1)
        wrong = misspelt(words, 100000, 1)
        report = json.loads(self.spell("\n".join(wrong), "--strict", "--json", "-d", "american.posy"))
        passed = len(wrong) - report["misspelt"]
        # One question each: binomial, within 4.5 deviations; a false alarm in 150,000 other samples.
        expected = len(wrong) * 0.001
        self.assertLess(abs(passed - expected), 4.5 * math.sqrt(expected))
        self.assertLess(abs(report["expected_missed"] - expected), 0.02 * expected)
        # With affixes there are more questions, and the exact list says which words are right by its rules.
        wrong = self.spell("\n".join(wrong), "-d", "american-english").split()
        wrong = [line.split(":")[1] for line in wrong]
        report = json.loads(self.spell("\n".join(wrong), "--affixes", "english", "--json", "-d", "american.posy"))
        passed, expected = len(wrong) - report["misspelt"], report["expected_missed"]
        self.assertGreater(expected, 1.1 * len(wrong) * 0.001)
        self.assertLess(abs(passed - expected), 4.5 * math.sqrt(expected))

    def test_lines_files_and_statuses(self):
        self.write("words", "one\ntwo\nthree\n")
        self.write("a.txt", "one twoo\n\nthree  fourr twoo\n")
        self.write("b.txt", "One TWO\n")
        own = ("-d", "words")
        self.assertEqual(self.posy("spell", *own, "a.txt"), b"1:twoo\n3:fourr\n3:twoo\n")
        self.assertEqual(self.posy("spell", *own, "-u", "a.txt"), b"1:twoo\n3:fourr\n")
        self.assertEqual(self.posy("spell", *own, "a.txt", "b.txt"), b"a.txt:1:twoo\na.txt:3:fourr\na.txt:3:twoo\n")
        self.assertEqual(self.posy("spell", *own, "-c", "a.txt", "b.txt"), b"a.txt:3\nb.txt:0\n")
        self.assertEqual(self.posy("spell", *own, "-c", "a.txt"), b"3\n")
        self.assertEqual(self.posy("spell", *own, "b.txt", status=1), b"")
        self.assertEqual(self.posy("spell", *own, "-q", "a.txt"), b"")
        self.assertEqual(self.posy("spell", *own, "-s", "-u", "a.txt"), b"1:twoo: two\n3:fourr: \n")
        found = json.loads(self.posy("spell", *own, "-s", "--json", "a.txt"))
        self.assertEqual((found["words"], found["misspelt"]), (5, 3))
        self.assertEqual(found["found"][1], {"file": "a.txt", "line": 3, "column": 8, "word": "fourr", "suggestions": []})
        self.fails("spell", "-d", "nowhere", "a.txt", saying="no such dictionary")
        self.fails("spell", *own, "nowhere.txt", saying="nowhere.txt")
        self.write("empty", "")
        self.posy("spell", "-d", "empty", "b.txt")

    def test_dictionaries_of_every_kind(self):
        words = "one\ntwo\n"
        self.posy("build", "-f", "1e-6", "-o", "plain.posy", stdin=words)
        self.posy("build", "-f", "1e-6", "--counting", "-o", "counting.posy", stdin=words)
        self.posy("build", "-f", "1e-6", "--growing", "-o", "growing.posy", stdin=words)
        self.posy("seal", "-f", "1e-6", "-o", "sealed.posy", "-", stdin=words)
        self.posy("seal", "-f", "1e-6", "--csv", "--values", "-o", "map.posy", "-", stdin="one,1\ntwo,2\n")
        for name in ("plain", "counting", "growing", "sealed", "map"):
            self.assertEqual(self.spell("one two three", "-d", name + ".posy"), "1:three\n", name)
        self.posy("count", "-o", "sketch.posy", stdin=words)
        self.fails("spell", "-d", "sketch.posy", saying="posy seal", stdin="one")
        self.assertEqual(self.spell("one trois", "-d", "plain.posy", "-d", LIST, "-d", "sealed.posy"), "1:trois\n")

    def test_affixes_and_strictness(self):
        self.write("english", "walk\n")
        self.spell("walking Unwalkable", "-d", "english", status=1)
        self.assertEqual(self.spell("walking", "-d", "english", "--strict"), "1:walking\n")
        self.assertEqual(self.spell("walking", "-d", "english", "--affixes", "none"), "1:walking\n")
        self.assertEqual(self.spell("walking", "-d", "english", "--affixes", "german"), "1:walking\n")

    def test_markup_by_name_and_by_option(self):
        self.write("words", "seen\n")
        page = "<p title='hiden'>seen</p>\n<pre>hiden</pre>\n"
        self.write("page.html", page)
        self.write("page.1.gz", gzip.compress(b".TH HIDEN\nseen \\fBse\\fRen\n"))
        for name in ("page.html", "page.1.gz"):
            self.posy("spell", "-d", "words", name, status=1)
        self.assertIn("hiden", self.posy("spell", "-d", "words", "--markup", "none", "page.html").decode())
        self.spell(page, "-d", "words", "--markup", "html", status=1)

    def test_what_is_no_utf8_is_no_error(self):
        self.write("words", "one\n")
        name = b"\xff.txt".decode("utf-8", "surrogateescape")
        self.write(name, b"onne x\xf4\xbf\xbf\xbfy \xed\xa0\x80\n")
        found = json.loads(self.posy("spell", "-d", "words", "--json", name))["found"]
        self.assertEqual([(each["file"], each["word"]) for each in found], [("\ufffd.txt", "onne")])

    def test_a_list_has_all_its_words_however_they_are_written(self):
        words = "\ufeffone\nO\u2019Reilly\ncafe\u0301\netc.\naujourd'\npseudo-\nO'Reilly\n"
        self.write("words", words)
        self.posy("seal", "words", "-f", "1e-6", "-o", "words.posy")
        self.spell(words, "-d", "words", "--strict", status=1)
        self.spell(words.replace("\ufeff", ""), "-d", "words", "--strict", status=1)
        self.spell("O\u2019Reilly cafe\u0301 etc. aujourd'", "-d", "words.posy", status=1)
        self.assertEqual(self.spell("etc caf\u00e9", "-d", "words"), "1:etc\n")

    def test_lines_beyond_a_block(self):
        self.write("words", "one\n")
        found = self.spell("one one\n" * 30000 + "onne\n" + "one " * 30000 + "\nonne", "-d", "words")
        self.assertEqual(found, "30001:onne\n30003:onne\n")

    def test_no_suggestions_if_none_are_wanted(self):
        self.write("words", "one\n")
        self.assertEqual(self.spell("onne", "-d", "words", "-s", "--most", "0"), "1:onne: \n")

    def test_without_a_dictionary_the_system_has_one(self):
        self.assertEqual(self.spell("The letter of a freind"), "1:freind\n")
        self.assertEqual(self.spell("a freind", "-s", "--most", "1"), "1:freind: friend\n")

    def test_suggestions_of_a_vague_dictionary_come_with_a_warning(self):
        self.posy("seal", LIST, "--fpr", "0.01", "-o", "vague.posy")
        self.spell("freind", "-s", "-d", "vague.posy")
        self.assertIn("are no words", self.stderr)


class Hyphenation(ToolTest):
    def test_rules_filter_and_table(self):
        with open(LIST, encoding="utf-8") as f:
            words = [w for w in f.read().split() if w.isalpha()][::9]
        self.write("words", "\n".join(words))
        made = self.posy("hyphenate", "--make", "english", "--patterns", PATTERNS, "words").decode()
        self.assertGreaterEqual(float(made.split("right by rules")[1].split("%")[0]), 90)
        every = json.loads(self.posy("hyphenate", "--rules", "english", "--json", "--patterns", PATTERNS, "words"))
        self.assertEqual(every["words"], len(words))
        self.assertEqual(every["wrong"], 0)
        self.assertGreater(every["saved"], 0.85 * len(words))
        # Binomial, within 4.5 deviations: a false alarm in 150,000 other lists.
        expected = every["expected_false_accesses"]
        self.assertLess(abs(every["false_accesses"] - expected), 4.5 * math.sqrt(expected))
        self.assertEqual(every["table_accesses"] + every["saved"], len(words))

    def test_words_are_printed_with_hyphens(self):
        self.write("patterns", "hy3ph\nhen5at\n")
        self.write("words", "hyphenation")
        self.posy("hyphenate", "--make", "h", "--patterns", "patterns", "words")
        text = "Hyphenation, hyphenation-word!"
        self.assertEqual(self.posy("hyphenate", "--rules", "h", stdin=text), b"Hy-phen-ation\nhy-phen-ation-word\n")
        self.assertEqual(self.posy("hyphenate", "--rules", "h", "--hyphen", "=", stdin="hyphen"), b"hy=phen\n")
        self.assertIn(b"words            3", self.posy("hyphenate", "--rules", "h", "-c", stdin=text))
        self.assertEqual(self.posy("hyphenate", "--rules", "h", stdin="", status=1), b"")
        self.fails("hyphenate", stdin=text, saying="--make NAME or --rules NAME")
        self.fails("hyphenate", "--make", "x", stdin=text, saying="needs --patterns")
        self.fails("hyphenate", "--rules", "nowhere", stdin=text, saying="nowhere")
        for args in (("--share", "0"), ()):
            self.fails("hyphenate", "--make", "x", "--patterns", "patterns", *args, stdin="dog", saying="no rule is needed")
        self.fails("hyphenate", "--make", "x", "--patterns", "patterns", stdin="", saying="no words")
        self.assertFalse(os.path.exists(self.path("x.rules")))
        self.fails("hyphenate", "--make", "x", "--patterns", "patterns", "--json", "words", saying="go with --rules")
        self.fails("hyphenate", "--rules", "h", "--share", "0.5", stdin=text, saying="go with --make")
        self.fails("hyphenate", "--rules", "h", "--fpr", "0.5", stdin=text, saying="go with --make")
        self.write("bad", "a1b\nNEXTLEVEL\n")
        self.fails("hyphenate", "--make", "x", "--patterns", "bad", stdin=text, saying="line 2")
        self.write("list", "apple\nbanana\n")
        self.fails("hyphenate", "--make", "x", "--patterns", "list", stdin=text, saying="not a file of patterns: no line has a digit")


if __name__ == "__main__":
    main()
