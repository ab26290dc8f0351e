"""Rules of a proxy with real clients: who may use it, where it may go, how much; users, groups, tokens; changes while it serves.

Usage: rules_clients_test.py POSY [test …]
"""
import base64
import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, posy, run, test  # noqa: E402
from daemons import Proxy, exchange  # noqa: E402
from nameserver import NameServer  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402

with warnings.catch_warnings():  # gone with Python 3.13
    warnings.simplefilter("ignore")
    import crypt

FOLDER = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
COST = 2 ** 6  # of a password's hash: the tests make thousands of checks


def hashed(password, method=crypt.METHOD_BLOWFISH, cost=COST):
    return crypt.crypt(password, crypt.mksalt(method, rounds=cost if method is crypt.METHOD_BLOWFISH else 5000))


def file(name, *lines):
    """A file of the test, replaced as a whole."""
    path = os.path.join(FOLDER.name, name)
    with open(path + "~", "w") as f:
        f.write("".join(line + "\n" for line in lines))
    os.rename(path + "~", path)
    return path


def people():
    """The options for alice, who is staff, and bob; carol has a token."""
    users = file("users", "alice:" + hashed("wonder"), "bob:" + hashed("builder", crypt.METHOD_SHA512))
    tokens = file("tokens", "carol:" + hashlib.sha256(b"carols-token").hexdigest())
    return "--users", users, "--user-tokens", tokens, "--groups", file("groups", "staff: alice carol")


def rules(*texts):
    return [option for each in texts for option in ("--rule", each)]


def basic(name, password):
    return {"Proxy_Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


ALICE, BOB, CAROL = basic("alice", "wonder"), basic("bob", "builder"), {"Proxy_Authorization": "Bearer carols-token"}


def world(*options, **how):
    origin = Origin(lambda r: fresh(b"hello " + r.path.encode()) if r.command == "GET" else (200, [], b"done"))
    return origin, Proxy(POSY, *options, **how)


def decided(proxy, rule, decision):
    return proxy.metric(f'posy_proxy_rule_total{{rule="{rule}",decision="{decision}"}}')


def curl(proxy, *arguments):
    """(status, standard output)"""
    done = subprocess.run(["curl", "-s", "-o", "-", "-w", "%{stderr}%{http_connect} %{http_code}", "-x", f"http://127.0.0.1:{proxy.port}",
                           *arguments], capture_output=True, text=True, timeout=30)
    return done.stderr.split(), done.stdout


@test
def the_first_rule_decides():
    origin, proxy = world(*rules("deny to *.ads.example", "allow from 127.0.0.0/8 method GET,HEAD", "deny from 10.0.0.0/8"))
    assert proxy.get(origin.url + "/a")[2] == b"hello /a"
    status, fields, body = proxy.get("http://x.ads.example/")
    assert (status, body) == (403, b"access denied by rule 1 of this proxy\n") and "Connection" not in fields
    status, _, body = proxy.get(origin.url + "/a", "POST", b"x")
    assert (status, body) == (403, b"access denied: no rule of this proxy allows this\n")
    assert not [r for r in origin.requests if r[0] == "POST"]
    assert (decided(proxy, 1, "deny"), decided(proxy, 2, "allow"), decided(proxy, "none", "deny")) == (1, 1, 1)
    assert proxy.get(f"http://127.0.0.1:{proxy.port}/x")[0] != 407
    return origin, proxy


@test
def clients_are_asked_who_they_are():
    log = os.path.join(FOLDER.name, "access.log")
    origin, proxy = world(*people(), "--access-log", log, "--log-format", "json",
                          *rules("allow group staff", "allow user bob method GET", "deny to secret.example"))
    url = origin.url + "/x"
    status, fields, body = proxy.get(url)
    assert status == 407 and b"rule 1" in body
    assert [value.split()[0] for value in fields.get_all("Proxy-Authenticate")] == ["Basic", "Bearer"]
    for who in (ALICE, BOB, CAROL):
        assert proxy.get(url, **who)[0] == 200
    for who in (basic("alice", "wrong"), basic("nobody", "wonder"), basic("carol", ""), basic("", ""), {"Proxy_Authorization": "Bearer no"},
                {"Proxy_Authorization": "Basic !!"}, {"Proxy_Authorization": "Digest username=alice"}, {"Authorization": ALICE["Proxy_Authorization"]}):
        status, _, body = proxy.get(url, **who)
        assert status == 407 and b"rule 1" in body, (who, status)
    status, _, body = proxy.get(url, "POST", b"x", **BOB)
    assert status == 403 and b"no rule" in body  # it is known who that is, and to ask again would not help
    assert all("Proxy-Authorization" not in fields for _, _, fields in origin.requests)
    lines = until(lambda: (read := [json.loads(line) for line in open(log)]) and len(read) >= 13 and read)
    # Each on a connection of its own, and so in any order.
    def users(status):
        return sorted(line.get("user", "") for line in lines if line["status"] == status)
    assert (users(200), users(403), users(407)) == (["alice", "bob", "carol"], ["bob"], [""] * 6 + ["alice", "carol", "nobody"]), lines
    assert all(line["result"] == "denied" and "rule 1" in line["reason"] for line in lines if line["status"] == 407)
    return origin, proxy


@test
def curl_gets_through():
    origin, proxy = world(*people(), *rules(f"allow group staff tunnel port {1}-65535 to loopback", "allow user * to loopback"), destinations=())
    url = origin.url + "/c"
    assert curl(proxy, url)[0] == ["000", "407"]
    assert curl(proxy, url, "--proxy-user", "bob:builder") == (["000", "200"], "hello /c")
    assert curl(proxy, url, "--proxy-user", "bob:wrong")[0] == ["000", "407"]
    assert curl(proxy, url, "--proxy-user", "alice:wonder", "--proxy-anyauth") == (["000", "200"], "hello /c")  # asks first
    assert curl(proxy, "--proxytunnel", url, "--proxy-user", "alice:wonder", "--proxy-anyauth") == (["200", "200"], "hello /c")
    assert curl(proxy, "--proxytunnel", url, "--proxy-user", "bob:builder")[0][0] == "403"  # by --connect-port
    assert curl(proxy, "--proxytunnel", url)[0][0] == "407"
    assert curl(proxy, url, "-X", "POST", "--data-binary", "@" + file("upload", "x" * 300_000), "--proxy-user", "alice:wonder", "--proxy-anyauth")[1] == "done"
    assert "Proxy-Authorization" not in str(origin.requests)
    return origin, proxy


@test
def one_connection_is_asked_again_and_again():
    origin, proxy = world(*people(), *rules("allow user alice"))
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
    sockets = set()
    for who, wanted in ((None, 407), (ALICE, 200), (BOB, 403), (None, 407), (basic("alice", "x"), 407), (ALICE, 200)):
        connection.request("GET", origin.url + "/k", headers={name.replace("_", "-"): value for name, value in (who or {}).items()})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == wanted, (who, answer.status)
        sockets.add(connection.sock.getsockname())
    assert len(sockets) == 1
    connection.close()
    return origin, proxy


@test
def limits_are_kept():
    free = threading.Event()
    origin = Origin(lambda r: fresh(b"x" * 5000) if not r.path.startswith("/slow") else free.wait(20) and (200, [("Cache-Control", "no-store")], b"slow"))
    proxy = Proxy(POSY, *people(), *rules("allow user alice rate 2", "allow user bob connections 2", "allow user carol quota 20kB"))
    answers = [proxy.get(origin.url + "/", **ALICE) for _ in range(8)]
    refused = [each for each in answers if each[0] == 429]
    assert answers[0][0] == 200 and refused
    assert refused[0][1]["Retry-After"] == "1" and b"rule 1 of this proxy: more than 2 requests per second of one client" in refused[0][2]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(proxy.get, f"{origin.url}/slow{i}", **BOB) for i in range(2)]
        until(lambda: origin.count("/slow0") == origin.count("/slow1") == 1)
        status, _, body = proxy.get(origin.url + "/", **BOB)
        assert status == 429 and b"2 requests of one client are under way" in body, body
        free.set()
        assert all(each.result()[0] == 200 for each in waiting)
    until(lambda: proxy.get(origin.url + "/", **BOB)[0] == 200)
    for _ in range(4):
        assert proxy.get(origin.url + "/", **CAROL)[0] == 200
    status, fields, body = until(lambda: (got := proxy.get(origin.url + "/", **CAROL))[0] == 429 and got)
    assert 0 < int(fields["Retry-After"]) <= 86400 and b"20000 bytes per day" in body
    assert decided(proxy, 1, "limit") == len(refused) and decided(proxy, 3, "limit") == 1
    return origin, proxy


@test
def names_lead_where_they_may():
    origin = Origin(lambda r: fresh(b"here"))
    server = NameServer({"good.example": ["127.0.0.1"], "both.example": ["127.0.0.2", "127.0.0.1"], "bad.example": ["127.0.0.2"],
                         "six.example": ["::1"], "hidden.example": ["10.9.9.9"]}, ttl=0)
    proxy = Proxy(POSY, "--dns", server.address, *people(), destinations=(),
                  *rules("deny to 127.0.0.2,::1", "allow user alice to loopback", "allow from loopback"))

    def get(name, who=ALICE, path="/"):
        return proxy.get(f"http://{name}:{origin.port}{path}", **who)[::2]
    assert get("good.example") == (200, b"here")
    assert get("both.example") == (200, b"here")  # by the address that may be
    status, body = get("bad.example")
    assert status == 403 and b"rule 1" in body, body
    assert get("127.0.0.2")[0] == get("six.example")[0] == get("[::1]")[0] == get("127.2")[0] == get("[::ffff:127.0.0.2]")[0] == 403
    # Bob is allowed by a rule that opens no network, neither to fetch from there nor to see what Alice has fetched.
    for name in ("good.example", "127.0.0.1", "hidden.example"):
        status, body = get(name, BOB)
        assert status == 403 and b"this proxy does not connect to" in body, (name, body)
    assert get("gone.example")[0] == 502
    # A name that moves takes nobody along: neither a stored answer nor a kept connection.
    server.zone["good.example"] = ["127.0.0.2"]
    until(lambda: get("good.example", path="/new")[0] == 403)
    assert get("good.example")[0] == 403
    for target in (f"bad.example:{origin.port}", f"good.example:{origin.port}", f"[::1]:{origin.port}"):
        assert b" 403 " in exchange(proxy.port, f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Authorization: {ALICE['Proxy_Authorization']}\r\n"
                                    "Connection: close\r\n\r\n".encode())[0].split(b"\r\n")[0]
    return origin, server, proxy


@test
def clients_are_told_apart_by_address():
    origin = Origin(lambda r: fresh(b"here"))
    proxy = Proxy(POSY, "--listen", "[::1]:0", "--allow-client", "loopback",
                  *rules("allow from 127.0.0.1 rate 1", "allow from ::1 method HEAD", "deny from 127.0.0.0/8"))
    other = int(re.search(r"\[::1\]:(\d+)", "".join(proxy.log))[1])

    def get(source, port=None, method="GET"):
        with socket.create_connection(("::1", other) if source == "::1" else ("127.0.0.1", proxy.port), 30, (source, 0)) as s:
            s.sendall(f"{method} {origin.url}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            return int(s.makefile("rb").readline().split()[1])
    assert get("127.0.0.1") == 200
    assert 429 in [get("127.0.0.1") for _ in range(4)]
    assert get("127.0.0.2") == 403
    assert get("::1", method="HEAD") == 200 and get("::1") == 403
    return origin, proxy


@test
def sites_have_rules():
    site = Origin(lambda r: fresh(b"site"))
    proxy = Proxy(POSY, "--origin", f"www.example={site.url}", *people(), destinations=(),
                  *rules("deny user bob", "allow to www.example method GET,HEAD rate 3", "allow user *"))

    def visit(method="GET", **fields):
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        got = exchange(proxy.port, f"{method} / HTTP/1.1\r\nHost: www.example\r\n{lines}Connection: close\r\n\r\n".encode())[0]
        return int(got.split()[1]), got
    assert visit(Authorization="Basic Ym9iOmJ1aWxkZXI=")[0] == 200
    assert site.requests[0][2]["Authorization"] == "Basic Ym9iOmJ1aWxkZXI="  # the site's own
    status, got = visit("DELETE")
    assert status == 403 and b"Authenticate" not in got and len(site.requests) == 1
    assert 429 in [visit()[0] for _ in range(10)]
    # Behind a load balancer on this machine, visitors are told apart by what it says, and not by what they say before.
    assert 429 in [visit(X_Forwarded_For=f"10.0.0.{i}, 192.0.2.7")[0] for i in range(10)]
    assert visit(X_Forwarded_For="10.0.0.1, 192.0.2.8")[0] == visit(X_Forwarded_For="192.0.2.9, 127.0.0.3")[0] == 200
    return site, proxy


@test
def parents_get_no_passwords():
    origin = Origin(lambda r: fresh(b"far"))
    parent = Proxy(POSY)
    proxy = Proxy(POSY, "--parent", parent.url, *people(), *rules("deny to 127.0.0.2", "allow user alice", "deny"), destinations=())
    seen = Origin(lambda r: (200, [("Cache-Control", "no-store")], json.dumps(dict(r.headers)).encode()))
    loop = Proxy(POSY, "--parent", seen.url, *people(), *rules("allow user alice to loopback,*.example"), destinations=())
    status, _, body = loop.get("http://any.example/", **ALICE)
    assert status == 200 and "Proxy-Authorization" not in json.loads(body)
    assert loop.get("http://any.example/")[0] == 407
    assert proxy.get("http://127.0.0.2/", **ALICE)[0] == 403
    for each in (loop, seen, parent):
        each.close()
    return origin, proxy


@test
def the_token_of_the_nodes_stands_above_rules():
    origin, proxy = world("--token-file", file("secret", "of-all-nodes"), "--allow-client", "loopback", *people(), *rules("allow user bob"))
    assert proxy.get(origin.url + "/", Proxy_Authorization="Bearer of-all-nodes")[0] == 200
    assert proxy.get(origin.url + "/")[0] == 407
    # Rules are within what the networks admit.
    other = Proxy(POSY, "--token-file", file("secret", "of-all-nodes"), *rules("allow from loopback"))
    assert other.get(origin.url + "/")[0] == 403
    other.close()
    return origin, proxy


@test
def users_change_while_clients_are_served():
    options = people()
    origin, proxy = world(*options, *rules("allow user alice,dave"))
    stop, statuses = threading.Event(), []

    def browse():
        while not stop.is_set():
            statuses.append(proxy.get(origin.url + "/", **ALICE)[0])
    browsing = threading.Thread(target=browse)
    browsing.start()
    assert any("rule 1: there is no user 'dave'" in line for line in proxy.log)
    asked = []

    def dave():
        asked.append(proxy.get(origin.url + "/", **basic("dave", "pass word: ü"))[0])
        return asked[-1]
    assert dave() == 407
    known = open(options[1]).read().splitlines()
    for _ in range(5):
        file("users", *known, "dave:" + hashed("pass word: ü"))
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: dave() == 200)
        file("users", *known)
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: dave() == 407)
    file("users", *known, "eve:plain")
    proxy.process.send_signal(signal.SIGHUP)
    until(lambda: any("users:3: user 'eve': the password is not hashed" in line for line in proxy.log))
    stop.set()
    browsing.join()
    assert set(statuses) == {200} and len(statuses) > 10
    assert proxy.metric('posy_proxy_passwords_total{result="checked"}') <= len(asked) + 1  # alice was checked once: her line is the same
    file("users", "alice:" + hashed("new"))  # and now it is not
    proxy.process.send_signal(signal.SIGHUP)
    until(lambda: proxy.get(origin.url + "/", **ALICE)[0] == 407)
    until(lambda: proxy.get(origin.url + "/", **basic("alice", "new"))[0] == 200)  # the wrong ones before may have to be waited for
    return origin, proxy


@test
def what_is_wrong_is_said_at_the_start():
    users = people()[1]
    for options, wanted in (
            (rules("deny to x", "allow form x"), "--rule 2: 'form' is not a condition or a limit; write from, user"),
            (rules("allow user alice"), "--rule names users or groups; name the file of users"),
            ([*rules("allow"), "--users", users], "--users has no effect: no --rule names a user"),
            ([*rules("allow user *"), "--users", users + "-not"], "cannot be opened"),
            ([*rules("allow user *"), "--users", file("plain", "a:b")], "plain:1: user 'a': the password is not hashed"),
            ([*rules("allow group x"), "--users", users, "--groups", file("bad", "x y")], "bad:1: write GROUP: NAME")):
        said = posy("proxy", "--listen", "127.0.0.1:0", *options, status=2)
        assert wanted in said, said
    config = file("posy.toml", "[proxy]", "rule = [", '  "deny to *.ads.example",', '  "allow rate many",', "]")
    assert re.search(r"posy.toml:2:\d+: rule 2: 'many' is not a number", posy("proxy", "--config", config, "--check", status=2))
    good = file("good.toml", "[proxy]", 'rule = ["deny to *.ads.example", "allow user * rate 5"]', f'users = "{users}"')
    assert "OK" in posy("proxy", "--config", good, "--check")
    return ()


if __name__ == "__main__":
    run()
