"""A real Squid: posy asks the digest that it publishes. That Squid reads those of Posy is in proxy/squid_test.py.

Usage: squid_peer_test.py POSY [unittest arguments]
"""
import json

from harness import ToolTest, main, until
from origins import Origin, fresh
from squid import Squid, in_digest

URLS = 120


class SquidPeer(ToolTest):
    def test_posy_asks_the_digest_of_squid(self):
        origin, squid = Origin(lambda request: fresh(request.path.encode() * 50)), Squid()
        self.addCleanup(origin.close)
        self.addCleanup(squid.close)
        urls = [f"{origin.url}/object/{i}" for i in range(URLS)]
        others = [f"{origin.url}/other/{i}" for i in range(20_000)]
        for url in urls:
            self.assertEqual(squid.get(url)[0], 200)

        def digest_with_most():  # Squid leaves out what is about to expire, and writes one every two seconds here
            digest = squid.get(f"http://127.0.0.1:{squid.port}/squid-internal-periodic/store_digest")[2]
            return digest if sum(in_digest(digest, url) for url in urls) >= 0.98 * URLS else None
        digest = until(digest_with_most, 60)
        self.write("digest", digest)
        self.write("asked", "\n".join(urls + others) + "\n")
        found = self.posy("query", "digest", "asked").decode().splitlines()
        self.assertEqual(found, [url for url in urls + others if in_digest(digest, url)])
        about = json.loads(self.posy("info", "--json", "digest"))
        self.assertEqual(about["kind"], "squid")
        # A sum of 20,000 lookups: six standard deviations are one false alarm in 500 million.
        wrong, expected = len(found) - len(set(found) & set(urls)), about["false_positive_rate"] * len(others)
        self.assertLess(abs(wrong - expected), 6 * expected ** 0.5 + 1)
        self.assertEqual(self.posy("convert", "digest", "--to", "squid"), digest)


if __name__ == "__main__":
    main()
