"""RFC 8246: answers that do not change while they are fresh.

Usage: rfc8246_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import fresh, get, head, not_modified, ok, rule, rules, run, stale  # noqa: E402

IMMUTABLE = ok("Cache-Control: max-age=3600, immutable", 'ETag: "v"', "Age: 100")

rule("2", "a fresh immutable answer is given unasked", get(says=IMMUTABLE), get().stored())
rule("2", "and confirmed unasked to a client that has it", get(says=IMMUTABLE), get('If-None-Match: "v"').refused(304))
rule("2", "HEAD as well", get(says=IMMUTABLE), head().refused(200))
rule("2", "a client's no-cache is a signal to ask all the same", get(says=IMMUTABLE),
     get("Cache-Control: no-cache", says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rule("2", "once stale it is validated like any other", get(says=stale(directives="immutable")),
     get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rule("2", "immutable gives no lifetime of its own", get(says=ok("Cache-Control: immutable", 'ETag: "v"')), get().forwarded())
rules("2", "immutable with an argument counts as without: …", ["immutable=x", 'immutable="x"', "IMMUTABLE"], lambda d:
      (get(says=ok("Cache-Control: max-age=3600, " + d, 'ETag: "v"')), get().stored()))
rules("2", "it does not lift …", ["no-store", "private", "no-cache"], lambda d:
      (get(says=fresh("Cache-Control: immutable, " + d)), get().forwarded()))
rule("2", "it is passed on",
     get(says=IMMUTABLE).has("Cache-Control: max-age=3600, immutable"),
     get().stored().has("Cache-Control: max-age=3600, immutable"))

run()
