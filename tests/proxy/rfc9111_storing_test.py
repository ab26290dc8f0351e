"""RFC 9111, sections 2 and 3: what a shared cache may store, and what it stores.

Usage: rfc9111_storing_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, ask, fresh, get, head, not_modified, ok, rule, rules, run, stale, wire  # noqa: E402

# 2: the key is the method and the whole URI
rule("2", "a stored answer is used again", get(says=fresh()), get().stored())
rule("2", "another path is another answer", get(says=fresh()), get(path="other"))
rule("2", "another query is another answer", get(path="?a=1", says=fresh()), get(path="?a=2"))
rule("2", "an empty query is not the same as none", get(path="x", says=fresh()), get(path="x?"))
rule("2", "the path is compared with its case", get(path="a", says=fresh()), get(path="A"))
rule("2", "a fresh answer does not wait for a failing origin", get(says=fresh()), get(says=wire(b"", close=True)).stored())

# 3: when an answer may be stored
rules("3", "an answer to … is not stored for GET", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"], lambda method:
      (ask(method, body=b"x", says=fresh()), get()))
rule("3", "a method that the cache does not know is forwarded every time", ask("FROBNICATE", says=fresh()), ask("FROBNICATE"))
rules("3", "an answer with an explicit lifetime is stored whatever its final status: …",
      [200, 203, 300, 301, 302, 307, 308, 404, 405, 410, 414, 451, 501, 599], lambda status:
      (get(says=answer(status, "Cache-Control: max-age=3600", "Location: /x")).status(status), get().refused(status)))
rules("3", "must-understand with a status that the cache does not know is not stored: …", [299, 499, 598], lambda status:
      (get(says=answer(status, "Cache-Control: max-age=3600, must-understand")), get().forwarded()))
rules("3", "… is not stored without an explicit lifetime, which its status does not have by itself", [201, 302, 303, 307, 400, 403, 500, 502, 503],
      lambda status: (get(says=answer(status, "Last-Modified: {ago:86400}", "Location: /x")), get().forwarded()))
rules("3", "no-store forbids it: …", ["no-store", "No-Store", "max-age=3600, no-store", 'no-store, max-age=3600, x="a,b"'], lambda value:
      (get(says=ok("Cache-Control: " + value)), get().forwarded()))
rule("3", "no-store in a second field line forbids it, too", get(says=ok("Cache-Control: max-age=3600", "Cache-Control: no-store")),
     get().forwarded())
rule("3", "private forbids it to a shared cache", get(says=ok("Cache-Control: private, max-age=3600")), get().forwarded())
rule("3", "an answer to Authorization is not stored", get("Authorization: Basic eDp5", says=fresh()), get("Authorization: Basic eDp5"))
rule("3", "an answer that says nothing about its freshness is not used again unasked", get(says=ok()), get().forwarded())
rules("3", "an explicit lifetime is enough: …",
      ["Cache-Control: max-age=3600", "Cache-Control: s-maxage=3600", "Expires: {in:3600}", "Cache-Control: public, max-age=3600"], lambda line:
      (get(says=ok(line)), get().stored()))
rule("3", "a status that can be cached by default is stored with a heuristic lifetime", get(says=ok("Last-Modified: {ago:864000}")), get().stored())
rule("3", "public permits a heuristic lifetime for other statuses", get(says=answer(599, "Cache-Control: public", "Last-Modified: {ago:864000}")),
     get().refused(599))

# 3.1: the header fields of a stored answer
rules("3.1", "… is stored with the answer", [
    "X-Test: a", "Content-Type: text/x-test", "Content-Encoding: x-test", "Content-Language: en", "Server: x", "Link: </x>; rel=y",
    "Content-Security-Policy: x", "Clear-Site-Data: x", "Strict-Transport-Security: max-age=1", "Content-Location: /x", "Warning: 299 - \"x\"",
    "Retry-After: 5", "Allow: GET", "ETag: \"x\""
], lambda line: (get(says=fresh(line)).has(line), get().stored().has(line)))
rule("3.1", "a field that the cache does not know is stored in all its lines, in their order", get(says=fresh("X-A: 1", "X-A: 2")),
     get().stored().expect(lambda h: [v for n, v in h.answer.fields if n == "X-A"] in (["1", "2"], ["1, 2"]), "both values in order"))
rules(
    "3.1", "… is about the connection and is not stored",
    ["Connection: close", "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "TE: trailers", "Upgrade: x"], lambda line:
    (get(says=fresh(line)), get().stored().expect(lambda h: line.split(": ")[1] not in [v for n, v in h.answer.fields
                                                                                        if n == line.split(":")[0]], "the field is gone")))
rule("3.1", "fields that Connection names are not stored",
     get(says=fresh("Connection: X-Hop", "X-Hop: 1", "X-End: 1")).lacks("X-Hop"),
     get().stored().lacks("X-Hop").has("X-End: 1"))
rules("3.1", "… concerns the proxy that it came to and is not stored", ["Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x"], lambda line:
      (get(says=fresh(line)), get().stored().lacks(line.split(":")[0])))

# 3.2: updating a stored head
rule("3.2", "a 304 replaces the fields that it has", get(says=stale("X-A: 1", "X-B: 1")),
     get(says=not_modified("X-A: 2", 'ETag: "v"')).validated().has("X-A: 2", "X-B: 1"))
rule("3.2", "they stay replaced", get(says=stale("X-A: 1", "X-B: 1")),
     get(says=not_modified("X-A: 2", 'ETag: "v"', "Cache-Control: max-age=3600")).validated(),
     get().stored().has("X-A: 2", "X-B: 1"))
rule("3.2", "a field that a 304 replaces goes with all its lines", get(says=stale("X-A: 1", "X-A: 2")),
     get(says=not_modified("X-A: 3", 'ETag: "v"')).validated().expect(lambda h: [v for n, v in h.answer.fields if n == "X-A"] == ["3"], "one line"))
rule("3.2", "a Content-Length in a 304 does not change the stored body's", get(says=stale()),
     get(says=not_modified("Content-Length: 3", 'ETag: "v"')).validated().has("Content-Length: 8"))
rules(
    "3.2", "… of a 304 describes nothing of the stored body and is not taken over", ["Content-Encoding: x-other", "Content-Range: bytes 0-1/2"],
    lambda line: (get(says=stale()), get(says=not_modified(line, 'ETag: "v"')).validated().expect(
        lambda h: (line.split(": ")[0], line.split(": ")[1]) not in h.answer.fields, "the field is not there")))

# 3.3: incomplete answers
rule("3.3", "an answer cut off before its Content-Length is not stored",
     get(says=wire(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 100\r\n\r\nshort", close=True)),
     get(says=fresh()).forwarded().status(200))
rule("3.3", "an answer cut off before its last chunk is not stored",
     get(says=wire(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n", close=True)),
     get(says=fresh()).forwarded().status(200))

# 3.5: Authorization
rules("3.5", "an answer to Authorization is stored if it says …",
      ["public", "s-maxage=3600", "must-revalidate, max-age=3600", "public, max-age=3600"], lambda value:
      (get("Authorization: Basic eDp5", says=ok("Cache-Control: max-age=3600, " + value)), get("Authorization: Basic eDp5").stored()))
rules("3.5", "an answer to Authorization is not stored for …", ["max-age=3600", "max-age=3600, private", "max-age=3600, no-store, public"],
      lambda value: (get("Authorization: Basic eDp5", says=ok("Cache-Control: " + value)), get("Authorization: Basic eDp5")))
rule("3.5", "what was stored for all is given to Authorization, too", get(says=fresh()), get("Authorization: Basic eDp5").stored())

# 5.2.2.3: must-understand
rule("5.2.2.3", "a cache that knows the status ignores the no-store beside must-understand",
     get(says=ok("Cache-Control: max-age=3600, must-understand, no-store")),
     get().stored())
rule("5.2.2.3", "one that does not know it keeps to no-store", get(says=answer(299, "Cache-Control: max-age=3600, must-understand, no-store")),
     get().forwarded())

# RFC 9110, 9.3.3: an answer to POST that is one to GET
HERE = "Content-Location: {url}"
rule("9.3.3", "a 200 to POST with a lifetime and its own URL in Content-Location is stored for GET", ask("POST", body=b"x", says=fresh(HERE)), get().stored())
rule("9.3.3", "for HEAD, too", ask("POST", body=b"x", says=fresh(HERE)), head().refused(200))
rule("9.3.3", "the URL may be relative", ask("POST", body=b"x", says=fresh("Content-Location: {path}")), get().stored())
rule("9.3.3", "it takes the place of what was stored", get(says=fresh()), ask("POST", body=b"x", says=fresh(HERE)), get().stored(1))
rule("9.3.3", "never is a POST answered from the store", ask("POST", body=b"x", says=fresh(HERE)), ask("POST", body=b"x", says=fresh(HERE)).forwarded())
rules("9.3.3", "an answer to POST is not stored with …", [
    ("no lifetime", ok(HERE, "Last-Modified: {ago:864000}")), ("no Content-Location", fresh()), ("another Content-Location", fresh("Content-Location: {url}x")),
    ("one of another origin", fresh("Content-Location: http://elsewhere.example{path}")), ("a 201", answer(201, "Cache-Control: max-age=3600", HERE)),
    ("a 404", answer(404, "Cache-Control: max-age=3600", HERE)), ("no-store", ok("Cache-Control: max-age=3600, no-store", HERE)),
    ("private", ok("Cache-Control: max-age=3600, private", HERE)), ("Set-Cookie", fresh(HERE, "Set-Cookie: a=b"))
], lambda _, says: (ask("POST", body=b"x", says=says), get(says=fresh()).forwarded()))
rule("9.3.3", "nor with Authorization", ask("POST", "Authorization: Basic eDp5", body=b"x", says=fresh(HERE)), get(says=fresh()).forwarded())
rules("9.3.3", "nor is one to …", ["PUT", "PATCH", "DELETE", "FROBNICATE"], lambda method:
      (ask(method, body=b"x", says=fresh(HERE)), get(says=fresh()).forwarded()))
rule("9.3.3", "its Vary counts", ask("POST", "X-V: a", body=b"x", says=fresh(HERE, "Vary: X-V")), get("X-V: b", says=fresh()).forwarded())
rule("9.3.3", "what another unsafe method changes is invalidated", ask("POST", body=b"x", says=fresh(HERE)), ask("DELETE", says=ok()), get(says=fresh()).forwarded())

# 7.3: Set-Cookie does not forbid storing; the cookie stays with the client that asked
rules("7.3", "an answer that sets a cookie is stored without it if it says …",
      ["Cache-Control: max-age=3600", "Cache-Control: s-maxage=3600", "Expires: {in:3600}", "CDN-Cache-Control: max-age=3600"], lambda line:
      (get(says=ok(line, "Set-Cookie: a=b")).has("Set-Cookie: a=b"), get().stored().lacks("Set-Cookie")))
rule("7.3", "with it if it says public", get(says=fresh("Cache-Control: public", "Set-Cookie: a=b")), get().stored().has("Set-Cookie: a=b"))
rule("7.3", "without a stated lifetime it is not stored", get(says=ok("Last-Modified: {ago:864000}", "Set-Cookie: a=b")), get(says=fresh()).forwarded())
rule("7.3", "nor if a cookie asked for it", get("Cookie: c=d", says=fresh("Set-Cookie: a=b")), get(says=fresh()).forwarded())
rule("7.3", "unless it says public", get("Cookie: c=d", says=fresh("Cache-Control: public", "Set-Cookie: a=b")), get().stored())
rule("7.3", "an answer to a cookie that sets none is stored", get("Cookie: c=d", says=fresh()), get("Cookie: e=f").stored())

# 4: HEAD of a stored GET (9110 9.3.2), and nothing the other way round
rule("4", "HEAD is answered from a stored GET, with its fields and without its body", get(says=fresh("X-A: 1")),
     head().refused(200).has("X-A: 1", "Content-Length: 8").with_body(b""))
rule("4", "an answer to HEAD is not one to GET", head(says=fresh(body=b"head")), get(says=fresh(body=b"whole")).forwarded().with_body(b"whole"))

run()
