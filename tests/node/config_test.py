"""Options from a file: values, precedence, --check, and errors that name the place.

Usage: config_test.py POSY [test …]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Daemon  # noqa: E402

FOLDER = pathlib.Path(tempfile.mkdtemp())
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def written(text):
    path = FOLDER / "posy.toml"
    path.write_text(text)
    return str(path)


def checked(text, command="proxy", *options):
    """What --check says of a file: (status, text)."""
    done = subprocess.run([POSY, command, "--config", written(text), "--check", *options], capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


def run_from(line, command="proxy"):
    """What a start from a file of this line says that is refused: (status, text)."""
    done = subprocess.run([POSY, command, *(() if line.startswith("listen") else ("--listen", "127.0.0.1:0")), "--config", written(line + "\n")],
                          capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


@test
def a_proxy_starts_from_a_file():
    proxy = Daemon([POSY, "proxy", "--config", written(
        'listen = ["127.0.0.1:0"]\nname = "from-the-file"\nthreads = 2\nhint = false\n'
        '[proxy]\nmemory = "8MiB"\nallow-destination = ["loopback", "10.1.0.0/16"]\n[node]\ndata = "elsewhere"\n')])
    assert any("from-the-file listens on" in line for line in proxy.log), proxy.log
    proxy.kill()
    return ()


@test
def a_node_starts_from_the_same_kind_of_file():
    bits = []
    for items in ("10k", "20k"):
        node = Daemon([POSY, "node", "--config", written(f'listen = "127.0.0.1:0"\n[node]\nitems = "{items}"\n[proxy]\nmemory = "8MiB"\n')])
        bits.append(node.metric("posy_set_bits"))
        node.kill()
    assert 1.5 < bits[1] / bits[0] < 2.5, bits  # the filter is planned for the items of its table
    return ()


@test
def arguments_go_before_the_file():
    assert checked('memory = 1\n')[0] == 2
    assert checked('memory = 1\n', "proxy", "--memory", "2MiB")[0] == 0
    return ()


@test
def errors_name_the_place():
    for text, place, wanted in (
            ('memry = "1GiB"\n', "1:", "did you mean memory?"),
            ('\nmemory = "x"\n', "2:", "memory"),
            ('memory = \n', "1:", "expected"),
            ('memory = ["1GiB", "2GiB"]\n', "1:", "one value"),
            ('direct = "yes"\n', "1:", "true or false"),
            ('allow-client = ["foo"]\n', "1:", "not a network"),
            ('[proxy]\nconfig = "other.toml"\n', "2:", "not an option"),
            ('[cache]\nmemory = "1GiB"\n', "1:", "cache")):
        status, said = checked(text)
        assert status == 2 and f"posy.toml:{place}" in said and wanted in said, (text, status, said)
    return ()


@test
def a_file_that_is_not_there():
    done = subprocess.run([POSY, "proxy", "--config", "/nonexistent.toml"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and "/nonexistent.toml" in done.stderr, done
    done = subprocess.run([POSY, "proxy", "--config", FOLDER, "--check"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and f"--config {FOLDER}: cannot be read" in done.stderr, done
    return ()


@test
def options_are_checked_without_a_file():
    done = subprocess.run([POSY, "proxy", "--check", "--memory", "8MiB"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and done.stdout == "options: OK\n", done
    done = subprocess.run([POSY, "node", "--check", "--overlay", "mesh", "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done
    for options, wanted in ((("--memory", "1"), "--memory 1: give at least 1MiB"), (("--peers", "/nonexistent"), "/nonexistent"),
                            (("--listen-tls", "127.0.0.1:0", "--tls-cert", "/nonexistent"), "--tls-cert /nonexistent: cannot be opened"),
                            (("--listen", "4000"), "--listen 4000: not an address to listen on")):
        done = subprocess.run([POSY, "proxy", "--check", *options], capture_output=True, text=True, timeout=30)
        assert done.returncode == 2 and wanted in done.stderr, (options, done)
    return ()


@test
def what_would_refuse_to_start_is_refused():
    strange = pathlib.Path(FOLDER, "strange")
    strange.mkdir()
    strange.joinpath("a").write_text("mine")
    for line, wanted in ((f'access-log = "{FOLDER}"', "cannot be written: Is a directory"),
                         (f'disk = "{strange}"', "disk .*strange: has 'a' in it and no 'key'"), (f'disk = "{strange}/a"', "/a is not a folder"),
                         (f'disk = "{strange}/a/b"', "/a is not a folder"),
                         ('listen = ["127.0.0.1:3128", "127.0.0.1:3128"]', "listen 127.0.0.1:3128 is given twice"),
                         (f'access-log = "{strange}/a/log"', "/a/log: cannot be written: Not a directory"), ('access-log = "/proc/x/log"', "/proc takes no new folder"),
                         ('disk = "/proc/x"', "/proc takes no new folder"), ('state = "/proc/x"', "/proc takes no new folder"),
                         ('listen = "0.0.0.0:3128"', "listen: listening beyond this machine needs --token-file")):
        status, said = checked(line + "\n")
        assert status == 2 and re.search(r"posy.toml:1:\d+: " + wanted, said) or re.search(r"posy.toml:1:\d+: .*" + wanted, said), (line, said)
        assert run_from(line)[0] == 2, line  # and the start says the same
    for line in ('data = "/proc/x"', 'state = "/proc/x"', 'check-list = "nope.posy"'):
        assert checked(line + "\n", "node")[0] == 2 and run_from(line, "node")[0] == 2, line
    # Nothing is made, and what a running proxy uses is no hindrance.
    log, disk = pathlib.Path(FOLDER, "new.log"), pathlib.Path(FOLDER, "new", "disk")
    assert checked(f'access-log = "{log}"\ndisk = "{disk}"\n')[0] == 0 and not log.exists() and not disk.parent.exists()
    proxy = Daemon([POSY, "proxy", "--listen", "127.0.0.1:0", "--access-log", str(log), "--disk", str(disk)])
    assert checked(f'access-log = "{log}"\ndisk = "{disk}"\n')[0] == 0
    proxy.kill()
    os.mkfifo(f"{FOLDER}/pipe")
    assert checked(f'access-log = "{FOLDER}/pipe"\n')[0] == 0  # without waiting for its reader
    line = f'access-log = "{FOLDER}/logs/new/log"\n'
    assert checked(line) == (0, f"{FOLDER}/posy.toml: OK\n") and not pathlib.Path(FOLDER, "logs").exists()
    Daemon([POSY, "proxy", "--listen", "127.0.0.1:0", "--config", written(line)]).kill()
    assert pathlib.Path(FOLDER, "logs", "new", "log").exists()
    return ()


@test
def what_would_do_nothing_or_something_else_is_refused():
    for command, line, wanted in (
            ("proxy", "connect-port = [0]", "connect-port"), ("proxy", 'disk-bytes = "1GiB"', "disk-bytes does nothing without --disk"),
            ("proxy", "direct = true", "direct does nothing without --parent"), ("proxy", "also-forward = true", "also-forward does nothing without --origin"),
            ("proxy", "backend-host = true", "backend-host does nothing without --origin"),
            ("proxy", 'forwarded-by = "private"', "forwarded-by does nothing without --origin"),
            ("node", 'peer = ["b=http://127.0.0.1:1", "b=http://127.0.0.1:2"]', "peer b=http://127.0.0.1:2: there is another peer 'b'"),
            ("proxy", 'peer = ["px=http://127.0.0.1:1"]\nname = "px"', "'px' is the --name of this node itself"),
            ("proxy", 'origin = ["a.*=http://127.0.0.1:1"]', "is not a host name"), ("proxy", 'parent = "127.0.0.1"', "write http://HOST:PORT")):
        for status, said in (checked(line + "\n", command), run_from(line, command)):
            assert status == 2 and "posy.toml:1:" in said and wanted in said, (line, status, said)
    for line in ("direct = false", 'parent = "127.0.0.1:3128"', 'peer = "px2=127.0.0.1:3128"', 'origin = "*.example=127.0.0.1:8080"'):
        assert checked(line + "\n") == (0, f"{FOLDER}/posy.toml: OK\n"), line
    return ()


@test
def bits_that_do_not_count_are_doubted():
    line = 'allow-client = ["10.0.0.1/8", "10.0.0.0/8", "10.0.0.1"]\nallow-destination = "fd00::1/8"\n'
    status, said = checked(line)
    wanted = ("posy.toml:1:16: allow-client 10.0.0.1/8: this is the whole network 10.0.0.0/8; write 10.0.0.0/8, or 10.0.0.1 for that address alone",
              "posy.toml:2:21: allow-destination fd00::1/8: this is the whole network fd00::/8;")
    assert status == 0 and said.count("warning") == 2 and all(each in said for each in wanted), said
    proxy = Daemon([POSY, "proxy", "--listen", "127.0.0.1:0", "--config", written(line)])
    assert all(any(" warning " in logged and each in logged for logged in proxy.log) for each in wanted), proxy.log
    proxy.kill()
    return ()


@test
def the_example_of_the_documents_is_good():
    example = re.search(r"```toml\n(.*?)```", (DOCS / "proxy.md").read_text(), re.S)[1]
    for command in ("proxy", "node"):
        status, said = checked(example, command)
        assert status == 0 and "posy.toml: OK\n" in said, said
    status, said = checked(example.replace('"1GiB"', "1024"))
    assert status == 2 and said.split("posy.toml")[1].strip() in (DOCS / "proxy.md").read_text(), said
    return ()


run()
