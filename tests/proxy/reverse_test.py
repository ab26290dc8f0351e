"""In front of sites: hosts and their backends, what backends are told, what is the node's and what the site's, siblings.

Usage: reverse_test.py POSY [test …]
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy, exchange  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


def site(name="a", *more):
    return Origin(lambda r: fresh(f"{name} {r.path}".encode(), *more))


def front(*options, **how):
    """A proxy in front of sites; the loopback is no destination of its clients."""
    return Proxy(POSY, *options, destinations=(), **how)


def visit(proxy, host, path, method="GET", **fields):
    """One exchange with a Host: (status, [(name, value)], body)."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    got, _ = exchange(proxy.port, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{lines}Connection: close\r\n\r\n".encode())
    head, _, body = got.partition(b"\r\n\r\n")
    status, *rest = head.decode().split("\r\n")
    return int(status.split()[1]), [line.partition(": ")[::2] for line in rest], body


def field(answer, name):
    return [value for key, value in answer[1] if key.lower() == name.lower()]


@test
def hosts_lead_to_their_backends():
    a, b, other = site("a"), site("b"), site("other")
    proxy = front("--origin", f"a.example={a.url}", "--origin", f"B.example={b.url}", "--origin", f"*={other.url}")
    for host, body in (("a.example", b"a /x"), ("A.Example", b"a /x"), ("a.example:80", b"a /x"), ("b.example", b"b /x"), ("c.example", b"other /x")):
        assert visit(proxy, host, "/x")[::2] == (200, body), host
    assert a.count("/x") == 1  # one URL, however it is written
    assert "; hit" in field(visit(proxy, "a.example", "/x"), "Cache-Status")[-1]
    visit(proxy, "a.example:8080", "/x")  # another URL
    assert a.count("/x") == 2
    # A server takes absolute URLs as well (RFC 9112, 3.2.2).
    assert visit(proxy, "ignored.example", "http://a.example/x")[2] == b"a /x" and a.count("/x") == 2
    for each in (b, other):
        each.close()
    return a, proxy


@test
def the_log_names_the_site_and_the_visitor():
    a = site()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = os.path.join(folder, "log")
        proxy = front("--origin", f"a.example={a.url}", "--access-log", log, "--log-format", "json")
        visit(proxy, "A.Example", "/x")
        visit(proxy, "a.example", "/y", X_Forwarded_For="192.0.2.7", X_Forwarded_Proto="https")
        proxy.get("/metrics")
        lines = until(lambda: (read := [json.loads(line) for line in open(log)]) and len(read) >= 3 and read)
        assert sorted((e["client"], e["url"], e["result"]) for e in lines) == [
            ("127.0.0.1", "/metrics", "node"), ("127.0.0.1", "http://a.example/x", "origin"), ("192.0.2.7", "https://a.example/y", "origin")], lines
    return a, proxy


@test
def unknown_hosts_are_misdirected():
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    status, _, said = visit(proxy, "b.example", "/")
    assert status == 421 and said == b"this proxy stands in front of sites, and 'b.example' is none of them\n", said
    until(lambda: any("421" in line and "b.example" in line for line in proxy.log), what="a line in the log")
    assert visit(proxy, "x", "http://b.example/")[0] == 421  # it is no forward proxy any more
    assert visit(proxy, "x", a.url + "/")[0] == 421
    assert visit(proxy, "a.example", f"127.0.0.1:{a.port}", "CONNECT")[0] == 403
    assert visit(proxy, "a.example/../b", "/")[0] in (400, 421)
    assert not a.requests
    both = Proxy(POSY, "--origin", f"a.example={a.url}", "--also-forward")
    assert both.get(a.url + "/y")[2] == b"a /y"
    assert visit(both, "a.example", "/y")[2] == b"a /y"
    both.close()
    return a, proxy


@test
def the_node_answers_by_its_own_names():
    a = site()
    proxy = front("--origin", f"*={a.url}", "--host-name", "cache.example")
    for path in ("/", "/metrics", "/summary", "/healthz", "/who?key=x"):
        assert visit(proxy, "a.example", path)[2] == f"a {path}".encode()
        assert visit(proxy, "cache.example", path)[2] != f"a {path}".encode()
    assert b"posy_" in visit(proxy, f"127.0.0.1:{proxy.port}", "/metrics")[2]
    return a, proxy


@test
def a_pattern_of_names_is_a_site():
    a, below, far = site("a"), site("below"), site("far")
    proxy = Proxy(POSY, "--origin", f"*.example={below.url}", "--origin", f"a.example={a.url}", "--also-forward", "--host-name", "cache.example")
    for host, body in (("a.example", b"a /"), ("b.example", b"below /"), ("c.b.Example:80", b"below /")):
        assert visit(proxy, host, "/")[::2] == (200, body), host
        assert visit(proxy, "x", f"http://{host}/")[2] == body, host  # for whoever takes it for a forward proxy, too
    assert visit(proxy, "example", "/")[0] == 421 and b"posy_" in visit(proxy, "cache.example", "/metrics")[2]
    assert visit(proxy, "x", far.url + "/")[2] == b"far /"
    for each in (below, far):
        each.close()
    return a, proxy


@test
def backends_learn_who_asked():
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    visit(proxy, "a.example", "/1", X_Forwarded_For="203.0.113.7", Forwarded="for=203.0.113.7", X_Forwarded_Proto="https")
    told = a.requests[-1][2]
    assert told["Host"] == "a.example" and told["X-Forwarded-Host"] == "a.example"
    assert told["X-Forwarded-For"] == "203.0.113.7, 127.0.0.1" and told["X-Forwarded-Proto"] == "https"
    assert told["Forwarded"] == "for=203.0.113.7, for=127.0.0.1;host=a.example;proto=https"
    # The scheme is part of the URL.
    visit(proxy, "a.example", "/1", X_Forwarded_Proto="https")
    assert a.count("/1") == 1
    visit(proxy, "a.example", "/1")
    assert a.count("/1") == 2 and a.requests[-1][2]["X-Forwarded-Proto"] == "http"
    proxy.close()
    # What others say is not believed.
    strict = front("--origin", f"a.example={a.url}", "--forwarded-by", "192.0.2.1", "--backend-host")
    visit(strict, "a.example", "/2", X_Forwarded_For="203.0.113.7", Forwarded="for=203.0.113.7", X_Forwarded_Proto="https", X_Real_IP="203.0.113.7",
          X_Forwarded_Host="evil.example")
    told = a.requests[-1][2]
    assert told["X-Forwarded-For"] == "127.0.0.1" and told["X-Forwarded-Proto"] == "http" and "X-Real-IP" not in told
    assert told["Forwarded"] == "for=127.0.0.1;host=a.example;proto=http" and told["X-Forwarded-Host"] == "a.example"
    assert told["Host"] == f"127.0.0.1:{a.port}"
    return a, strict


@test
def what_a_balancer_lets_pass_decides_no_page():
    """X-Forwarded-Host and -Port are not in the URL that a page is stored under, so they say what is."""
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    visit(proxy, "a.example", "/1", X_Forwarded_For="203.0.113.7", X_Forwarded_Host="evil.example", X_Forwarded_Port="666")
    told = a.requests[-1][2]
    assert told["X-Forwarded-Host"] == "a.example" and told["X-Forwarded-Port"] == "80", told
    return a, proxy


@test
def nobody_says_it_in_other_letters():
    """CGI makes one variable of X_Forwarded_For and X-Forwarded-For; and some servers add trailers to the fields."""
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    exchange(proxy.port, b"GET /1 HTTP/1.1\r\nHost: a.example\r\nX_Forwarded_For: 10.0.0.1\r\nx_real-ip: 10.0.0.1\r\nX_Other: 1\r\nConnection: close\r\n\r\n")
    told = a.requests[-1][2]
    assert told["X-Forwarded-For"] == "127.0.0.1" and told["X_Other"] == "1" and "10.0.0.1" not in told.values(), told
    return a, proxy


@test
def one_page_however_its_url_is_written():
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    for host, target, scheme in (("a.example", "/1", "https"), ("a.example", "http://a.example/1", "https"), ("a.example:0443", "/1", "https"),
                                 ("x", "https://a.example/1", "https")):
        assert visit(proxy, host, target, X_Forwarded_Proto=scheme)[2] == b"a /1", target
        assert a.requests[-1][2]["Host"] == "a.example"
    assert a.count("/1") == 1
    assert json.loads(visit(proxy, "a.example", "/1", "PURGE")[2])["purged"] == 1
    visit(proxy, "a.example", "http://a.example/1", X_Forwarded_Proto="https")
    assert a.count("/1") == 2
    return a, proxy


@test
def visitors_of_a_balancer_are_no_siblings():
    """A question that wants only what is here (only-if-cached) is judged like any other."""
    a, b = site("a"), site("b")
    proxy = front("--origin", f"a.example={a.url}", "--origin", f"b.example={b.url}", "--allow-client", "0.0.0.0/0",
                  "--rule", "allow from 10.0.0.0/8 to a.example", "--rule", "allow to b.example")
    stranger = {"X_Forwarded_For": "203.0.113.7", "X_Forwarded_Proto": "http"}
    assert visit(proxy, "a.example", "/1", X_Forwarded_For="10.1.1.1", X_Forwarded_Proto="http")[0] == 200
    for host, target in (("a.example", "/1"), ("a.example", "http://a.example/1"), ("b.example", "http://a.example/1")):
        assert visit(proxy, host, target, **stranger)[0] == 403, target
        assert visit(proxy, host, target, Cache_Control="only-if-cached", **stranger)[0] == 403, target
    b.close()
    return a, proxy


@test
def options_of_a_site():
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    answer = visit(proxy, "a.example", "*", "OPTIONS")
    assert answer[0] == 200 and field(answer, "Allow") and not a.requests, answer
    assert visit(proxy, "b.example", "*", "OPTIONS")[0] == 421
    return a, proxy


@test
def both_ways_to_say_who_asked_agree():
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    ours = "for=127.0.0.1;host=a.example;proto="
    for number, (said, chain, forwarded, scheme) in enumerate((
            ({"Forwarded": "for=9.9.9.9;proto=https"}, "9.9.9.9, 127.0.0.1", "for=9.9.9.9;proto=https, ", "https"),
            ({"Forwarded": 'for="[2001:db8::1]:4711"; Proto=HTTPS, for=_x'}, "2001:db8::1, unknown, 127.0.0.1",
             'for="[2001:db8::1]:4711"; Proto=HTTPS, for=_x, ', "http"),
            ({"X_Forwarded_For": "9.9.9.9, 2001:db8::1", "X_Forwarded_Proto": "https"}, "9.9.9.9, 2001:db8::1, 127.0.0.1",
             'for=9.9.9.9, for="[2001:db8::1]", ', "https"),
            # Where both are said, each is continued, and the scheme is that of X-Forwarded-…
            ({"X_Forwarded_For": "9.9.9.9", "Forwarded": "for=8.8.8.8;proto=https"}, "9.9.9.9, 127.0.0.1", "for=8.8.8.8;proto=https, ", "http"),
            # What could be read in two ways is left out.
            ({"Forwarded": 'for="9.9.9.9;proto=https'}, "127.0.0.1", "", "http"),
            ({"Forwarded": 'for="8.8.8.8, 9.9.9.9"'}, "unknown, 127.0.0.1", 'for="8.8.8.8, 9.9.9.9", ', "http"))):
        visit(proxy, "a.example", f"/{number}", **said)
        told = a.requests[-1][2]
        assert told["X-Forwarded-For"] == chain and told["X-Forwarded-Proto"] == scheme, (said, told)
        assert told["Forwarded"] == forwarded + ours + scheme, (said, told)
    return a, proxy


def told_after(proxy, origin, request):
    """What the backend was told of a request, whose path must be new."""
    exchange(proxy.port, request)
    return origin.requests[-1][2]


@test
def the_url_says_more_than_host():
    """RFC 9112, 3.2.2: what is stored as a page of a host was asked for by that name."""
    a = site()
    proxy = front("--origin", f"a.example={a.url}", "--forwarded-by", "192.0.2.1")
    for path, target, name, quoted in (("/1", "http://a.example/1", "a.example", "a.example"),
                                       ("/2", "http://A.example:81/2", "a.example:81", '"a.example:81"')):
        told = told_after(proxy, a, f"GET {target} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode())
        assert a.requests[-1][1] == path and told["Host"] == told["X-Forwarded-Host"] == name, told
        assert told["Forwarded"] == f"for=127.0.0.1;host={quoted};proto=http", told
    everyone = front("--origin", f"*={a.url}")
    before = len(a.requests)
    for host in ('a";for=1.2.3.4;x="', "a;proto=https", "a,b", "[a.example]", "[10.0.0.1]"):
        assert visit(everyone, host, "/3")[0] in (400, 421), host
    assert visit(proxy, "[a.example]", "/3")[0] in (400, 421) and len(a.requests) == before
    visit(everyone, "[2001:db8::1]", "/3")
    assert 'host="[2001:db8::1]"' in a.requests[-1][2]["Forwarded"]
    everyone.close()
    return a, proxy


@test
def connection_takes_no_introduction_away():
    a = site()
    proxy = front("--origin", f"a.example={a.url}", "--forwarded-by", "192.0.2.1")
    told = told_after(proxy, a, b"GET /1 HTTP/1.1\r\nHost: a.example\r\nConnection: close, X-Forwarded-For, x-forwarded-host, X-Mine\r\n"
                      b"Connection: X-Forwarded-Proto, Forwarded, Via\r\nX-Mine: 1\r\nX-Other: 2\r\nVia: 1.1 before\r\n\r\n")
    assert told["X-Forwarded-For"] == "127.0.0.1" and told["X-Forwarded-Host"] == "a.example" and told["X-Forwarded-Proto"] == "http", told
    assert told["Forwarded"] == "for=127.0.0.1;host=a.example;proto=http" and "1.1 before" in told["Via"], told
    assert "X-Mine" not in told and told["X-Other"] == "2", told
    return a, proxy


@test
def http_1_0_upgrades_nothing():
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    told = told_after(proxy, a, b"GET /1 HTTP/1.0\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert "Upgrade" not in told, told
    return a, proxy


@test
def renewals_ask_as_the_fetch_did():
    """What is renewed behind a client's back is asked for by the same name as when it was fetched: of a site, of its backend, and of any server."""
    a = Origin(lambda r: (200, [("Cache-Control", "max-age=1, stale-while-revalidate=300"), ("Age", "2"), ("ETag", '"1"')], b"a"))
    for options, host, target, name in (((), "a.example", "/1", "a.example"), (("--backend-host",), "a.example", "/2", f"127.0.0.1:{a.port}"),
                                        (None, "ignored.example", f"http://LOCALHOST:{a.port}/3", f"localhost:{a.port}")):
        proxy = Proxy(POSY) if options is None else front("--origin", f"a.example={a.url}", *options)
        for _ in range(2):
            assert visit(proxy, host, target)[2] == b"a"
        path = "/" + target.rpartition("/")[2]
        until(lambda: a.count(path) >= 2)
        asked = [fields for _, at, fields, *_ in a.requests if at == path]
        assert [each["Host"] for each in asked[:2]] == [name, name], asked
        assert asked[1]["If-None-Match"] == '"1"'
        proxy.close()
    return a, None


@test
def clients_need_a_place_in_the_list():
    a = site()
    closed = front("--origin", f"a.example={a.url}", "--allow-admin", "192.0.2.1", "--allow-client", "192.0.2.2")
    assert visit(closed, "a.example", "/")[0] == 403 and not a.requests
    closed.close()
    opened = front("--origin", f"a.example={a.url}", "--allow-admin", "192.0.2.1", "--allow-client", "127.0.0.1")
    assert visit(opened, "a.example", "/", Via="1.1 balancer", X_Forwarded_For="203.0.113.7")[0] == 200
    assert visit(opened, "127.0.0.1", "/metrics")[0] == 403
    return a, opened


@test
def a_dead_backend_is_not_named():
    dead = free_port()
    proxy = front("--origin", f"a.example=http://127.0.0.1:{dead}")
    answer = visit(proxy, "a.example", "/")
    assert answer[0] == 502 and str(dead).encode() not in answer[2] and b"127.0.0.1" not in answer[2], answer
    until(lambda: any(str(dead) in line for line in proxy.log), what="the reason in the log")
    return None, proxy


@test
def siblings_share_a_site():
    a = site()
    ports = [free_port(), free_port()]
    fronts = [front("--origin", f"a.example={a.url}", "--interval", "0.2", "--peer", f"other=http://127.0.0.1:{ports[1 - i]}", port=ports[i])
              for i in range(2)]
    assert visit(fronts[0], "a.example", "/shared")[2] == b"a /shared"
    until(lambda: fronts[1].who("http://a.example/shared")["peers"])
    answer = visit(fronts[1], "a.example", "/shared")
    assert answer[2] == b"a /shared" and a.count("/shared") == 1
    assert "detail=other" in field(answer, "Cache-Status")[-1]
    # A sibling gets what is here, and nothing is fetched for it.
    assert fronts[0].get("http://a.example/absent", Cache_Control="only-if-cached")[0] == 504
    fronts[1].close()
    return a, fronts[0]


@test
def unsafe_methods_pass_and_invalidate():
    a = site()
    proxy = front("--origin", f"a.example={a.url}")
    visit(proxy, "a.example", "/doc")
    assert visit(proxy, "a.example", "/doc", "DELETE")[0] == 200
    visit(proxy, "a.example", "/doc")
    assert [r[0] for r in a.requests] == ["GET", "DELETE", "GET"]
    return a, proxy


@test
def options_are_checked():
    for bad in ("a.example", "=http://127.0.0.1:1", "a.example=ftp://x", "a.example=http://x/path", "a.example:80=http://x", "a b=http://x"):
        done = subprocess.run([POSY, "proxy", "--origin", bad], capture_output=True, text=True)
        assert done.returncode != 0 and "--origin" in done.stderr, (bad, done.stderr)
    twice = subprocess.run([POSY, "proxy", "--origin", "a=http://x", "--origin", "A=http://y"], capture_output=True, text=True)
    assert twice.returncode != 0 and "twice" in twice.stderr, twice.stderr
    # Any host would be a site and itself, with one URL for both.
    for check in ((), ("--check",)):
        both = subprocess.run([POSY, "proxy", "--origin", "*=http://x", "--also-forward", *check], capture_output=True, text=True)
        assert both.returncode != 0 and "--also-forward: with --origin *" in both.stderr, both.stderr
    return ()


run()
