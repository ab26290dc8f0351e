"""Proxies that share summaries, or ask everyone.

Usage: siblings_test.py POSY [test …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, status_of, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


@test
def siblings():
    origin = Origin(lambda r: fresh(r.path.encode() * 100))
    ports = [free_port(), free_port()]
    options = ["--items", "200", "--change", "0.01"]
    a = Proxy(POSY, *options, "--peer", f"b=http://127.0.0.1:{ports[1]}", name="a", port=ports[0])
    b = Proxy(POSY, *options, "--peer", f"a=http://127.0.0.1:{ports[0]}", name="b", port=ports[1])
    urls = [f"{origin.url}/{i}" for i in range(50)]
    for url in urls:
        a.get(url)

    def b_knows():
        return b.who(urls[-1])["peers"]
    until(b_knows)
    for url in urls:
        status, fields, body = b.get(url)
        assert body == url[len(origin.url):].encode() * 100
        assert status_of(fields).endswith("detail=a") and "a; hit" in ", ".join(fields.get_all("Cache-Status"))
    assert len(origin.requests) == 50 and b.result("sibling") == 50
    assert b.metrics()['posy_cache_objects{tier="memory"}'] == 0  # proxy-only
    # A false hit: what a's summary still names is gone. The origin answers, and the object is kept.
    a.kill()
    a.start()
    status, fields, body = b.get(urls[0])
    assert status == 200 and "stored" in status_of(fields)
    assert "; hit" in status_of(b.get(urls[0])[1])
    b.close()
    # With duplicate copies.
    keeping = Proxy(POSY, *options, "--keep-siblings", "--peer", f"a=http://127.0.0.1:{ports[0]}", name="c")
    a.get(urls[1])
    a.get(urls[2])
    a.get(urls[3])

    def c_knows():
        return keeping.who(urls[1])["peers"]
    until(c_knows)
    keeping.get(urls[1])
    assert "; hit" in status_of(keeping.get(urls[1])[1])
    keeping.close()
    return origin, a


@test
def siblings_change_their_hashes():
    """Other hashes every second, published by a share of the bits: what a sibling has is found throughout."""
    origin = Origin(lambda r: fresh(r.path.encode()))
    a = Proxy(POSY, "--items", "200", "--change-bits", "0.0001", "--hash", "siphash", "--rehash", "1s", name="a")
    b = Proxy(POSY, "--items", "200", "--peer", f"a={a.url}", name="b")
    urls = [f"{origin.url}/{i}" for i in range(50)]
    for url in urls:
        a.get(url)

    def b_knows_all():
        return all(b.who(url)["peers"] for url in urls)
    until(b_knows_all)

    def hashed_anew():
        assert b_knows_all()
        return a.metrics()["posy_set_rehashed_total"] >= 3
    until(hashed_anew)
    for url in urls:
        assert status_of(b.get(url)[1]).endswith("detail=a")
    assert len(origin.requests) == 50 and b.metrics()['posy_peer_answers_total{peer="a",kind="whole"}'] >= 4
    b.close()
    return origin, a


@test
def what_misleads_is_published():
    """With --misled 2, new objects are told when the second request has found one of them here, and not before."""
    origin = Origin(lambda r: fresh(r.path.encode()))
    a = Proxy(POSY, "--items", "200", "--misled", "2", "--interval", "3600", name="a")
    urls = [f"{origin.url}/{i}" for i in range(50)]
    for url in urls:
        a.get(url)
    before = a.metrics()["posy_set_generation"]
    a.get(urls[0])
    assert a.metrics()["posy_set_generation"] == before
    a.get(urls[0])
    assert a.metrics()["posy_set_generation"] == before + 1
    for url in urls:
        a.get(url)  # all of them are known now
    assert a.metrics()["posy_set_generation"] == before + 1
    b = Proxy(POSY, "--items", "200", "--peer", f"a={a.url}", name="b")

    def b_knows():
        return b.who(urls[-1])["peers"]
    until(b_knows)
    assert status_of(b.get(urls[-1])[1]).endswith("detail=a")
    b.close()
    return origin, a


@test
def asking_everyone():
    origin = Origin(lambda r: fresh(b"1"))
    a = Proxy(POSY, "--sharing", "ask", name="a")
    b = Proxy(POSY, "--sharing", "ask", "--peer", f"a={a.url}", name="b")
    a.get(origin.url + "/x?a=1&b=%20")
    assert status_of(b.get(origin.url + "/x?a=1&b=%20")[1]).endswith("detail=a")
    b.get(origin.url + "/y")
    assert b.result("sibling") == 1 and b.result("origin") == 1
    assert b.metrics()['posy_summary_sent_bytes_total{kind="question"}'] > 0
    a.close()
    return origin, b


run()
