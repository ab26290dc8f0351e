"""RFC 5861: stale answers while they are renewed, and where the origin fails.

Usage: rfc5861_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, fresh, get, not_modified, nothing, ok, rule, rules, run, stale, wire  # noqa: E402

WHILE, IF = "stale-while-revalidate=1000", "stale-if-error=1000"
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"


def still(step):
    """The first answer of the rule."""
    return step.expect(lambda h: h.answer.status == 200 and h.answer.body == h.said[0], "the stale answer")


# 3: stale-while-revalidate
rule("3", "a stale answer within the window is given at once, and renewed", get(says=stale(directives=WHILE)), still(get(says=fresh())).renewed())
rule(
    "3", "the renewal is conditional", get(says=stale(directives=WHILE)),
    still(get(says=not_modified('ETag: "v"', "Cache-Control: max-age=3600"))).renewed().expect(
        lambda h: ("If-None-Match", '"v"') in h.asked()[0].fields, "the stored ETag"))
rule("3", "beyond the window it waits for the origin", get(says=stale(directives="stale-while-revalidate=10")), get().forwarded())
rule("3", "a window that is no number is none", get(says=stale(directives="stale-while-revalidate=x")), get().forwarded())
rules("3", "… forbids it", ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=60"], lambda d:
      (get(says=stale(directives=WHILE + ", " + d)), get().forwarded()))
rules("3", "a client's … is not satisfied by it", ["no-cache", "max-age=60", "min-fresh=10"], lambda d:
      (get(says=stale(directives=WHILE)), get("Cache-Control: " + d).forwarded()))
rule("3", "a fresh answer is not renewed", get(says=ok("Cache-Control: max-age=100, " + WHILE)), get().stored())
rule("3", "the stale answer tells its real age", get(says=stale(directives=WHILE)),
     still(get(says=fresh())).expect(lambda h: int(dict(h.answer.fields)["Age"]) >= 120, "120 or more").renewed())
rule("3", "the client's own condition is judged by the stale answer", get(says=stale(directives=WHILE)),
     get('If-None-Match: "v"', says=fresh()).status(304).renewed())

# 4: stale-if-error, of the answer
rules("4", "a stale answer is better than a … within the window", [500, 502, 503, 504], lambda s:
      (get(says=stale(directives=IF)), still(get(says=answer(s)).forwarded())))
rules("4", "but not than a …", [400, 403, 404, 410, 501], lambda s: (get(says=stale(directives=IF)), get(says=answer(s)).forwarded().status(s)))
rule("4", "better than no answer", get(says=stale(directives=IF)), still(get(says=nothing()).failed(200)))
rule("4", "better than one that is no HTTP", get(says=stale(directives=IF)), still(get(says=wire(b"hello\r\n\r\n", close=True)).failed(200)))
rule("4", "beyond the window it is not", get(says=stale(directives="stale-if-error=10")), get(says=answer(503)).forwarded().status(503))
rule("4", "without a window it is not", get(says=stale()), get(says=answer(503)).forwarded().status(503))
rules("4", "… forbids it", ["must-revalidate", "proxy-revalidate", "s-maxage=60", "no-cache"], lambda d:
      (get(says=stale(directives=IF + ", " + d)), get(says=answer(503)).forwarded().status(503, 504)))
rule("4", "the origin is asked every time", get(says=stale(directives=IF)), still(get(says=answer(503)).forwarded()),
     still(get(says=answer(503)).forwarded()))
rule("4", "and its next good answer counts", get(says=stale(directives=IF)), still(get(says=answer(503)).forwarded()),
     get(says=fresh()).forwarded().status(200),
     get().stored())
rule("4", "a client's no-cache is not satisfied by it", get(says=stale(directives=IF)),
     get("Cache-Control: no-cache", says=answer(503)).forwarded().status(503))

# 4: stale-if-error, of the request
rule("4", "a client may ask for it itself, within what the answer permits", get(says=stale()),
     get("Cache-Control: stale-if-error=1000", says=answer(503)).forwarded().status(200, 503))
rule("4", "which does not lift must-revalidate", get(says=stale(directives="must-revalidate")),
     get("Cache-Control: stale-if-error=1000", says=answer(503)).forwarded().status(503, 504))

run()
