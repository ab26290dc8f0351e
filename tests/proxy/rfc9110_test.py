"""RFC 9110: what a proxy does with fields, methods, conditions and statuses, whether it caches or not.

Usage: rfc9110_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, ask, fresh, get, head, not_modified, nothing, ok, raw, rule, rules, run, values_of, wire  # noqa: E402


def received(name):
    """All values of a field at the origin, in their order."""
    return lambda request: [v for n, v in request.fields if n.lower() == name.lower()]


def answered(happened, name):
    return [v for n, v in happened.answer.fields if n.lower() == name.lower()]


# 4.2: URIs
rule("4.2.3", "an empty path is the path /",
     raw("GET {origin} HTTP/1.1\r\nHost: {host}\r\n\r\n").asks(0, "no rule's path").status(200), modes=["forward"])
rule("4.2.3", "scheme and host have no case", get(says=fresh()),
     raw("GET HTTP://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").stored(), modes=["forward"])
rule("4.2.4", "a URI with userinfo is refused", raw("GET http://user@{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").refused(400), modes=["forward"])

# 5: fields
rule("5.1", "fields that the proxy does not know are forwarded both ways",
     get("X-New: 1", says=ok("X-Else: 2")).forwarded("X-New: 1").has("X-Else: 2"))
rule("5.1", "names of fields have no case", get("HOST: {host}", says=ok("cache-CONTROL: max-age=100")), get().stored())
rule("5.3", "lines of one field keep their order on the way to the origin",
     get("X-A: 1", "X-B: b", "X-A: 2", says=ok()).sent(lambda r: ", ".join(received("X-A")(r)) == "1, 2", "1 before 2"))
rule("5.3", "and on the way back", get(says=ok("X-A: 1", "X-B: b", "X-A: 2")).expect(lambda h: ", ".join(answered(h, "X-A")) == "1, 2", "1 before 2"))
rule(
    "5.3", "lines of Set-Cookie are not joined",
    get(says=ok("Set-Cookie: a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "Set-Cookie: b=2")).expect(lambda h: len(answered(h, "Set-Cookie")) == 2,
                                                                                                     "two lines"))
rule("5.4", "a head that is too large is refused with 431", get("X-Large: " + "a" * 100_000).refused(431))
rules(
    "5.5", "a … in a request's field is refused or replaced", ["\x00", "\r"], lambda c: get(f"X-A: a{c}b", says=ok()).expect(
        lambda h: h.answer.status == 400 or c not in h.received[-1].fields.__repr__(), "no such byte").asks(0, "it is refused"))
rules(
    "5.5", "a … in an answer's field is refused or replaced", ["\x00", "\r"],
    lambda c: get(says=wire(f"HTTP/1.1 200 OK\r\nX-A: a{c}b\r\nContent-Length: 0\r\n\r\n".encode())).expect(
        lambda h: h.answer.status == 502 or all(c not in v for _, v in h.answer.fields), "no such byte"))
rule("5.5", "bytes beyond ASCII pass unchanged", get("X-A: caf\xe9", says=ok("X-B: na\xefve")).forwarded("X-A: caf\xe9").has("X-B: na\xefve"))
rule("5.5", "blanks around a value are not part of it", get("X-A:  \t a \t ", says=ok("X-B:\t b  ")).forwarded("X-A: a").has("X-B: b"))
rule("5.6.1", "empty elements of a list count for nothing", get(says=ok("Cache-Control: , max-age=100,, ,")), get().stored())

rules("5.6.7", "dates are read in any case: …",
      ["SUN, 06 Nov 2094 08:49:37 GMT", "Sun, 06 NOV 2094 08:49:37 GMT", "Sun, 06 Nov 2094 08:49:37 gmt"],
      lambda date: (get(says=ok("Expires: " + date)), get().stored()))

# 6.6.1: Date
rule("6.6.1", "an answer without Date gets one", get(says=ok("Date:")).has("Date"))
rule("6.6.1", "a stored one as well", get(says=fresh("Date:")), get().stored().has("Date"))
rule("6.6.1", "a Date that is there is not changed", get(says=fresh("Date: {ago:60}")).has("Date: {ago:60}"), get().stored().has("Date: {ago:60}"))

# 7.6.1: Connection
rules("7.6.1", "… is for this hop and is not forwarded",
      ["Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "TE: trailers", "Upgrade: x-proto"],
      lambda line: get(line, says=ok(line.replace("TE:", "Trailer-X:"))).forwarded(without=line.split(":")[0]))
rules("7.6.1", "fields named by Connection are not forwarded: …", ["X-Hop", "x-hop", "close, X-Hop", "X-Hop, X-Other"],
      lambda named: get("Connection: " + named, "X-Hop: 1", "X-End: 1", says=ok()).forwarded("X-End: 1", without="X-Hop"))
rule("7.6.1", "Connection in two lines is one list",
     get("Connection: X-A", "Connection: X-B", "X-A: 1", "X-B: 1", says=ok()).forwarded(without=("X-A", "X-B")))
rule("7.6.1", "an answer's fields named by Connection stay here",
     get(says=ok("Connection: X-Hop, close", "X-Hop: 1", "X-End: 1")).lacks("X-Hop").has("X-End: 1"))
rule("7.6.1", "an origin's close is not the client's",
     get(says=ok("Connection: close", close=True)).expect(lambda h: "close" not in answered(h, "Connection"), "no close"))
rule("7.6.1", "a client's close is not the origin's",
     get("Connection: close", says=ok()).sent(lambda r: "close" not in received("Connection")(r), "no close"))

# 7.6.2: Max-Forwards
rule("7.6.2", "OPTIONS with Max-Forwards 0 is answered here", ask("OPTIONS", "Max-Forwards: 0").refused(200, 204))
rule("7.6.2", "OPTIONS with more goes on with one less", ask("OPTIONS", "Max-Forwards: 7", says=ok()).forwarded("Max-Forwards: 6"))
rule("7.6.2", "other methods ignore it", get("Max-Forwards: 0", says=ok()).forwarded())
rule("7.6.2", "TRACE with Max-Forwards 0 is answered here", ask("TRACE", "Max-Forwards: 0").refused(200, 405, 501))

# 7.6.3: Via
rule("7.6.3", "a request gets our Via", get(says=ok()).forwarded("Via: 1.1 {name}"))
rule("7.6.3", "an answer as well", get(says=ok()).has("Via: ~1.1 {name}$"))
rule(
    "7.6.3", "after those that are there, in both directions",
    get("Via: 1.0 fred, 1.1 p.example",
        says=ok("Via: 1.1 back")).sent(lambda r: ", ".join(received("Via")(r)).startswith("1.0 fred, 1.1 p.example, 1.1 "),
                                       "ours comes last").expect(lambda h: ", ".join(answered(h, "Via")).startswith("1.1 back, 1.1 "),
                                                                 "ours comes last"))
rule("7.6.3", "a request that was here before is a loop", get("Via: 1.1 {name}").refused(508))

# 7.7: transformations
rules("7.7", "path and query are forwarded as they are: …",
      ["a/./b", "a/../b", "a//b", "%7Euser", "%7euser", "a%2Fb", "?a=1&&b", "?", "a;b=c?d=/../", "?q=%zz", "a|b"],
      lambda path: get(path=path, says=ok()).sent(lambda r: r.target.endswith("/" + path), "the same bytes"))
rules("7.7", "… of an answer is not changed", [
    "Content-Encoding: x-gzip", "Content-Location: /a/../b", "Content-Type: text/HTML;charset=UTF-8", "Server: x/1", "Allow: GET,HEAD",
    "ETag: W/\"a\"", "Last-Modified: {ago:5}", "Expires: {in:5}", "Content-Range: bytes */5", "Location: http://x.example/a/../b"
], lambda line: get(says=ok(line)).has(line))
rules("7.7", "… of a request is not changed", [
    "Referer: http://x.example/#a", "User-Agent: a (b)", "Cookie: a=b; c=\"d\"", "Accept: */*;q=0.1", "Authorization: Digest a=\"b\", c=d",
    "From: a@example.org", "Accept-Encoding: gzip, x;q=0", "Origin: null"
], lambda line: get(line, says=ok()).forwarded(line))
rule("7.7", "content is not changed",
     get(says=ok("Content-Type: text/html", "Content-Encoding: gzip", body=bytes(range(256)))).with_body(bytes(range(256))))

# 7.8: Upgrade
rule("7.8", "Upgrade without Connection: Upgrade is not forwarded", get("Upgrade: websocket", says=ok()).forwarded(without="Upgrade"))

# 8.6: Content-Length
rules("8.6", "a request with the length … is refused", ["a", "-1", "+1", "1 1", "0x1", "1, 2", "1.0", "99999999999999999999999"],
      lambda length: raw("POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: " + length + "\r\n\r\nx").refused(400, 413))
rule("8.6", "lengths that disagree are refused",
     raw("POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy").refused(400))
rules("8.6", "an answer with the length … is a 502", ["a", "-1", "1 1", "1, 2", "99999999999999999999999"],
      lambda length: get(says=wire(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nx".encode(), close=True)).failed(502))
rule(
    "8.6", "a length that is repeated is forwarded once or refused",
    get(says=wire(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx")).failed(200, 502).expect(
        lambda h: len(answered(h, "Content-Length")) == 1, "one length"))
rule("8.6", "HEAD is answered with the length that GET would have", head(says=ok("Content-Length: 1234")).has("Content-Length: 1234").with_body(b""))
rule(
    "8.6", "an interim answer has no Content-Length",
    get(says=wire(b"HTTP/1.1 103 Early\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")).status(200).expect(
        lambda h: [a.status for a in h.interim] == [103] and not values_of(h.interim[0].fields, "Content-Length"), "103 without a length"))
rule("8.6", "a 204 has no Content-Length made up for it", get(says=answer(204)).status(204).lacks("Content-Length", "Transfer-Encoding"))

# 9: methods
rule("9.1", "a method's case counts", ask("get", says=fresh()), ask("get").forwarded())
rule("9.1", "methods that the proxy does not know are forwarded", ask("FROBNICATE", says=ok()).sent(lambda r: r.method == "FROBNICATE", "the method"))
rules("9.2.2", "a … that the origin did not answer is not sent again", ["POST", "PATCH", "FROBNICATE"],
      lambda method: ask(method, body=b"x", says=nothing()).asks(1, "asked once").status(502, 504))
rules("9.2.2", "even when a kept connection ends with it: …", ["POST", "PATCH"], lambda method:
      (get(says=ok()), ask(method, body=b"x", says=nothing()).asks(1, "asked once").status(502, 504)))
rule("9.3.1", "a GET with a body keeps it, or is refused", get(body=b"x", says=ok()).sent(lambda r: r.body == b"x", "the body"))
rule("9.3.2", "an answer to HEAD has no body", head(says=fresh(body=b"12345")).with_body(b"").has("Content-Length: 5"))
rule("9.3.3", "an answer to POST without Content-Location is not one to GET", ask("POST", body=b"x", says=fresh()), get())
rule("9.3.3", "nor with another one", ask("POST", body=b"x", says=fresh("Content-Location: {url}x")), get())
rule("9.3.3", "nor without a lifetime", ask("POST", body=b"x", says=ok("Content-Location: {url}", "Last-Modified: {ago:864000}")), get())
rules("9.3.6", "CONNECT to … is refused", ["{host}x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999", "http://{host}/"],
      lambda target: raw(f"CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n").refused(400, 403), modes=["forward"])
rule("9.3.7", "OPTIONS * is answered here with Max-Forwards: 0",
     raw("OPTIONS * HTTP/1.1\r\nHost: {host}\r\nMax-Forwards: 0\r\n\r\n").refused(200, 204), modes=["forward"])
rule("9.3.7", "OPTIONS is not cached", ask("OPTIONS", says=fresh()), ask("OPTIONS").forwarded())
rule(
    "9.3.8", "TRACE here gives back no credentials",
    ask("TRACE", "Max-Forwards: 0", "Authorization: Basic c2VjcmV0",
        "Cookie: a=secret").asks(0, "not forwarded").expect(lambda h: b"secret" not in h.answer.body and b"c2VjcmV0" not in h.answer.body,
                                                            "no secrets"))

# 10 and 11: context and authentication
rule("10.1.1", "Expect: 100-continue goes to the origin",
     ask("POST", "Expect: 100-continue", body=b"x", says=ok()).forwarded("Expect: 100-continue").sent(lambda r: r.body == b"x", "and the body"))
rule("10.1.4", "TE is not forwarded",
     get("TE: gzip;q=0.5", "Connection: TE", says=ok()).sent(lambda r: "gzip" not in str(received("TE")(r)), "no such TE"))
rule("10.2.3", "Retry-After is passed on", get(says=answer(503, "Retry-After: 120")).has("Retry-After: 120").status(503))
rule(
    "11.6.1", "a 401 and its challenges are passed on as they are",
    get(says=answer(401, 'WWW-Authenticate: Basic realm="a"', "WWW-Authenticate: Bearer")).status(401).expect(
        lambda h: ", ".join(answered(h, "WWW-Authenticate")) == 'Basic realm="a", Bearer', "both challenges"))
rule("11.6.2", "Authorization is passed on as it is", get("Authorization: Basic eDp5", says=ok()).forwarded("Authorization: Basic eDp5"))
rule("11.7.2", "Proxy-Authorization is for us alone", get("Proxy-Authorization: Bearer x", says=ok()).forwarded(without="Proxy-Authorization"))

# 12.5: preferences
rule("12.5.3", "codings in another order or case select the same stored answer",
     get("Accept-Encoding: gzip, br;q=0.5", says=fresh("Vary: Accept-Encoding")),
     get("Accept-Encoding: BR; q=0.5,GZIP").stored())
rule("12.5.4", "so do languages", get("Accept-Language: en, de", says=fresh("Vary: Accept-Language")),
     get("Accept-Language: DE,en").stored())
rule("12.5.4", "a language more is another answer", get("Accept-Language: en, de", says=fresh("Vary: Accept-Language")),
     get("Accept-Language: de, en, fr"))

# 13: conditions
rules("13.1", "… goes to the origin, whose answer is the client's", ['If-Match: "a"', "If-Unmodified-Since: {ago:1000}", 'If-Match: *'],
      lambda line: get(line, says=answer(412)).forwarded(line).status(412))
rules("13.1", "… of an unsafe request goes to the origin", ['If-Match: "a"', "If-None-Match: *", "If-Unmodified-Since: {ago:1000}"], lambda line:
      (get(says=fresh('ETag: "a"')), ask("PUT", line, body=b"x", says=answer(412)).forwarded(line).status(412)))
rule("13.1.3", "If-Modified-Since counts for nothing with a method other than GET and HEAD", get(says=fresh("Last-Modified: {ago:1000}")),
     ask("POST", "If-Modified-Since: {ago:10}", body=b"x", says=ok()).forwarded("If-Modified-Since: {ago:10}").status(200))
rule("13.2.1", "conditions count for nothing where the answer would be an error", get(says=answer(404, "Cache-Control: max-age=100", 'ETag: "v"')),
     get('If-None-Match: "v"').refused(404))
rule("13.1.5", "If-Range without Range counts for nothing", get(says=fresh('ETag: "v"')), get('If-Range: "v"').stored().status(200))

# 14: ranges
rule("14.2", "Range with a method other than GET counts for nothing", get(says=fresh(body=b"0123456789")),
     head("Range: bytes=0-1").refused(200).has("Content-Length: 10"))
rules("14.2", "a range that is not understood is ignored: …", ["lines=1-2", "bytes=x-y", "bytes", "bytes=5-2", "bytes=--1"], lambda value:
      (get(says=fresh(body=b"0123456789")), get("Range: " + value).stored().status(200)))
rule("14.2", "without a stored answer it goes to the origin",
     get("Range: bytes=2-3", says=answer(206, "Content-Range: bytes 2-3/10", body=b"23")).status(206).with_body(b"23"))
rule("14.4", "Content-Range of a 206 is the origin's",
     get("Range: bytes=2-3", says=answer(206, "Content-Range: bytes 2-3/10", body=b"23")).has("Content-Range: bytes 2-3/10"))

# 15: statuses
rules("15", "a status that the proxy does not know is passed on: …", [299, 399, 499, 599], lambda status: get(says=answer(status)).status(status))
rules("15", "a status that is none is a 502: …", ["99", "2000", "abc", "20", "-20"],
      lambda status: get(says=wire(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode(), close=True)).failed(502))
rule(
    "15.2", "a client of HTTP/1.0 gets no interim answer",
    get(version="1.0", says=wire(b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")).expect(
        lambda h: not h.interim and h.answer.status == 200, "200 at once"))
rule("15.2", "an interim answer is not stored",
     get(says=wire(b"HTTP/1.1 103 Early\r\nX-E: 1\r\n\r\nHTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nContent-Length: 1\r\n\r\nx")).status(200),
     get().refused(200).lacks("X-E").with_body(b"x"))
rules(
    "15.2", "an interim answer is passed on: …", [102, 103, 150],
    lambda status: get(says=wire(f"HTTP/1.1 {status} Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx".encode())).status(
        200).expect(lambda h: [a.status for a in h.interim] == [status] and ("Link", "</a>") in h.interim[0].fields, "the interim answer before it"))
rule(
    "15.2", "several of them in their order",
    get(says=wire(b"HTTP/1.1 102 A\r\n\r\nHTTP/1.1 103 B\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")).status(200).expect(
        lambda h: [a.status for a in h.interim] == [102, 103], "102, then 103"))
rule(
    "15.2.1", "a 100 for Expect comes from the origin",
    ask("POST", "Expect: 100-continue", body=b"x",
        says=wire(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")).status(200).expect(
            lambda h: [a.status for a in h.interim] == [100], "a 100 first"))
rule("15.2.2", "a 101 that nobody asked for is a 502",
     get(says=wire(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", close=True)).failed(502))
rule("15.4.5", "a 304 has no body, whatever length it names",
     get('If-None-Match: "a"', says=wire(b'HTTP/1.1 304 X\r\nETag: "a"\r\nContent-Length: 99\r\n\r\n')).status(304).with_body(b""))
rule("15.6.3", "an answer that is no HTTP is a 502", get(says=wire(b"SSH-2.0-OpenSSH\r\n", close=True)).failed(502))
rule("15.6.6", "a version that is not ours is refused", raw("GET {target} HTTP/2.0\r\nHost: {host}\r\n\r\n").refused(505, 400))
rule("15.5.18", "what the origin says of an expectation is passed on", get("Expect: x-unknown", says=answer(417)).asks(1, "forwarded").status(417))
rule("15.3.6", "a 205 without a body is passed on", ask("POST", body=b"x", says=answer(205)).status(205))
rule("15.4.5", "a 304 of the origin for the client's own validator goes to the client",
     get('If-None-Match: "a"', says=not_modified('ETag: "a"')).status(304))

run()
