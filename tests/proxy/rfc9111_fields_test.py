"""RFC 9111, section 5: Age, Cache-Control of requests and answers, Expires, Pragma, Warning.

Usage: rfc9111_fields_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, fresh, get, not_modified, nothing, ok, rule, rules, run, stale  # noqa: E402

OLD = "Age: 1800"

# 5.1: Age
rules("5.1", "an Age that is no number is ignored: …", ["abc", "-100", "1.5e9", "", "0x10000"], lambda value:
      (get(says=fresh("Age: " + value)), get().stored()))
rule("5.1", "of several values the first counts, or the answer is stale", get(says=fresh("Age: 7200, 0")), get())
rule("5.1", "an Age beyond any number is as old as can be", get(says=fresh("Age: 99999999999999999999")), get())
rule("5.1", "an answer that was just made has no Age before the origin's own", get(says=fresh("Age: 12")).has("Age: 12"))

# 5.2: Cache-Control as a list
rules("5.2", "directives are found in any form of list: …",
      ["no-store,max-age=100", "max-age=100 ,\tno-store", ", ,no-store", "x, NO-STORE", 'x="a, max-age=1", no-store'], lambda value:
      (get(says=ok("Cache-Control: " + value, "Expires: {in:100}")), get()))
rule("5.2", "a directive that the cache does not know is ignored", get(says=ok("Cache-Control: community=\"x\", max-age=100")), get().stored())
rule("5.2", "a proxy passes directives on, whether it keeps to them or not",
     get("Cache-Control: x-unknown, max-age=5", says=fresh()).forwarded("Cache-Control: x-unknown, max-age=5"),
     get("X: 1").stored().has("Cache-Control: max-age=3600"))

# 5.2.1: of requests
rule("5.2.1.1", "max-age of a request below the age: the origin is asked", get(says=fresh(OLD)), get("Cache-Control: max-age=1000"))
rule("5.2.1.1", "above it: the stored answer", get(says=fresh(OLD)), get("Cache-Control: max-age=2000").stored())
rule("5.2.1.1", "max-age=0 always asks", get(says=fresh("Age: 1")), get("Cache-Control: max-age=0"))
rule("5.2.1.2", "max-stale may be refused, never exceeded", get(says=stale()), get("Cache-Control: max-stale=10"))
rule("5.2.1.2", "max-stale does not lift must-revalidate", get(says=stale(directives="must-revalidate")), get("Cache-Control: max-stale"))
rule("5.2.1.3", "min-fresh beyond what is left: the origin is asked", get(says=fresh(OLD)), get("Cache-Control: min-fresh=2000"))
rule("5.2.1.3", "within it: the stored answer", get(says=fresh(OLD)), get("Cache-Control: min-fresh=1000").stored())
rules("5.2.1.4", "… in a request asks the origin first", ["Cache-Control: no-cache", "Cache-Control: x, No-Cache", "Cache-Control: no-cache=x"],
      lambda line: (get(says=fresh()), get(line)))
rule("5.2.1.4", "which may confirm what is stored", get(says=fresh('ETag: "v"')),
     get("Cache-Control: no-cache", says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rule("5.2.1.5", "no-store in a request: its answer is not stored", get("Cache-Control: no-store", says=fresh()), get())
rule("5.2.1.6", "no-transform is passed on", get("Cache-Control: no-transform", says=fresh()).forwarded("Cache-Control: no-transform"))
rule("5.2.1.7", "only-if-cached with nothing stored is a 504", get("Cache-Control: only-if-cached").refused(504))
rule("5.2.1.7", "with something stored it is that", get(says=fresh()), get("Cache-Control: only-if-cached").stored())
rule("5.2.1.7", "with something stale it is a 504", get(says=stale()), get("Cache-Control: only-if-cached").refused(504))

# 5.2.2: of answers
rule("5.2.2.2", "must-revalidate: a stale answer is confirmed before use", get(says=stale(directives="must-revalidate")),
     get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rule("5.2.2.2", "must-revalidate and no origin: an error, a 504 at best", get(says=stale(directives="must-revalidate, stale-if-error=1000")),
     get(says=nothing()).failed())
rule("5.2.2.2", "must-revalidate does not keep a fresh answer from use", get(says=ok("Cache-Control: max-age=100, must-revalidate")), get().stored())
rules(
    "5.2.2.4", "… asks the origin before every use", ["no-cache", "max-age=100, no-cache", "NO-CACHE, max-age=100"], lambda value:
    (get(says=ok("Cache-Control: " + value, 'ETag: "v"')), get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'),
     get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"')))
rule(
    "5.2.2.4", "no-cache with names: those fields are not given from the store unasked",
    get(says=ok('Cache-Control: max-age=100, no-cache="X-Secret"', "X-Secret: 1")).has("X-Secret: 1"),
    get("X: 1").expect(lambda h: len(h.received) == 1 or "X-Secret" not in dict(h.answer.fields),
                       "asked, or without the field").asks(0, "from the store"))
rule("5.2.2.5", "no-store keeps an answer off the store, and does not remove an older one from sight of the origin",
     get(says=ok("Cache-Control: no-store, max-age=100")), get())
rule("5.2.2.6", "no-transform: coded and stored as it came",
     get(says=fresh("Cache-Control: no-transform", "Content-Encoding: gzip", "Warning: 1", body=b"not gzip")),
     get().stored().has("Content-Encoding: gzip").with_body(b"not gzip"))
rule(
    "5.2.2.7", "private with names: those fields are not stored for others",
    get(says=ok('Cache-Control: max-age=100, private="X-Mine"', "X-Mine: 1", "X-All: 1")).has("X-Mine: 1"),
    get("X: 1").expect(lambda h: len(h.received) == 1 or "X-Mine" not in dict(h.answer.fields),
                       "asked, or without the field").asks(0, "from the store"))
rule("5.2.2.8", "proxy-revalidate: a stale answer is confirmed before use",
     get(says=stale(directives="proxy-revalidate, stale-while-revalidate=1000")),
     get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rule("5.2.2.9", "public makes an answer to Authorization common", get("Authorization: x", says=ok("Cache-Control: public, max-age=100")),
     get().stored())
rule("5.2.2.10", "s-maxage includes proxy-revalidate",
     get(says=ok("Cache-Control: s-maxage=60, stale-if-error=1000, stale-while-revalidate=1000", "Age: 120", 'ETag: "v"')),
     get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rules("5.2.2.10", "s-maxage counts before max-age, however they are ordered: …", ["s-maxage=100, max-age=1", "max-age=1, s-maxage=100"], lambda value:
      (get(says=ok("Cache-Control: " + value, "Age: 50")), get().stored()))
rule("5.2.2.10", "an s-maxage that is no number is stale", get(says=ok("Cache-Control: s-maxage=x, max-age=100")), get())
rule("5.2.3", "an extension beside a directive does not change it", get(says=ok("Cache-Control: no-store, community=UCI")), get())
rule("5.2", "an argument without quotes is read like one in quotes", get(says=ok('Cache-Control: max-age="100"', "Age: 50")), get().stored())

# 5.3: Expires
rules("5.3", "a date in any of the three forms: …", ["Sun, 06 Nov 2094 08:49:37 GMT", "Sat Nov  6 08:49:37 2094"], lambda date:
      (get(says=ok("Expires: " + date)), get().stored()))
rules("5.3", "what is no date has passed: …",
      ["0", "never", "Sun, 99 Nov 2094 08:49:37 GMT", "Sun, 06 Nov 2094 25:49:37 GMT", "2094-11-06", "Sun, 06 Nov 2094 08:49:37 PST"], lambda date:
      (get(says=ok("Expires: " + date, "Last-Modified: {ago:864000}")), get()))
rule("5.3", "Expires equal to Date has passed", get(says=ok("Date: {ago:0}", "Expires: {ago:0}")), get())
rule("5.3", "a cache does not add an Expires", get(says=fresh()), get().stored().lacks("Expires"))

# 5.4: Pragma
rule("5.4", "Pragma: no-cache counts where there is no Cache-Control", get(says=fresh()), get("Pragma: no-cache"))
rule("5.4", "Pragma counts for nothing beside Cache-Control", get(says=fresh()), get("Pragma: no-cache", "Cache-Control: max-age=3600").stored())
rule("5.4", "Pragma in an answer has no meaning", get(says=fresh("Pragma: no-cache")), get().stored().has("Pragma: no-cache"))

# 5.5: Warning is obsolete
rule("5.5", "no Warning is made", get(says=stale(directives="stale-if-error=1000")), get(says=answer(503)).forwarded().status(200).lacks("Warning"))

run()
