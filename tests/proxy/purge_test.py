"""PURGE by URL and by tag: who may, what goes, siblings, sites, restarts.

Usage: purge_test.py POSY [test …]
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy, ask  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


def tagged():
    """An origin whose paths name their tags: /a+b is tagged a and b."""
    def answer(r):
        words = r.path[1:].partition("?")[0].split("+")
        name, between = ("Cache-Tag", ", ") if "?" in r.path else ("Surrogate-Key", " ")
        return fresh(r.path.encode(), (name, between.join(words)))
    return Origin(answer)


def purge(proxy, url, **fields):
    status, _, body = proxy.get(url, "PURGE", **fields)
    assert status == 200, (status, body)
    return json.loads(body)


def fill(proxy, origin, *paths):
    for path in paths:
        assert proxy.get(origin.url + path)[0] == 200
    return [origin.count(path) for path in paths]


@test
def by_url():
    origin, proxy = tagged(), Proxy(POSY)
    assert fill(proxy, origin, "/a", "/b", "/a", "/b") == [1, 1, 1, 1]
    assert purge(proxy, origin.url + "/a") == {"purged": 1, "siblings": []}
    assert purge(proxy, origin.url + "/a")["purged"] == 0
    assert proxy.metric("posy_set_items") == 1  # the summary follows
    assert fill(proxy, origin, "/a", "/b") == [2, 1]
    assert origin.requests[-1][0] == "GET" and not any(r[0] == "PURGE" for r in origin.requests)
    assert proxy.get("nonsense", "PURGE")[0] == 400
    assert proxy.get("/path", "PURGE")[0] == 421
    return origin, proxy


@test
def by_tag():
    origin, proxy = tagged(), Proxy(POSY)
    paths = ("/a+b", "/b+c", "/c", "/a?1", "/x+y?2")
    fill(proxy, origin, *paths)
    assert purge(proxy, "http://any.example/", Cache_Tag="b")["purged"] == 2
    assert fill(proxy, origin, *paths) == [2, 2, 1, 1, 1]
    assert purge(proxy, "http://any.example/", Surrogate_Key="a y")["purged"] == 3
    assert fill(proxy, origin, *paths) == [3, 2, 1, 2, 2]
    assert purge(proxy, "http://any.example/", Cache_Tag="none")["purged"] == 0
    return origin, proxy


@test
def who_may():
    origin = tagged()
    with tempfile.NamedTemporaryFile("w") as token:
        token.write("a-secret-of-the-mesh\n")
        token.flush()
        proxy = Proxy(POSY, "--token-file", token.name, "--allow-client", "loopback")
        fill(proxy, origin, "/a")
        assert proxy.get(origin.url + "/a", "PURGE")[0] == 403
        assert proxy.get(origin.url + "/a", "PURGE", Proxy_Authorization="Bearer wrong")[0] == 403
        assert fill(proxy, origin, "/a") == [1]
        assert purge(proxy, origin.url + "/a", Proxy_Authorization="Bearer a-secret-of-the-mesh")["purged"] == 1
    via = Proxy(POSY)
    assert via.get(origin.url + "/a", "PURGE", Via="1.1 another")[0] == 403  # lent by another proxy
    via.close()
    return origin, proxy


@test
def not_by_pages():
    """A page that an administrator's browser shows sends what it likes, from his address and with Origin."""
    origin = tagged()
    with tempfile.NamedTemporaryFile("w") as token:
        token.write("a-secret-of-the-mesh\n")
        token.flush()
        proxy = Proxy(POSY, "--token-file", token.name, "--allow-admin", "loopback")
        fill(proxy, origin, "/a")
        for page in ("http://evil.example", "null", f"http://127.0.0.1:{proxy.port}"):
            for fields in ({}, {"Cache_Tag": "a"}, {"Proxy_Authorization": "Bearer wrong"}):
                status, _, body = proxy.get(origin.url + "/a", "PURGE", Origin=page, **fields)
                assert status == 403 and b"Origin" in body, (status, body)
        assert fill(proxy, origin, "/a") == [1]
        said = purge(proxy, origin.url + "/a", Origin="http://evil.example", Proxy_Authorization="Bearer a-secret-of-the-mesh")
        assert said["purged"] == 1
        fill(proxy, origin, "/a")
        assert purge(proxy, origin.url + "/a")["purged"] == 1
    return origin, proxy


@test
def parts_by_tag():
    """A URL counts once, however many of its variants are here in part, and whole."""
    def answer(r):
        fields = [("Cache-Tag", r.path[1:].partition("?")[0]), ("Vary", "Accept-Language"), ("ETag", '"1"')]
        if "Range" not in r.headers:
            return fresh(b"whole", *fields)
        return 206, *fresh(b"x", *fields, ("Content-Range", "bytes 0-0/5000000"))[1:]
    origin, proxy = Origin(answer), Proxy(POSY)

    def ask_for(path, language, **fields):
        return proxy.get(origin.url + path, Accept_Language=language, **fields)[0]

    for path in ("/a?1", "/a?2", "/b?3"):
        assert [ask_for(path, language, Range="bytes=0-0") for language in ("de", "en")] == [206, 206]
    assert ask_for("/a?1", "fr") == 200
    before = len(origin.requests)
    assert ask_for("/a?1", "de", Range="bytes=0-0") == 206 and ask_for("/a?1", "fr") == 200
    assert len(origin.requests) == before  # all are here
    assert purge(proxy, "http://any.example/", Cache_Tag="a")["purged"] == 2
    assert ask_for("/b?3", "de", Range="bytes=0-0") == 206
    assert len(origin.requests) == before
    for path, language in (("/a?1", "de"), ("/a?1", "en"), ("/a?2", "de")):
        assert ask_for(path, language, Range="bytes=0-0") == 206
    assert len(origin.requests) == before + 3
    return origin, proxy


@test
def siblings_are_told():
    origin, ports = tagged(), [free_port() for _ in range(3)]
    proxies = [Proxy(POSY, "--keep-siblings", "--interval", "0.2", name=f"px{i}", port=ports[i],
                     *[option for j in range(3) if j != i for option in ("--peer", f"px{j}=http://127.0.0.1:{ports[j]}")]) for i in range(2)]
    for proxy in proxies:
        fill(proxy, origin, "/a+b", "/a", "/c")
    for target, fields, count in ((origin.url + "/c", {}, 1), ("http://x/", {"Cache_Tag": "a"}, 2)):
        said = purge(proxies[0], target, **fields)
        told = {each["name"]: each for each in said["siblings"]}
        assert said["purged"] == count and told["px1"]["purged"] == count, said
        assert "error" in told["px2"]  # it does not run
    until(lambda: any("warning PURGE at sibling px2: " in line for line in proxies[0].log))
    before = len(origin.requests)
    for proxy in proxies:
        until(lambda: proxy.metric("posy_set_items") == 0)
    fill(proxies[1], origin, "/a+b", "/a", "/c")
    assert len(origin.requests) == before + 3
    assert purge(proxies[0], origin.url + "/c", Max_Forwards="0")["siblings"] == []
    proxies[1].close()
    return origin, proxies[0]


@test
def of_a_site():
    origin = tagged()
    proxy = Proxy(POSY, "--origin", f"a.example={origin.url}", destinations=())
    for scheme in ("http", "https"):
        assert visit(proxy, "GET", "/a", X_Forwarded_Proto=scheme)[0] == 200
    assert origin.count("/a") == 2
    status, _, body = visit(proxy, "PURGE", "/a")
    assert status == 200 and json.loads(body)["purged"] == 2
    visit(proxy, "GET", "/a")
    assert purge(proxy, "http://a.example/a")["purged"] == 1
    assert not any(r[0] == "PURGE" for r in origin.requests)
    return origin, proxy


def visit(proxy, method, path, **fields):
    return ask(proxy.port, path, method, None, {"Host": "a.example", **fields})


@test
def after_a_restart():
    origin, folder = tagged(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    proxy = Proxy(POSY, "--disk", folder.name)
    fill(proxy, origin, "/a", "/b")
    until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') == 2)
    proxy.close()
    proxy.start()
    assert fill(proxy, origin, "/a") == [1]
    assert purge(proxy, "http://x/", Cache_Tag="a") == {"purged": 2, "tags_unknown": 2, "siblings": []}  # of those on disk: both go
    until(lambda: any("info PURGE by tag: 2 objects removed, 2 of them because their tags are not known" in line for line in proxy.log))
    assert fill(proxy, origin, "/a", "/b") == [2, 2]
    assert purge(proxy, "http://x/", Cache_Tag="a") == {"purged": 1, "tags_unknown": 0, "siblings": []}
    proxy.close()
    proxy.start()
    assert fill(proxy, origin, "/a", "/b") == [3, 2]
    proxy.close()
    folder.cleanup()
    return origin, None


run()
