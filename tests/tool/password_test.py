"""posy password from outside: lists in every form, and that no password is seen anywhere.

Usage: password_test.py POSY [unittest arguments]
"""
import gzip
import hashlib
import os
import pty
import subprocess
import termios

from harness import POSY, ToolTest, main, until
from cores import leaves_core  # found by harness

LEAKED = ["password", "letmein", "dragon99", "correct horse", "café", "trustno1"]


def sha1(text):
    return hashlib.sha1(text.encode()).hexdigest().upper()


class Password(ToolTest):
    def seal(self, name, text, *options):
        self.write(name, text)
        self.posy("password", "seal", name, "-o", "list.posy", *options)

    def check(self, *passwords, status, lists=("list.posy",), options=()):
        out = self.posy("password", "check", *lists, *options, stdin="".join(p + "\n" for p in passwords), status=status)
        return out.decode().split()

    def test_what_is_refused(self):
        self.seal("leaked.txt", "\n".join(LEAKED) + "\n\n")
        self.assertEqual(self.check(*LEAKED, status=1), ["listed"] * 6)
        # Deleted, replaced, inserted, swapped; and two edits away.
        self.assertEqual(self.check("pasword", "p@ssword", "password1", "passwrod", "p@ssword1", "", status=1),
                         ["near", "near", "near", "near", "ok", "empty"])
        self.assertEqual(self.check("Tr0ub4dor&3", "p@ssword1", status=0), ["ok", "ok"])
        self.assertEqual(self.check("cafe", status=0), ["ok"])
        self.assertEqual(self.check("cafe", status=1, options=("--alphabet", "éè")), ["near"])
        self.assertEqual(self.check("password", status=1, options=("-q",)), [])
        self.assertEqual(self.check("anything else", status=0, options=("-q",)), [])
        # The last line may lack its end, and lines may end as on Windows.
        self.assertEqual(self.posy("password", "check", "list.posy", stdin="fine password\r\nletmein", status=1), b"ok\nlisted\n")
        self.fails("password", "check", "list.posy", stdin="", saying="no password came on standard input")

    def test_hashes_in_every_form(self):
        plain = "".join(p + "\n" for p in LEAKED)
        self.write("plain.txt", plain)
        self.posy("password", "seal", "plain.txt", "-o", "plain.posy")
        hashes = "".join(f"{sha1(p)}:{i + 1}\r\n" for i, p in enumerate(LEAKED))
        self.write("sha1.txt", hashes)
        self.write("bare.txt.gz", gzip.compress("".join(sha1(p).lower() + "\n" for p in LEAKED).encode()))
        os.mkdir(self.path("ranges"))
        for p in LEAKED:  # as the service sends them, padded with hashes that count 0
            lines = f"{sha1(p)[5:]}:7\r\n{sha1('padding ' + p)[5:]}:0\r\n"
            self.write(f"ranges/{sha1(p)[:5]}" + (".txt" if p == "letmein" else ""), lines)
        ranges = [f"ranges/{name}" for name in os.listdir(self.path("ranges"))]
        for files in (["sha1.txt"], ["bare.txt.gz"], ranges):
            self.posy("password", "seal", "--form", "sha1", *files, "-o", "sha1.posy")
            self.assertEqual(self.read("sha1.posy"), self.read("plain.posy"), files)
        # Hashes are not taken for passwords, and the other way round, unless that is said.
        self.write("lf.txt", hashes.replace("\r", ""))
        self.fails("password", "seal", "lf.txt", "-o", "no.posy", saying="every line is a SHA-1 hash: give --form sha1")
        self.posy("password", "seal", "--form", "plain", "lf.txt", "-o", "list.posy")
        self.assertEqual(self.check(f"{sha1('password')}:1", "password", status=1), ["listed", "ok"])
        self.fails("password", "seal", "--form", "sha1", "plain.txt", "-o", "no.posy", saying="plain.txt: at byte 0, line 1: not a SHA-1 hash")
        self.assertNotIn("password1", self.stderr)
        self.fails("password", "seal", "--form", "sha1", ranges[0], "plain.txt", "-o", "no.posy", saying="at byte 0, line 1: not a SHA-1 hash")

    def test_lines_of_any_editor(self):
        self.seal("plain.txt", "password\nletmein\n")
        plain = self.read("list.posy")
        for text in ("password\r\nletmein\r\n", "password\r\n\r\nletmein\r", "\ufeffpassword\nletmein\n", "\ufeffpassword\r\nletmein"):
            self.seal("leaked.txt", text)
            self.assertEqual((self.read("list.posy"), self.stderr), (plain, ""), repr(text))
        self.seal("leaked.txt", "trailing blank \n\rcr\n")  # these are parts of passwords
        self.assertEqual(self.check("trailing blank ", "\rcr", status=1), ["listed", "listed"])

    def test_the_name_of_a_file_says_nothing(self):
        odd = ['"one', "two", 'three"', 'a"b,c', "tab\there", '"', "last"]
        text = "".join(p + "\n" for p in odd)
        for name, content in (("x.csv", text), ("x.tsv", text), ("x.csv.gz", gzip.compress(text.encode()))):
            for form in ((), ("--form", "plain")):
                self.seal(name, content, *form)
                self.assertEqual(self.check(*odd, status=1), ["listed"] * len(odd), name)
        # Unless a column is asked for.
        self.seal("table.csv", 'user,password\na,"secret, quoted"\n', "--field", "password")
        self.assertEqual(self.check("secret, quoted", 'a,"secret, quoted"', status=1), ["listed", "ok"])

    def test_several_lists(self):
        self.seal("a.txt", "wombat\n")
        os.rename(self.path("list.posy"), self.path("a.posy"))
        self.seal("b.txt", "wombats\n")
        lists = ("a.posy", "list.posy")
        self.assertEqual(self.check("wombats", "wombat", "wombatsy", "giraffe", status=1, lists=lists), ["listed", "listed", "near", "ok"])
        self.write("keys.txt", "wombat\n")
        self.posy("seal", "keys.txt", "-o", "other.posy", "--fpr", "1e-7")
        self.posy("build", "keys.txt", "-o", "bloom.posy")
        self.fails("password", "check", "other.posy", stdin="x\n", saying="other.posy: not a list of passwords; 'posy password seal' makes one")
        self.fails("password", "check", "bloom.posy", stdin="x\n", saying="bloom.posy: a filter, not a list of passwords")
        self.fails("password", "check", "-", stdin="x\n", saying="standard input has the passwords")

    def test_a_list_is_no_filter_of_keys(self):
        self.seal("leaked.txt", "wombat\n")
        self.fails("query", "list.posy", stdin="wombat\n", saying="list.posy: a list of passwords, which has their hashes; ask it with 'posy password check'")
        self.assertRegex(self.posy("info", "list.posy").decode(), r"kind +list of passwords\n")
        self.posy("seal", "leaked.txt", "-o", "keys.posy", "--fpr", "1e-7")
        self.assertEqual(self.posy("query", "keys.posy", stdin="wombat\n"), b"wombat\n")
        self.assertRegex(self.posy("info", "keys.posy").decode(), r"kind +sealed filter\n")

    def test_no_password_is_shown(self):
        self.seal("leaked.txt", "wombat\n")
        secret = "hunter2-and-more"
        done = subprocess.run([POSY, "password", "check", "list.posy"], input=f"{secret}\nwombat\n{secret * 20}\n".encode(), capture_output=True, cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (2, b"ok\nlisted\n"))
        self.assertEqual(done.stderr, b"posy: standard input: line 3 is longer than 128 bytes\n")
        # A password as an argument is no password, but still a secret.
        for argument in (secret, secret + "/" + secret, secret * 20):
            self.fails("password", "check", "list.posy", argument, stdin="x\n", saying="name that is list 2; passwords come on standard input")
            self.assertNotIn(secret, self.stderr)

    def test_each_line_is_answered_at_once_and_wiped(self):
        self.seal("leaked.txt", "wombat\n")
        secret = b"the first bytes of freed memory are overwritten; look for what follows them"
        looks = os.getuid() == 0  # others may not
        with subprocess.Popen([POSY, "password", "check", "list.posy"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.dir) as run:
            run.stdin.write(secret)
            run.stdin.flush()
            if looks:
                until(lambda: self.found_in_memory(run.pid, secret[-25:]), what="read")
            run.stdin.write(b"\n")
            run.stdin.flush()
            self.assertEqual(run.stdout.readline(), b"ok\n")
            if looks:
                for part in (secret[20:45], secret[-25:]):  # of every edit, too
                    until(lambda: not self.found_in_memory(run.pid, part), what="wiped")
            run.stdin.close()
            self.assertEqual(run.wait(), 0)

    def found_in_memory(self, pid, text):
        found = []
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                start, end = (int(x, 16) for x in line.split()[0].split("-"))
                if "r" not in line.split()[1] or "[v" in line:
                    continue
                memory.seek(start)
                try:
                    if text in memory.read(end - start):
                        found.append(line)
                except OSError:
                    pass
        return found

    def test_a_crash_leaves_no_core(self):
        self.seal("leaked.txt", "wombat\n")
        for arguments in (("check", "list.posy"), ("seal", "-o", "new.posy")):
            with subprocess.Popen([POSY, "password", *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=self.dir) as run:
                run.stdin.write(b"a secret\n" + b"\n" * 100000)  # more than a pipe holds: some has been read
                run.stdin.flush()
                self.assertFalse(leaves_core(run), arguments)
                run.kill()

    def test_a_terminal_does_not_show_it(self):
        self.seal("leaked.txt", "wombat\n")
        for typed, answer, status in ((b"wombats\n\x04", "near", 1), (b"\x03", "no password came", 2)):
            ours, theirs = pty.openpty()
            run = subprocess.Popen([POSY, "password", "check", "list.posy"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.dir, start_new_session=True,
                                   preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0))
            shown = os.read(ours, 1000)
            self.assertIn(b"Password: ", shown)
            os.write(ours, typed)
            until(lambda: run.poll() is not None)
            shown += os.read(ours, 1000)
            self.assertEqual(run.returncode, status)
            self.assertNotIn(b"wombats", shown)
            self.assertIn(answer.encode(), shown)
            self.assertTrue(termios.tcgetattr(theirs)[3] & termios.ECHO)
            os.close(ours)
            os.close(theirs)


if __name__ == "__main__":
    main()
