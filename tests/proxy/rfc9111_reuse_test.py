"""RFC 9111, section 4: how an answer is constructed from stored ones: freshness, ages, variants, validation, invalidation.

Usage: rfc9111_reuse_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, ask, fresh, get, head, not_modified, nothing, ok, rule, rules, run, stale, wire  # noqa: E402


def age(happened):
    return int(dict(happened.answer.fields)["Age"])


CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"

# 4: constructing answers
rule("4", "an answer from the store has an Age", get(says=fresh()), get().stored().has("Age"))
rule("4", "its Age replaces the one that came", get(says=fresh("Age: 100")), get().stored().expect(lambda h: 100 <= age(h) < 110, "one Age of 100"))
rule("4", "unsafe methods are written through", get(says=fresh()),
     ask("POST", body=b"x", says=ok()).forwarded(),
     ask("DELETE", says=ok()).forwarded())
rule("4", "the newest of several stored answers is used", get(says=fresh()), get("Cache-Control: no-cache", says=fresh()).forwarded(), get().stored())
rule("4", "a forced reload that fails does not remove what is stored", get(says=fresh()),
     get("Cache-Control: no-cache", says=answer(503)).status(503),
     get().stored(0))

# 4.1: Vary
rule("4.1", "the same value of a field in Vary selects the stored answer", get("X-V: a", says=fresh("Vary: X-V")), get("X-V: a").stored())
rule("4.1", "another value does not", get("X-V: a", says=fresh("Vary: X-V")), get("X-V: b"))
rule("4.1", "a field that is missing now does not match", get("X-V: a", says=fresh("Vary: X-V")), get())
rule("4.1", "a field that was missing then does not match", get(says=fresh("Vary: X-V")), get("X-V: a"))
rule("4.1", "a field that was and is missing matches", get(says=fresh("Vary: X-V")), get().stored())
rule("4.1", "all fields of Vary must match", get("X-V: a", "X-W: a", says=fresh("Vary: X-V, X-W")), get("X-V: a", "X-W: b"))
rule("4.1", "Vary in two lines is one list", get("X-V: a", "X-W: a", says=fresh("Vary: X-V", "Vary: X-W")), get("X-V: a", "X-W: b"))
rule("4.1", "names in Vary have no case", get("X-V: a", says=fresh("Vary: x-v")), get("X-V: b").forwarded(), get("x-v: b").stored())
rule("4.1", "several variants are stored side by side", get("X-V: a", says=fresh("Vary: X-V")), get("X-V: b", says=fresh("Vary: X-V")),
     get("X-V: a").stored(0),
     get("X-V: b").stored(1))
rule("4.1", "lines of a request field may be combined before they are compared", get("X-V: a", "X-V: b", says=fresh("Vary: X-V")),
     get("X-V: a, b").stored())
rules("4.1", "Vary: * never matches: …", ["Vary: *", "Vary: X-V, *", "Vary: *, X-V"], lambda line: (get(says=fresh(line)), get()))
rule("4.1", "an answer without Vary is the newest for all, if it came last", get("X-V: a", says=fresh("Vary: X-V")), get("X-V: b", says=fresh()),
     get("X-V: b").stored(1))
rule("4.1", "of two that match the one with the later Date is used", get("X-V: a", says=fresh("Vary: X-V", "Date: {ago:50}")),
     get("X-V: a", "Cache-Control: no-cache", says=fresh("Vary: X-V")),
     get("X-V: a").stored(1))
rule("4.1", "another variant does not confirm the wrong one", get("X-V: a", says=fresh("Vary: X-V", 'ETag: "a"')),
     get("X-V: b", says=ok("Vary: X-V", 'ETag: "b"')).forwarded().status(200))

# 4.2 and 4.2.1: freshness
rules("4.2.1", "… makes it fresh", [
    "Cache-Control: s-maxage=100, max-age=1", "Cache-Control: max-age=100", "Cache-Control: MaX-aGe=100", "Cache-Control: max-age=0100",
    'Cache-Control: max-age="100"', "Cache-Control: max-age=2147483648", "Cache-Control: max-age=99999999999999999999",
    "Cache-Control: x=\"max-age=1\", max-age=100", "Expires: {in:100}"
], lambda line: (get(says=ok(line, *(["Age: 50"] if "Cache" in line else []))), get().stored()))
rules("4.2.1", "… does not", [
    "Cache-Control: max-age=0", "Cache-Control: s-maxage=0, max-age=100", "Cache-Control: max-age=", "Cache-Control: max-age",
    "Cache-Control: max-age=-100", "Cache-Control: max-age=a", "Cache-Control: max-age=0.5", "Cache-Control: max-age=1.0e3",
    "Cache-Control: max-age='100'", "Expires: {ago:100}", "Expires: 0", "Expires: -1", "Expires: soon", "Cache-Control: x=\"max-age=100\""
], lambda line: (get(says=ok(line)), get()))
rule("4.2.1", "s-maxage counts before Expires", get(says=ok("Cache-Control: s-maxage=100", "Expires: {ago:100}")), get().stored())
rule("4.2.1", "max-age counts before Expires", get(says=ok("Cache-Control: max-age=100", "Expires: {ago:100}")), get().stored())
rule("4.2.1", "a short max-age counts before a long Expires", get(says=ok("Cache-Control: max-age=0", "Expires: {in:100}")), get())
rule("4.2.1", "of two different max-age the answer is stale or has the first, never the longer",
     get(says=ok("Cache-Control: max-age=1, max-age=100", "Age: 50")), get())
rule("4.2.1", "Expires is a lifetime from Date on, not a time of our clock", get(says=ok("Date: {ago:1000}", "Expires: {ago:900}")), get())
rule("4.2.1", "two different Expires are stale or the first, never the later", get(says=ok("Expires: {ago:10}", "Expires: {in:1000}")), get())

# 4.2.2: heuristics
rule("4.2.2", "a heuristic is not used where an explicit lifetime has run out", get(says=ok("Last-Modified: {ago:864000}", "Expires: {ago:10}")),
     get())
rule("4.2.2", "the heuristic is no more than a part of the time since the last change", get(says=ok("Last-Modified: {ago:1000}", "Age: 500")), get())
rules("4.2.2", "… has a heuristic lifetime", [203, 204, 300, 301, 404, 405, 410, 414, 501], lambda status:
      (get(says=answer(status, "Last-Modified: {ago:864000}", "Location: /x")), get().refused(status)))
rule("4.2.2", "there is none for a Last-Modified in the future", get(says=ok("Last-Modified: {in:864000}")), get())
rule("4.2.2", "there is none with no-cache", get(says=ok("Cache-Control: no-cache", "Last-Modified: {ago:864000}")), get())

# 4.2.3: ages
rule("4.2.3", "an Age that exceeds the lifetime makes it stale", get(says=ok("Cache-Control: max-age=100", "Age: 101")), get())
rule("4.2.3", "an Age below the lifetime does not", get(says=ok("Cache-Control: max-age=100", "Age: 50")), get().stored())
rule("4.2.3", "a Date in the past counts as an age", get(says=ok("Cache-Control: max-age=100", "Date: {ago:200}")), get())
rule("4.2.3", "the larger of Age and the age by Date counts", get(says=ok("Cache-Control: max-age=1000", "Date: {ago:100}", "Age: 300")),
     get().stored().expect(lambda h: 300 <= age(h) < 320, "an age of 300"))
rule("4.2.3", "a Date in the future is no negative age", get(says=ok("Cache-Control: max-age=100", "Date: {in:1000}", "Age: 101")), get())
rule("4.2.3", "an answer without Date is as old as its arrival", get(says=ok("Cache-Control: max-age=100", "Date:")),
     get().stored().expect(lambda h: age(h) < 10, "young"))
rule("4.2.3", "the age goes on from the Age that came", get(says=fresh("Age: 600")),
     get().stored().expect(lambda h: 600 <= age(h) < 620, "an age of 600"))

# 4.2.4: stale answers
rule("4.2.4", "a stale answer is not used unasked", get(says=stale()), get().forwarded())
rules("4.2.4", "… forbids a stale answer when the origin fails", ["must-revalidate", "proxy-revalidate", "s-maxage=60", "no-cache"], lambda d:
      (get(says=stale(directives="stale-if-error=1000, " + d)), get(says=nothing()).failed()))
rule("4.2.4", "nor with no-cache in the request", get(says=stale(directives="stale-if-error=1000")),
     get("Cache-Control: no-cache", says=nothing()).failed())

# 4.3: validation
rule("4.3.1", "the stored ETag goes into If-None-Match", get(says=stale()), get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rule("4.3.1", "a weak one as well", get(says=ok("Cache-Control: max-age=0", 'ETag: W/"w"')),
     get(says=not_modified()).validated('If-None-Match: W/"w"'))
rule("4.3.1", "the stored Last-Modified goes into If-Modified-Since", get(says=ok("Cache-Control: max-age=0", "Last-Modified: {ago:864000}")),
     get(says=not_modified()).validated("If-Modified-Since: {ago:864000}"))
rule("4.3.1", "all that is stored is asked without validators if there are none", get(says=ok("Cache-Control: max-age=0")),
     get().forwarded(without=("If-None-Match", "If-Modified-Since")))

rules("4.3.2", "a stored answer with the client's ETag is a 304: …", ['"v"', 'W/"v"', '"x", "v"', '"x" , W/"v"', "*", '"a,b", "v"'], lambda tags:
      (get(says=fresh('ETag: "v"')), get("If-None-Match: " + tags).refused(304).has('ETag: "v"')))
rules("4.3.2", "one with another is the stored answer: …", ['"x"', 'W/"x"', '"V"', '"x", "y"'], lambda tags:
      (get(says=fresh('ETag: "v"')), get("If-None-Match: " + tags).stored().status(200)))
rule("4.3.2", "If-None-Match in two lines is one list", get(says=fresh('ETag: "v"')), get('If-None-Match: "x"', 'If-None-Match: "v"').refused(304))
rule("4.3.2", "a weak stored ETag matches a strong one of the client", get(says=fresh('ETag: W/"v"')), get('If-None-Match: "v"').refused(304))
rule("4.3.2", "If-None-Match counts before If-Modified-Since", get(says=fresh('ETag: "v"', "Last-Modified: {ago:1000}")),
     get('If-None-Match: "x"', "If-Modified-Since: {ago:10}").stored().status(200))
rule("4.3.2", "a stored answer that has not changed since is a 304", get(says=fresh("Last-Modified: {ago:1000}")),
     get("If-Modified-Since: {ago:1000}").refused(304))
rule("4.3.2", "nor has it since later dates", get(says=fresh("Last-Modified: {ago:1000}")), get("If-Modified-Since: {ago:10}").refused(304))
rule("4.3.2", "one that has changed since is given whole", get(says=fresh("Last-Modified: {ago:1000}")),
     get("If-Modified-Since: {ago:2000}").stored().status(200))
rule("4.3.2", "a date that is none is ignored", get(says=fresh("Last-Modified: {ago:1000}")),
     get("If-Modified-Since: yesterday").stored().status(200))
rule("4.3.2", "a client's If-Match that is forwarded is the origin's to judge", get(says=stale()),
     get('If-Match: "z"', says=answer(412)).forwarded('If-Match: "z"').status(412))
rule("4.3.2", "HEAD with the stored ETag is a 304, too", get(says=fresh('ETag: "v"')), head('If-None-Match: "v"').refused(304))
rules(
    "4.3.2", "a 304 of ours has …", ["Cache-Control: max-age=3600", "Content-Location: /c", "ETag: \"v\"", "Vary: X-V", "Expires: {in:3600}"],
    lambda line:
    (get(says=ok("Cache-Control: max-age=3600", line, *([] if "ETag" in line else ['ETag: "v"']))), get('If-None-Match: "v"').refused(304).has(line)))
rule("4.3.2", "a client's condition goes to the origin if nothing is stored, and its 304 to the client",
     get('If-None-Match: "c"', says=not_modified('ETag: "c"')).forwarded('If-None-Match: ~"c"').status(304))
rule("4.3.2", "such a 304 is not stored as an answer for all",
     get('If-None-Match: "c"', says=not_modified('ETag: "c"', "Cache-Control: max-age=3600")).status(304),
     get(says=fresh()).forwarded().status(200))
rule("4.3.2", "a client that has the renewed answer is told so", get(says=stale()),
     get('If-None-Match: "n"', says=ok('ETag: "n"', "Cache-Control: max-age=60")).forwarded().status(200, 304))

rule("4.3.3", "a 304 makes the stored answer fresh again", get(says=stale()),
     get(says=not_modified("Cache-Control: max-age=3600", 'ETag: "v"')).validated(),
     get().stored())
rule("4.3.3", "an answer with a body replaces it", get(says=stale()), get(says=fresh()).forwarded().status(200), get().stored())
rules("4.3.3", "a … to a validation goes to the client, or the stored answer where that may be", [500, 502, 503, 504], lambda status:
      (get(says=stale(directives="must-revalidate")), get(says=answer(status)).forwarded().status(status, 504)))
rule("4.3.3", "an error does not replace what was stored", get(says=stale()),
     get(says=answer(500)).forwarded(),
     get(says=not_modified('ETag: "v"')).validated(which=0))
rule("4.3.3", "an answer that is cut off does not replace what was stored", get(says=stale()),
     get(says=wire(CUT, close=True)).forwarded(),
     get(says=not_modified('ETag: "v"')).forwarded('If-None-Match: "v"'))

rule(
    "4.3.4", "a 304 with another strong ETag does not renew what is stored", get(says=stale()),
    get(says=[not_modified('ETag: "other"', "Cache-Control: max-age=3600"),
              fresh('ETag: "other"')]).expect(lambda h: len(h.received) >= 1, "the origin is asked").forwarded(times=2).expect(
                  lambda h: h.answer.status == 200 and h.answer.body == h.said[-1], "the new answer"))
rule("4.3.4", "a 304 without validators renews the only one that is stored", get(says=stale()),
     get(says=not_modified("Cache-Control: max-age=3600")).validated(),
     get().stored())
rule("4.3.4", "the age starts again with a 304", get(says=stale()),
     get(says=not_modified("Cache-Control: max-age=3600", 'ETag: "v"')).validated(),
     get().stored().expect(lambda h: age(h) < 20, "a new age"))
rule("4.3.4", "a 304 without a lifetime of its own renews the stored one", get(says=ok("Cache-Control: max-age=60", "Age: 120", 'ETag: "v"')),
     get(says=not_modified('ETag: "v"')).validated(),
     get().stored())
rule("4.3.4", "a 304 may shorten the lifetime", get(says=stale()),
     get(says=not_modified("Cache-Control: max-age=0", 'ETag: "v"')).validated(),
     get(says=not_modified('ETag: "v"')).validated())
rule("4.3.4", "a 304 may forbid to store it any longer", get(says=stale()),
     get(says=not_modified("Cache-Control: no-store", 'ETag: "v"')).validated(),
     get(says=fresh()).forwarded())

# 4.3.5: what an answer to HEAD says of the stored answer
rule("4.3.5", "a 200 to HEAD with the same validator makes it fresh", get(says=stale()), head(says=fresh('ETag: "v"')), get().stored(0))
rule("4.3.5", "and updates its fields", get(says=stale("X-A: 1", "X-B: 1")), head(says=fresh('ETag: "v"', "X-A: 2")),
     get().stored(0).has("X-A: 2", "X-B: 1", "Content-Length: 8"))
rule("4.3.5", "one without validators does, too", get(says=stale()), head(says=fresh()), get().stored(0))
rules("4.3.5", "one with … makes it stale", ['ETag: "w"', "Content-Length: 9", "Last-Modified: {ago:500}"], lambda line:
      (get(says=fresh('ETag: "v"', "Last-Modified: {ago:1000}")), head("Cache-Control: no-cache", says=fresh(line)),
       get(says=fresh()).forwarded('If-None-Match: "v"')))
rules("4.3.5", "a … to HEAD changes nothing", [404, 410, 500, 503], lambda status:
      (get(says=fresh('ETag: "v"')), head("Cache-Control: no-cache", says=answer(status, 'ETag: "w"')), get().stored(0)))
rule("4.3.5", "nor does a 200 that may be for one client alone", get(says=fresh('ETag: "v"')),
     head("Cache-Control: no-cache", "Authorization: Basic eDp5", says=fresh('ETag: "w"')),
     get().stored(0))
rule("4.3.5", "a HEAD that finds nothing stored stores nothing", head(says=fresh('ETag: "v"')), get(says=fresh('ETag: "v"')).forwarded())
rule("4.3.5", "no-store in an answer to HEAD ends the storing", get(says=stale()), head(says=ok("Cache-Control: no-store", 'ETag: "v"')),
     get(says=fresh()).forwarded(without="If-None-Match"))
rule("4.3.5", "only the variant that HEAD asked for is meant", get("X-V: a", says=fresh("Vary: X-V", 'ETag: "a"')),
     get("X-V: b", says=fresh("Vary: X-V", 'ETag: "b"')),
     head("X-V: b", "Cache-Control: no-cache", says=fresh("Vary: X-V", 'ETag: "c"')),
     get("X-V: a").stored(0))

# 4.4: invalidation
rules("4.4", "… invalidates what is stored of its URI", ["POST", "PUT", "DELETE", "PATCH", "FROBNICATE"], lambda method:
      (get(says=fresh()), ask(method, body=b"x", says=ok()), get(says=fresh()).forwarded()))
rules("4.4", "a … to an unsafe method counts as success", [200, 201, 202, 204, 205, 301, 303, 302, 307], lambda status:
      (get(says=fresh()), ask("POST", body=b"x", says=answer(status)), get(says=fresh()).forwarded()))
rules("4.4", "a … to an unsafe method changes nothing", [400, 403, 404, 409, 412, 500, 503], lambda status:
      (get(says=fresh()), ask("POST", body=b"x", says=answer(status)), get().stored(0)))
rule("4.4", "a safe method invalidates nothing", get(says=fresh()), ask("OPTIONS", says=ok()), get().stored(0))
rules(
    "4.4", "the URI in … is invalidated if it is of the same origin", ["Location", "Content-Location"], lambda name:
    (get(path="other", says=fresh()), ask("POST", body=b"x", says=answer(201, name + ": {url}other")), get(path="other", says=fresh()).forwarded()))
rules(
    "4.4", "a relative … as well", ["Location", "Content-Location"], lambda name:
    (get(path="other", says=fresh()), ask("POST", body=b"x", says=answer(201, name + ": other")), get(path="other", says=fresh()).forwarded()))
rules(
    "4.4", "… of another origin invalidates nothing", ["Location", "Content-Location"],
    lambda name: (get(path="other", says=fresh()), ask("POST", body=b"x", says=answer(201, name + ": http://elsewhere.example{path}other")),
                  get(path="other").stored(0)))
rule("4.4", "all variants are invalidated", get("X-V: a", says=fresh("Vary: X-V")), get("X-V: b", says=fresh("Vary: X-V")),
     ask("POST", body=b"x", says=ok()),
     get("X-V: a", says=fresh()).forwarded())

run()
