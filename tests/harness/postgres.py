"""PostgreSQL servers of the tests, which are started as TEST MODULE SCRIPTS POSY [unittest arguments]: temporary ones, of the installed release, with the extension as it was built.

A server finds its extensions by its own place. So a test has a tree with copies of the server's programs, links to its other
files, and the extension among them; nothing is installed, and no service is touched. The server does not run as root, so root
hands it to the user "postgres".

An extension with sanitizers needs their libraries in the server: POSY_SERVER_PRELOAD names them, separated by colons. What they
find is in files beside the server's log, and the error of whoever ends the server.
"""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from ports import free_port
from waiting import until

MODULE, SCRIPTS, POSY = (os.path.abspath(each) for each in sys.argv[1:4])
BINARIES = "/usr/lib/postgresql/15/bin"
USER = "postgres"


def as_user(command):
    """The command as a user who may start servers."""
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command] if os.getuid() == 0 else command


class Tree:
    """An installation with the extension."""

    def __init__(self, folder):
        self.bin, lib, share = (os.path.join(folder, "usr", each) for each in
                                ("lib/postgresql/15/bin", "lib/postgresql/15/lib", "share/postgresql/15"))
        for made in (self.bin, lib, os.path.join(share, "extension")):
            os.makedirs(made)
        for name in ("postgres", "initdb"):
            shutil.copy(os.path.join(BINARIES, name), self.bin)
        self.link("/usr/lib/postgresql/15/lib", lib)
        self.link("/usr/share/postgresql/15", share)
        self.link("/usr/share/postgresql/15/extension", os.path.join(share, "extension"))
        for file in [MODULE, *glob.glob(os.path.join(SCRIPTS, "posy*.sql")), os.path.join(SCRIPTS, "posy.control")]:
            into = lib if file == MODULE else os.path.join(share, "extension")
            target = os.path.join(into, os.path.basename(file))
            if os.path.lexists(target):  # of an installed Posy
                os.unlink(target)
            shutil.copy(file, target)

    @staticmethod
    def link(source, target):
        for name in os.listdir(source):
            if not os.path.lexists(os.path.join(target, name)):
                os.symlink(os.path.join(source, name), os.path.join(target, name))


class Server:
    """A running server; `with Server() as server`."""

    def __init__(self, settings=(), initdb=("--encoding=UTF8", "--locale=C.UTF-8")):
        self.folder = tempfile.mkdtemp(prefix="posy-pg-")
        os.chmod(self.folder, 0o755)
        self.tree = Tree(self.folder)
        self.data, self.port, self.settings = os.path.join(self.folder, "data"), free_port(), list(settings)
        self.log = os.path.join(self.folder, "log")
        os.mkdir(self.data)
        if os.getuid() == 0:
            for path in (self.folder, self.data):
                os.chown(path, pwd.getpwnam(USER).pw_uid, pwd.getpwnam(USER).pw_gid)
        self.process = None
        try:
            self.command([os.path.join(self.tree.bin, "initdb"), "-D", self.data, "-U", USER, "-A", "trust", "-N", *initdb])
            self.start()
        except BaseException:
            self.close()
            raise

    def command(self, command):
        done = subprocess.run(as_user(command), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command[0]}: {done.stdout}")

    def start(self):
        settings = ["fsync=off", f"unix_socket_directories={self.folder}", f"port={self.port}", "listen_addresses=127.0.0.1",
                    "lc_messages=C", *self.settings]
        options = [each for setting in settings for each in ("-c", setting)]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(as_user([os.path.join(self.tree.bin, "postgres"), "-D", self.data, *options]),
                                            cwd=self.folder, stdout=log, stderr=log, env=self.environment())
        self.wait()

    def environment(self):
        preload = os.environ.get("POSY_SERVER_PRELOAD")
        if not preload:
            return None
        # The server keeps its memory to the end of a process, and all of that would be called a leak.
        options = f"log_path={self.folder}/sanitizer:halt_on_error=1:print_stacktrace=1:abort_on_error=1:detect_leaks=0"
        return dict(os.environ, LD_PRELOAD=preload, ASAN_OPTIONS=options, UBSAN_OPTIONS=options)

    def findings(self):
        """What sanitizers have found in the extension."""
        found = ""
        for path in glob.glob(os.path.join(self.folder, "sanitizer*")):
            with open(path, encoding="utf-8", errors="replace") as file:
                found += file.read()
        return found

    def wait(self):
        """Until it answers queries."""
        until(lambda: self.try_psql("SELECT 1").returncode == 0, 60, "a server that answers")

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait(60)
        found = self.findings()
        shutil.rmtree(self.folder)
        if found:
            raise AssertionError(found)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def try_psql(self, sql, database="postgres"):
        """psql itself; the script stops at its first error."""
        return subprocess.run(self.psql(database), input=sql, capture_output=True, text=True, check=False)

    def query(self, sql, database="postgres"):
        """What a script prints, without the line break at its end."""
        done = self.try_psql(sql, database)
        if done.returncode != 0:
            raise AssertionError(f"{sql}\n{done.stderr}")
        return done.stdout.rstrip("\n")

    def error(self, sql, database="postgres"):
        """The error that a script must end with."""
        done = self.try_psql(sql, database)
        if done.returncode == 0:
            raise AssertionError(f"no error: {sql}\n{done.stdout}")
        return done.stderr

    def background(self, sql, database="postgres"):
        """A psql that is not waited for."""
        return subprocess.Popen([*self.psql(database), "-c", sql], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def kill(self, pid):
        """Kills one of its processes, and waits until it answers again. It ends all others before, so a bystander tells when it knows."""
        bystander = self.background("SELECT pg_sleep(3600)")
        sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'SELECT pg_sleep(3600)'"
        until(lambda: self.query(sleeping) == "1", 60, "a bystander")
        os.kill(pid, signal.SIGKILL)
        bystander.communicate()
        self.wait()

    def dump(self, database):
        """The script that makes a database again."""
        return subprocess.run([os.path.join(BINARIES, "pg_dump"), "-h", self.folder, "-p", str(self.port), "-U", USER, database],
                              stdout=subprocess.PIPE, text=True, check=True).stdout

    def psql(self, database="postgres"):
        return [os.path.join(BINARIES, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port),
                "-U", USER, "-d", database]


class ServerTest(unittest.TestCase):
    """Tests that share a server with the extension."""

    settings = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.settings)
        cls.addClassCleanup(cls.server.close)
        cls.server.query("CREATE EXTENSION posy")

    def sql(self, text):
        return self.server.query(text)


def tool(*arguments, stdin=None):
    """What posy prints, as bytes."""
    return subprocess.run([POSY, *arguments], input=stdin, stdout=subprocess.PIPE, check=True).stdout


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
