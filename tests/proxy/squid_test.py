"""A real Squid as a sibling, both ways.

1. Squid answers from our cache: it fetches our digest, and of the URLs that we hold at least 95 % are sibling
   hits in its log (CD_SIBLING_HIT).
2. We answer from Squid's cache through its digest.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from squid import Squid, in_digest  # noqa: E402
from waiting import until  # noqa: E402

URLS, PROBES = 450, 500


def squid_takes_from_us():
    origin = Origin(lambda r: fresh(r.path.encode() * 50))
    proxy = Proxy(POSY, "--items", "1000", "--change", "0.01", "--host-name", "posysibling",
                  "--allow-peer", "loopback")  # Squid asks for the digest with Via: what this machine has by default does not count
    urls = [f"{origin.url}/object/{i}" for i in range(URLS)]
    probes = [f"{origin.url}/probe/{i}" for i in range(PROBES)]
    for url in urls + probes:
        assert proxy.get(url)[0] == 200
    assert proxy.metrics()["posy_set_items"] == URLS + PROBES
    squid = Squid(sibling_port=proxy.port)
    try:
        # The first miss makes Squid fetch the digest of its sibling, which it uses some time later.
        squid.get(f"{origin.url}/first")

        def digest_fetched():
            return proxy.metrics()['posy_summary_sent_bytes_total{kind="squid"}'] > 0
        until(digest_fetched, 30)
        left = iter(probes)

        def digest_used():
            squid.get(next(left))
            return any(hierarchy.startswith("CD_SIBLING_HIT") for _, _, hierarchy in squid.codes())
        until(digest_used, 60)
        before = len(origin.requests)
        for url in urls:
            status, _, body = squid.get(url)
            assert status == 200 and body == url[len(origin.url):].encode() * 50, (status, url)

        def all_logged():
            return {url for _, url, _ in squid.codes()} >= set(urls)
        until(all_logged)
        codes = {url: hierarchy.split("/")[0] for _, url, hierarchy in squid.codes()}
        hits = sum(codes.get(url) == "CD_SIBLING_HIT" for url in urls)
        fetched = len(origin.requests) - before
        print(f"Squid took {hits} of {URLS} from us (CD_SIBLING_HIT); {fetched} went to the origin")
        assert hits >= 0.95 * URLS, codes
        # What we do not have we refuse, and Squid goes to the origin.
        status, _, body = squid.get(f"{origin.url}/elsewhere")
        assert status == 200 and body.startswith(b"/elsewhere")
    finally:
        squid.close()
        proxy.close()
        origin.close()


def we_take_from_squid():
    origin = Origin(lambda r: fresh(r.path.encode() * 50))
    squid = Squid()
    urls = [f"{origin.url}/object/{i}" for i in range(URLS)]
    proxy = None
    try:
        for url in urls:
            assert squid.get(url)[0] == 200

        def digest_written():  # every two seconds, here
            digest = squid.get(f"http://127.0.0.1:{squid.port}/squid-internal-periodic/store_digest")[2]
            return sum(in_digest(digest, url) for url in urls) >= 0.98 * URLS
        until(digest_written, 60)
        proxy = Proxy(POSY, "--peer", f"squid:old=http://127.0.0.1:{squid.port}")

        def digest_held():
            return proxy.metrics().get('posy_peer_summary_items{peer="old"}', 0) >= URLS * 0.9
        until(digest_held, 40)
        before = len(origin.requests)
        for url in urls:
            status, fields, body = proxy.get(url)
            assert status == 200 and body == url[len(origin.url):].encode() * 50
        hits = proxy.result("sibling")
        fetched = len(origin.requests) - before
        print(f"we took {hits:.0f} of {URLS} from Squid; {fetched} went to the origin")
        assert hits >= 0.95 * URLS
        assert proxy.get(f"{origin.url}/elsewhere")[2].startswith(b"/elsewhere")
    finally:
        if proxy:
            proxy.close()
        squid.close()
        origin.close()


def sooner_or_later(way):
    """When Squid fetches and uses a digest is its own affair: on a busy machine it has three tries."""
    for left in (2, 1, 0):
        try:
            return way()
        except AssertionError as failed:
            if not left:
                raise
            print(f"again: {failed}")


sooner_or_later(squid_takes_from_us)
sooner_or_later(we_take_from_squid)
