"""Hostile origins, clients, siblings, files and clocks against the proxy: what a stranger can make it keep, tell and lose.

  tests/hostile/proxy_test.py POSY [test …]
"""
import ctypes.util
import email.utils
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, status_of, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402


def sibling_says(answer):
    """A sibling that claims to have everything, and what it answers when it is asked for it."""
    def say(r):
        return (204, [], b"") if r.path.startswith("/have") else answer(r)
    return Origin(lambda r: say(r))


def beside(answer, *options):
    sibling = sibling_says(answer)
    return sibling, Proxy(POSY, "--sharing", "ask", "--peer", f"b={sibling.url}", *options)


@test
def siblings_see_no_cookies():
    origin = Origin(lambda r: fresh(b"mine" if r.headers.get("Cookie") else b"anyone's", ("Vary", "Cookie")))
    sibling, proxy = beside(lambda r: (200, [("Cache-Status", "b; hit"), ("Cache-Control", "max-age=60")] +
                                       ([("Vary", "Cookie")] if "varied" in r.path else []), b"anyone's"))
    status, fields, body = proxy.get(origin.url + "/a", Cookie="secret=1", Authorization="")
    assert body == b"mine"  # Authorization, even an empty one, keeps siblings out of it
    asked = len(sibling.requests)
    status, fields, body = proxy.get(origin.url + "/plain", Cookie="secret=1")
    assert body == b"anyone's" and status_of(fields).endswith("detail=b")
    # What varies by the cookies that the sibling was not told is not what was asked for.
    assert proxy.get(origin.url + "/varied", Cookie="secret=1")[2] == b"mine"
    assert proxy.get(origin.url + "/varied/too")[2] == b"anyone's"
    assert len(sibling.requests) > asked
    for _, path, sent in sibling.requests:
        assert "Cookie" not in sent and "secret" not in str(sent), (path, sent)
    assert any("Cookie" in sent for _, path, sent in origin.requests if path == "/varied")
    sibling.close()
    return origin, proxy


@test
def siblings_answer_what_was_asked():
    """A 304, a 206 and other answers to questions that nobody asked, all of them claimed to be hits."""
    origin = Origin(lambda r: fresh(b"whole"))
    said = {"304": [], "206": [("Content-Range", "bytes 0-3/5")], "412": [], "416": [("Content-Range", "bytes */5")],
            "407": [("Proxy-Authenticate", "Basic")], "500": [], "503": []}
    sibling, proxy = beside(lambda r: (int(r.path[-3:]), [("Cache-Status", "b; hit"), ("ETag", '"1"'), *said[r.path[-3:]]],
                                       b"" if r.path.endswith("304") else b"part"))
    for code in said:
        status, fields, body = proxy.get(f"{origin.url}/{code}", If_None_Match='"1"', Range="bytes=0-3")
        assert (status, body) == (200, b"whole"), (code, status, body)
    assert len([p for _, p, _ in sibling.requests if p.startswith("http")]) >= len(said)
    # A 404 that it has is an answer.
    said["404"] = [("Cache-Control", "max-age=60")]
    assert proxy.get(f"{origin.url}/404")[0] == 404
    assert proxy.metrics()["posy_proxy_sibling_failures_total"] >= len(said) - 1
    sibling.close()
    return origin, proxy


def stamp(seconds=0):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@test
def cookies_are_not_replayed():
    number = [0]

    def cookie(*fields):
        def answer(r):
            number[0] += 1
            if r.headers.get("If-None-Match"):
                return 304, [("Set-Cookie", f"id={number[0]}"), ("ETag", '"1"')], b""
            return 200, [("Set-Cookie", f"id={number[0]}"), *fields], b"page"
        return answer
    answers = {"/heuristic": cookie(("Last-Modified", stamp(-100_000))),
               "/public-heuristic": cookie(("Last-Modified", stamp(-100_000)), ("Cache-Control", "public")),
               "/max-age": cookie(("Cache-Control", "max-age=60")),
               "/expires": cookie(("Expires", stamp(60))),
               "/validated": cookie(("ETag", '"1"')),
               "/public": cookie(("Cache-Control", "public, max-age=60")),
               "/left-out": cookie(("Cache-Control", 'max-age=60, no-cache="Set-Cookie"')),
               "/at-once": cookie(("Cache-Control", "max-age=0"), ("ETag", '"1"'))}
    origin = Origin(lambda r: answers[r.path](r))
    proxy = Proxy(POSY)
    for path in answers:
        seen = [proxy.get(origin.url + path)[1]["Set-Cookie"] for _ in range(3)]
        if path == "/public":
            assert len(set(seen)) == 1 and origin.count(path) == 1
        elif path in ("/max-age", "/expires", "/left-out"):  # stored without it
            assert seen[0] and seen[1:] == [None, None] and origin.count(path) == 1, (path, seen)
        else:
            assert len(set(seen)) == 3, f"{path}: the cookies of one client went to another: {seen}"

    # Who brings a cookie or a password may be shown a page of their own.
    for case, (name, value) in enumerate((("Cookie", "id=0"), ("Authorization", "Basic eDp5"))):
        answers[f"/personal-{case}"] = cookie(("Cache-Control", "s-maxage=60"))
        seen = [proxy.get(origin.url + f"/personal-{case}", **{name: value})[1]["Set-Cookie"] for _ in range(3)]
        assert len(set(seen)) == 3, (name, seen)

    # A 304 brings a cookie to the one who asked, and to nobody after.
    def confirmed(r):
        if r.headers.get("If-None-Match"):
            return 304, [("Set-Cookie", "id=304"), ("ETag", '"1"'), ("Cache-Control", "max-age=60")], b""
        return 200, [("ETag", '"1"'), ("Cache-Control", "max-age=0")], b"page"
    answers["/confirmed"] = confirmed
    seen = [proxy.get(origin.url + "/confirmed")[1]["Set-Cookie"] for _ in range(3)]
    assert seen == [None, "id=304", None], seen
    assert origin.count("/confirmed") == 2
    return origin, proxy


@test
def nothing_hides_no_store():
    values = ['max-age=60, x="abc, no-store', "max-age=60; no-store", 'x=a"b, no-store", max-age=60',
              'max-age=60, "no-store"']
    origin = Origin(lambda r: (200, [("Cache-Control", values[int(r.path[1:])])], b"1"))
    proxy = Proxy(POSY)
    for i, value in enumerate(values):
        for _ in range(2):
            assert "stored" not in status_of(proxy.get(f"{origin.url}/{i}")[1]), value
        assert origin.count(f"/{i}") == 2, value
    return origin, proxy


@test
def a_client_evicts_nothing_by_no_store():
    version = [0]

    def answer(r):
        version[0] += 1
        return 200, [("Cache-Control", "max-age=1, stale-while-revalidate=600"), ("Age", "2"), ("ETag", f'"{version[0]}"')], \
            str(version[0]).encode()
    origin = Origin(answer)
    proxy = Proxy(POSY)
    for fields in ({"Cache_Control": "no-store"}, {"Authorization": "Basic eDp5", "Cache_Control": "no-store"}):
        proxy.get(origin.url + "/a")
        before = len(origin.requests)

        def renewed():
            """Twice: a second renewal of the URL begins when the first is over."""
            assert proxy.get(origin.url + "/a", **fields)[0] == 200  # stale, and renewed behind our back
            return len(origin.requests) >= before + 2
        until(renewed)
        status, _, _ = proxy.get(origin.url + "/a", Cache_Control="only-if-cached, max-stale")
        assert status == 200, f"{fields} evicted what was stored"
    return origin, proxy


def only_file(folder):
    """The one stored file, when it has been written."""
    def written():
        return [p for p in pathlib.Path(folder).glob("??/*") if not p.is_dir() and not p.name.endswith(".posy-tmp")]
    return until(written)[0]


@test
def files_of_others_stop_nothing():
    """Under the name of a stored answer: a pipe, a link, a folder, a device's look-alike, a file that grew."""
    origin = Origin(lambda r: fresh(r.path.encode() * 100))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        outside = pathlib.Path(folder) / "outside"

        def grow(path):
            os.truncate(path, 1 << 40)

        def pipe(path):
            path.unlink()
            os.mkfifo(path)

        def link(path):
            path.unlink()
            outside.write_text("mine")
            path.symlink_to(outside)

        def folder_there(path):
            path.unlink()
            path.mkdir()
            (path / "mine").write_text("mine")

        for change in (pipe, grow, link, folder_there):
            for when in ("stopped", "running"):
                disk = pathlib.Path(folder) / f"{change.__name__}-{when}"
                proxy = Proxy(POSY, "--disk", str(disk), "--memory", "8M")
                url = f"{origin.url}/{change.__name__}/{when}"
                proxy.get(url)
                file = only_file(disk)
                proxy.kill()
                if when == "stopped":
                    change(file)
                proxy.start()
                if when == "running":
                    change(file)
                start = time.monotonic()
                assert proxy.get(url)[2] == url[len(origin.url):].encode() * 100
                # Reading and writing go on: others get to the disk and back.
                for i in range(5):
                    proxy.get(f"{url}/{i}")
                wanted = 5 if change is folder_there else 6

                def written():
                    return proxy.metrics()['posy_cache_objects{tier="disk"}'] >= wanted
                until(written)
                assert proxy.get(url)[0] == 200 and time.monotonic() - start < 20
                assert change is not link or outside.read_text() == "mine", "a link was followed"
                proxy.close()
    return origin, None


@test
def leftovers_of_a_kill_are_cleaned_up():
    origin = Origin(lambda r: fresh(b"a" * 1000))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        proxy = Proxy(POSY, "--disk", folder)
        proxy.get(origin.url + "/a")
        file = only_file(folder)
        proxy.kill()
        left = [file.with_name(file.name + end) for end in (".posy-tmp", ".posy-tmp1")]
        (strange := file.with_name(file.name + ".zip")).write_text("mine")
        for path in left:
            path.write_bytes(file.read_bytes()[:100])
        proxy.start()
        assert not any(path.exists() for path in left) and file.exists() and strange.read_text() == "mine"
        assert "; hit" in status_of(proxy.get(origin.url + "/a")[1])
        proxy.close()
    return origin, None


@test
def a_disk_folder_belongs_to_one_proxy():
    def refused(folder):
        out = subprocess.run([POSY, "proxy", "--listen", "127.0.0.1:0", "--disk", str(folder)], capture_output=True,
                             text=True, timeout=60)
        assert out.returncode == 2 and str(folder) in out.stderr, (out.returncode, out.stderr)
        return out.stderr
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        proxy = Proxy(POSY, "--disk", str(folder / "disk"))
        assert f"another process uses it (process {proxy.process.pid})" in refused(folder / "disk")
        proxy.kill()
        proxy.start()  # what was killed holds nothing
        proxy.close()
        (folder / "mine").mkdir()
        (folder / "mine" / "thesis.txt").write_text("mine")
        assert "thesis.txt" in refused(folder / "mine")
        refused(folder / "mine" / "thesis.txt")
        (folder / "piped").mkdir()
        os.mkfifo(folder / "piped" / "key")
        assert "'key'" in refused(folder / "piped")
    return None, None


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec* at) {
    static int (*next)(clockid_t, struct timespec*);
    if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
    int done = next(id, at);
    char text[32] = {0};
    int file = id == CLOCK_REALTIME ? open(getenv("POSY_TEST_CLOCK"), O_RDONLY) : -1;
    if (file >= 0) {
        if (read(file, text, 31) > 0) at->tv_sec += atol(text);
        close(file);
    }
    return done;
}
"""


class set_clock:
    """A time of day for the proxies started meanwhile: so many seconds beside the right one."""

    def __init__(self, folder):
        self.offset = pathlib.Path(folder) / "offset"
        source, self.library = pathlib.Path(folder) / "clock.c", pathlib.Path(folder) / "clock.so"
        source.write_text(SHIM)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.library, source, "-ldl"], check=True)
        self.to(0)

    def to(self, seconds):
        new = self.offset.with_suffix(".new")
        new.write_text(str(seconds))
        new.rename(self.offset)

    def __enter__(self):
        os.environ.update(LD_PRELOAD=str(self.library), POSY_TEST_CLOCK=str(self.offset),
                          ASAN_OPTIONS="verify_asan_link_order=0")
        return self

    def __exit__(self, *error):
        for name in ("LD_PRELOAD", "POSY_TEST_CLOCK", "ASAN_OPTIONS"):
            os.environ.pop(name)


@test
def a_clock_set_back_makes_nothing_immortal():
    if not shutil.which("cc") or not ctypes.util.find_library("c"):
        print("  no compiler for the clock: left out")
        return None, None
    origin = Origin(lambda r: (200, [("Cache-Control", f"max-age={r.path.rsplit('/', 1)[1]}")], b"1"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, set_clock(folder) as clock:
        proxy = Proxy(POSY)
        url = f"{origin.url}/before/6"
        proxy.get(url)
        assert "; hit" in status_of(proxy.get(url)[1])
        clock.to(-3600)
        until(lambda: "; hit" not in status_of(proxy.get(url)[1]), what="stale; it is fresh for an hour more")
        # A day ahead, and right again, which is set back, too: ages of what comes now are right.
        clock.to(86400)
        proxy.get(f"{origin.url}/ahead/600")
        clock.to(0)
        url = f"{origin.url}/after/600"
        proxy.get(url)

        def age():
            _, fields, _ = proxy.get(url)
            assert "; hit" in status_of(fields) and int(fields["Age"]) < 60, (status_of(fields), fields["Age"])
            return int(fields["Age"])
        until(age)
        proxy.close()
        # Between two runs nobody knows what the clock did: what is from the future is asked about.
        clock.to(86400)
        proxy = Proxy(POSY, "--disk", f"{folder}/disk")
        url = f"{origin.url}/disk/600000"
        proxy.get(url)
        only_file(f"{folder}/disk")
        proxy.kill()
        clock.to(0)
        proxy.start()
        assert "; hit" not in status_of(proxy.get(url)[1]), "from the future, and fresh"
        assert "; hit" in status_of(proxy.get(url)[1])
        proxy.close()
    return origin, None


run()
