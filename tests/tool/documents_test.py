"""What posy says of itself: help, manual page, completions, tour.

Usage: documents_test.py POSY [unittest arguments]
"""
import os
import subprocess

from harness import POSY, ToolTest, main


class Documents(ToolTest):
    def test_help_has_examples(self):
        top = self.posy("--help").decode()
        for command in "plan build query add remove info union intersect compare fold pack unpack delta apply seal password seen count flows reconcile simulate trace tour".split():
            self.assertIn(f"\n  {command} ", top)
            page = self.posy(command, "--help").decode()
            self.assertIn("Examples:", page)
            self.assertIn(f"posy {command}", page)

    def test_the_manual_page_is_good_roff(self):
        page = self.posy("manual")
        shown = subprocess.run(["man", "-l", "--warnings", "-"], input=page, capture_output=True, env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        self.assertEqual((shown.returncode, shown.stderr), (0, b""))
        self.assertIn(b"--bits-per-item", shown.stdout)

    def test_bash_completion_works(self):
        script = self.posy("completion", "bash").decode()
        ask = script + '\nCOMP_WORDS=(posy bu); COMP_CWORD=1; _posy; echo "${COMPREPLY[*]}"; COMP_WORDS=(posy build --lay); COMP_CWORD=2; _posy; echo "${COMPREPLY[*]}"'
        self.assertEqual(subprocess.run(["bash", "-c", ask], capture_output=True, text=True).stdout, "build\n--layout\n")
        for shell in ["zsh", "fish"]:
            self.assertIn("--layout" if shell == "zsh" else "-l layout", self.posy("completion", shell).decode())

    def test_the_tour(self):
        tour = self.posy("tour").decode()
        self.assertIn("$ posy compare monday.posy tuesday.posy", tour)
        self.assertIn("fliter\n    ltter", tour)

    def test_version(self):
        self.assertRegex(self.posy("--version").decode(), r"\Aposy \d+\.\d+\.\d+\n\Z")

    def test_help_into_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(subprocess.run([POSY, "--help"], stdout=full, stderr=subprocess.DEVNULL).returncode, 2)

    def test_commands_that_do_not_exist(self):
        self.fails("bild", saying="there is no command 'bild'; did you mean build? Try 'posy --help'")
        self.fails("build", saying="--output is required")
        self.fails("info", saying="FILES is required")
        self.fails("completion", "tcsh", saying="try 'posy completion --help'")


if __name__ == "__main__":
    main()
