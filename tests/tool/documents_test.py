"""What posy says of itself: help, manual page, completions, tour.

Usage: documents_test.py POSY [unittest arguments]
"""
import os
import pty
import re
import signal
import subprocess

from harness import POSY, ToolTest, main


class Documents(ToolTest):
    def test_help_has_examples(self):
        top = self.posy("--help").decode()
        commands = self.commands()
        self.assertGreater(len(commands), 25)
        for command in commands:
            self.assertIn(f"\n  {command[0]} ", top)
            page = self.page(*command, "--help")
            self.assertIn("Examples:", page)
            self.assertIn(f"posy {' '.join(command)}", page)

    def test_help_fits_100_columns(self):
        for page in [["--help"], ["--help-all"], *(command + ["--help"] for command in self.commands())]:
            wide = [line for line in self.page(*page).splitlines() if len(line) > 100]
            self.assertEqual(wide, [], page)

    def test_help_is_a_command_too(self):
        self.assertEqual(self.posy("help"), self.posy("--help"))
        self.assertEqual(self.posy("help", "count"), self.posy("count", "--help"))
        self.assertEqual(self.posy("help", "trace", "record"), self.posy("trace", "record", "--help"))
        self.assertNotIn("Excludes:", self.posy("--help-all").decode())

    pages = {}

    def page(self, *command):
        if command not in self.pages:
            self.pages[command] = self.posy(*command).decode()
        return self.pages[command]

    def commands(self):
        """Every command, and instead of one that has parts, these."""
        def names(*command):
            part = self.page(*command, "--help").split("Subcommands:\n")[1:]
            return re.findall(r"(?m)^  ([a-z]\S*)", part[0].split("\n\n")[0]) if part else []
        return [[first, *part] for first in names() for part in ([[p] for p in names(first)] or [[]])]

    def fixed_sets(self):
        """Command, option and values of every option and argument that has a fixed set of them."""
        for command in self.commands():
            for name, values in re.findall(r"(?m)^  (\S+) (?:REQUIRED )?\{([^}]*)\}", self.page(*command, "--help")):
                yield command, name, [value.strip() for value in values.split(",")]

    def test_the_manual_page_is_good_roff(self):
        page = self.posy("manual")
        shown = subprocess.run(["man", "-l", "--warnings", "-"], input=page, capture_output=True, env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        self.assertEqual((shown.returncode, shown.stderr), (0, b""))
        self.assertIn(b"--bits-per-item", shown.stdout)

    def test_bash_completion_works(self):
        script = self.posy("completion", "bash").decode()
        ask = script + '\nCOMP_WORDS=(posy bu); COMP_CWORD=1; _posy; echo "${COMPREPLY[*]}"; COMP_WORDS=(posy build --lay); COMP_CWORD=2; _posy; echo "${COMPREPLY[*]}"'
        self.assertEqual(subprocess.run(["bash", "-c", ask], capture_output=True, text=True).stdout, "build\n--layout\n")

    def test_bash_completes_the_options_of_a_part(self):
        ask = self.posy("completion", "bash").decode()
        for part in ["seal", "check"]:
            ask += f'\nCOMP_WORDS=(posy password {part} --); COMP_CWORD=3; _posy; echo "${{COMPREPLY[*]}}"'
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
        for part, line in zip(["seal", "check"], done.stdout.splitlines(), strict=True):
            page = self.page("password", part, "--help")
            self.assertEqual(sorted(o for o in line.split()), sorted(set(re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", page))))

    def test_the_values_of_options_are_listed(self):
        manual = self.posy("manual").decode().replace("\\-", "-")
        zsh, fish, bash = (self.posy("completion", shell).decode() for shell in ["zsh", "fish", "bash"])
        sets = list(self.fixed_sets())
        self.assertTrue({"--layout", "--hash", "--codec", "--sharing", "--counter-bits", "SHELL", "SYSTEM"} <= {name for _, name, _ in sets})
        ask, expected = bash, []
        for command, name, values in sets:
            self.assertIn("{" + ",".join(values) + "}", manual)
            words = " ".join(values)
            if not name.startswith("-"):
                self.assertIn(f"1:part:({words})", zsh)
                self.assertIn(f"__posy_next {' '.join(command)}' -f -a {values[-1]}", fish)
                typed = ["posy", *command, values[-1][:1]]
            else:
                long = name.split(",")[-1]
                self.assertRegex(zsh, re.escape(long) + r"=\[[^\]]*\]:value:(_values -s , value " + words + r"|\(" + words + r"\))")
                self.assertRegex(fish, f"-l {long[2:]}( -s .)* -x -a '(\\(__fish_append , )?{words}")
                typed = ["posy", *command, long, values[-1][:1]]
            ask += f'\nCOMP_WORDS=({" ".join(typed)}); COMP_CWORD={len(typed) - 1}; _posy; echo "${{COMPREPLY[*]}}"'
            expected.append(" ".join(v for v in values if v.startswith(values[-1][0])))
        # Behind an equals sign, and behind a comma where there can be several.
        ask += '\nCOMP_WORDS=(posy build --layout = bl); COMP_CWORD=4; _posy; echo "${COMPREPLY[*]}"'
        ask += '\nCOMP_WORDS=(posy replay --sharing none,co); COMP_CWORD=3; _posy; echo "${COMPREPLY[*]}"'
        expected += ["blocked", "none,compressed"]
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
        self.assertEqual((done.stdout.split("\n")[:-1], done.stderr), (expected, ""))

    # ---- the tour ----

    def test_the_tour(self):
        tour = self.posy("tour").decode()
        self.assertIn("$ posy compare monday.posy tuesday.posy", tour)
        self.assertIn("fliter\n    ltter", tour)
        for command in "plan build info query compare union remove pack delta apply seal reconcile count seen replay".split():
            self.assertRegex(tour, rf"(?m)^    (\$ |.*; |.*\| | +)posy {command} ", command)
        self.assertEqual([line for line in tour.split("\n") if len(line) > 80], [])
        self.assertNotIn("\033", tour)
        # The picture: what is planned is measured. The rarest rate has about 1,300 hits in expectation, whose
        # deviation with that of the fill is below 4 %; 20 % are five of them.
        bars = re.findall(r"(?m)^ +(\d+) +([\d.]+) +([\d.]+)  (█+)$", tour)
        self.assertEqual([int(b[0]) for b in bars], [4, 6, 8, 10, 12, 14, 16])
        for _, planned, measured, bar in bars:
            self.assertAlmostEqual(float(measured) / float(planned), 1, delta=0.2)
        self.assertEqual(sorted(len(b[3]) for b in bars), [len(b[3]) for b in bars])
        self.assertGreater(len(bars[-1][3]), len(bars[0][3]))

    def test_the_tour_has_colours_on_a_terminal_unless_they_are_refused(self):
        for settings, coloured in [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]:
            environment = {**os.environ, "TERM": "xterm", "TMPDIR": self.dir, **settings}
            if "NO_COLOR" not in settings:
                environment.pop("NO_COLOR", None)
            master, slave = pty.openpty()
            tour = subprocess.Popen([POSY, "tour"], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL, env=environment, cwd=self.dir,
                                    start_new_session=True)
            os.close(slave)
            start = b""
            while b"Plan" not in start:
                start += os.read(master, 4096)
            os.killpg(tour.pid, signal.SIGKILL)  # with the command that it runs: a file that this writes could be in the way of the cleanup
            tour.wait()
            os.close(master)
            self.assertEqual(b"\033[" in start, coloured, settings)

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
