"""RFC 9112: messages on the wire, right and wrong, from clients and from origins.

Usage: rfc9112_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, ask, get, head, ok, raw, rule, rules, run, values_of, wire  # noqa: E402

HOST = "Host: {host}\r\n"
GET = "GET {target} HTTP/1.1\r\n" + HOST
POST = "POST {target} HTTP/1.1\r\n" + HOST
CHUNKED = POST + "Transfer-Encoding: chunked\r\n\r\n"


def said(text, close=False):
    return wire(text.encode("latin-1"), close)


def bodies(happened):
    return [a.body for a in happened.answers if a.status >= 200]


# 2.2: parsing
rule("2.2", "an empty line before a request is ignored", raw("\r\n" + GET + "\r\n", says=ok()).status(200))
rules("2.2", "a bare CR in … is refused", ["the line: GET {target}\r HTTP/1.1\r\n" + HOST, "a field: " + GET + "X: a\rb\r\n"],
      lambda text: raw(text.partition(": ")[2] + "\r\n").refused(400))
rules("2.2", "blanks before the first field are refused: …", [" X: 1", "\tX: 1"],
      lambda line: raw("GET {target} HTTP/1.1\r\n" + line + "\r\n" + HOST + "\r\n").refused(400))
rule("2.2", "what is no request is refused and the connection closed", raw("\x16\x03\x01\x02 hello\r\n\r\n").refused(400).closes())

# 2.3: versions
rule("2.3", "requests are sent on with our own version", get(version="1.0", says=ok()).sent(lambda r: r.start.endswith(" HTTP/1.1"), "HTTP/1.1"))
rule("2.3", "answers as well",
     get(says=said("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", close=True)).expect(lambda h: h.answer.version == "HTTP/1.1", "HTTP/1.1"))
rules("2.3", "a version that is none is refused: …", ["HTTP/1.10", "HTTP/x.1", "http/1.1", "HTTP/1", "HTP/1.1", "HTTP/1.1.1"],
      lambda version: raw("GET {target} " + version + "\r\n" + HOST + "\r\n").refused(400, 505))

# 3: request lines
rules("3", "a request line that is wrong is refused: …", [
    "GET", "GET {target}", "GET  {target} HTTP/1.1", "GET {target}  HTTP/1.1", "GET {target} HTTP/1.1 x", " GET {target} HTTP/1.1",
    "G@T {target} HTTP/1.1", "GET\t{target}\tHTTP/1.1", "GET {target} x HTTP/1.1"
], lambda line: raw(line + "\r\n" + HOST + "\r\n").refused(400, 505))
rule("3", "a target that is too long is refused with 414 or 431", get(path="a" * 100_000).refused(414, 431))
rules("3.2", "a request with … is refused", [("no Host", ""), ("two Hosts", "Host: {host}\r\nHost: {host}\r\n"),
                                             ("two different Hosts", "Host: {host}\r\nHost: x.example\r\n")],
      lambda name, lines: raw("GET {target} HTTP/1.1\r\n" + lines + "\r\n").refused(400))
rules("3.2", "a Host that is no host is refused: …", ["a b", "a/b", "@", "[::1", "a@b", "127.0.0.1%2e", "a:b"],
      lambda host: raw("GET {url} HTTP/1.1\r\nHost: " + host + "\r\n\r\n").refused(400))
rule("3.2", "a request of HTTP/1.0 needs no Host", raw("GET {target} HTTP/1.0\r\n\r\n", says=ok()).status(200), modes=["forward"])
rule(
    "3.2.2", "an absolute target counts, and its authority becomes the Host",
    raw("GET {url} HTTP/1.1\r\nHost: wrong.example\r\n\r\n", says=ok()).sent(lambda r: values_of(r.fields, "Host")[0] != "wrong.example",
                                                                             "the target's host"), modes=["forward"])
rule("3.2.2", "absolute targets are accepted from everybody", raw("GET {url} HTTP/1.1\r\n" + HOST + "\r\n", says=ok()).status(200))
rule("3.2.2", "the origin gets the target in origin form", get(says=ok()).sent(lambda r: r.target.startswith("/"), "a path"))
rules("3.2.2", "a target without a host is refused: …", ["http:///a", "http://:80/", "http://", "http://[::1/"],
      lambda target: raw(f"GET {target} HTTP/1.1\r\n{HOST}\r\n").refused(400), modes=["forward"])
rule("3.2.4", "the target * is for OPTIONS alone", raw("GET * HTTP/1.1\r\n" + HOST + "\r\n").refused(400, 421))

# 4: status lines
rule("4", "a missing reason is no fault", get(says=said("HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nx")).status(200).with_body(b"x"))
rule("4", "a reason may be anything", get(says=said("HTTP/1.1 200 (a) \xe9 - b\r\nContent-Length: 1\r\n\r\nx")).status(200))
rules("4", "a status line that is wrong is a 502: …", ["HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1  200 OK", "200 OK", "HTTP/1.1 200OK", "HTTP/2.0 200 OK"],
      lambda line: get(says=said(line + "\r\nContent-Length: 1\r\n\r\nx", close=True)).failed(502))

# 5: field lines
rules("5.1", "a blank before the colon of a request's field is refused: …", ["X : 1", "X\t: 1", "Content-Length : 0", "Transfer-Encoding : chunked"],
      lambda line: raw(GET + line + "\r\n\r\n").refused(400))
rules("5.1", "a field line that is none is refused: …", ["X", ": 1", "X Y: 1", "X(: 1", "\x80: 1"],
      lambda line: raw(GET + line + "\r\n\r\n").refused(400))
rule("5.2", "a folded field of a request is refused, or unfolded",
     raw(GET + "X-A: 1\r\n 2\r\n\r\n", says=ok()).sent(lambda r: values_of(r.fields, "X-A")[0].split() == ["1", "2"], "one line"))
rule(
    "5.2", "a folded field of an answer is unfolded, or a 502",
    get(says=said("HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 1\r\n\r\nx", close=True)).failed(200, 502).expect(
        lambda h: h.answer.status == 502 or values_of(h.answer.fields, "X-A")[0].split() == ["1", "2"], "one line"))

# 6.1: Transfer-Encoding
rule("6.1", "a chunked request is forwarded with a body of the same bytes",
     ask("POST", "Transfer-Encoding: chunked", body=b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", says=ok()).sent(lambda r: r.body == b"abcde", "the body"))
rule("6.1", "a chunked answer is given with the same bytes",
     get(says=said("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")).with_body(b"abcde"))
rule("6.1", "a request with both lengths is refused",
     raw(POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").refused(400).closes())
rules("6.1", "a request with the coding … is refused",
      ["gzip", "x-unknown", "identity", "chunked, gzip", "chunked, chunked", "chunked, identity", "chunkedx", '"chunked"', ""],
      lambda coding: raw(POST + f"Transfer-Encoding: {coding}\r\n\r\n0\r\n\r\n").refused(400, 501))
rule("6.1", "a chunked request of HTTP/1.0 is refused",
     raw("POST {target} HTTP/1.0\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").refused(400))
rule(
    "6.1", "a client of HTTP/1.0 gets no chunks",
    get(version="1.0",
        says=said("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")).lacks("Transfer-Encoding").with_body(b"abc"))
rule("6.1", "the case of chunked does not matter",
     get(says=said("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")).with_body(b"abc"))
rule(
    "6.1", "an answer with both lengths is a 502, or its Content-Length is removed",
    get(says=said("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n", close=True)).failed(
        200, 502).expect(lambda h: h.answer.status == 502 or (not values_of(h.answer.fields, "Content-Length") and h.answer.body == b"abcde"),
                         "no second length"))
rule("6.1", "an answer with a coding that is not known is not passed on as if it were plain",
     get(says=said("HTTP/1.1 200 OK\r\nTransfer-Encoding: x-odd\r\n\r\nabc", close=True)).failed(502))

# 6.3: lengths
rule("6.3", "HEAD has no body, whatever its fields say",
     head(says=ok("Transfer-Encoding: chunked")).with_body(b"").status(200),
     get(path="next", says=ok()).status(200))
rule("6.3", "a 204 has no body", get(says=said("HTTP/1.1 204 No\r\n\r\n")).status(204).with_body(b""), get(path="next", says=ok()).status(200))
rule("6.3", "without a length an answer goes on to the end of the connection",
     get(says=said("HTTP/1.1 200 OK\r\n\r\nabc", close=True)).with_body(b"abc"))
rule("6.3", "and may be stored then",
     get(says=said("HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\n\r\nabc", close=True)).with_body(b"abc"),
     get().refused(200).with_body(b"abc"))
rule("6.3", "a request without a length has no body", raw(POST + "\r\n", says=ok()).sent(lambda r: r.body == b"", "no body"))
rules("6.3", "an answer that is cut off is cut off for the client, too: …",
      ["Content-Length: 9\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n9\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"],
      lambda rest: get(says=said("HTTP/1.1 200 OK\r\n" + rest, close=True)).expect(lambda h: h.answers[-1].status in (0, 502), "an end that is none"))
rule("6.3", "bytes after an answer are not taken for the next one",
     get(says=said("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")).with_body(b"x"),
     get(path="next", says=answer(200, body=b"good")).with_body(b"good"))

# 7.1: chunks
rules("7.1", "chunk sizes in any form: …", ["A", "a", "0a", "000000a"],
      lambda size: get(says=said(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n0123456789\r\n0\r\n\r\n")).with_body(b"0123456789"))
rules(
    "7.1", "a request's chunk that is wrong is refused: …",
    ["x\r\nabc\r\n", "-3\r\nabc\r\n", "3\r\nabcd\r\n", "ffffffffffffffffff\r\nabc\r\n", "0x3\r\nabc\r\n", "\r\nabc\r\n", "3 3\r\nabc\r\n"],
    lambda chunk: raw(CHUNKED + chunk + "0\r\n\r\n", says=ok()).expect(lambda h: h.answer is None or h.answer.status in (400, 413), "400").expect(
        lambda h: not h.received, "the origin has no whole request").asks(0, "no whole request").status(400, 413))
rules(
    "7.1.1", "extensions of chunks are ignored: …", [";a", ";a=b", ';a="b;c"', ";a;b=c"], lambda extension: get(says=said(
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3{extension}\r\nabc\r\n0{extension}\r\n\r\n")).with_body(b"abc"))
rule("7.1.1", "so are a request's",
     ask("POST", "Transfer-Encoding: chunked", body=b"3;a=b\r\nabc\r\n0\r\n\r\n", says=ok()).sent(lambda r: r.body == b"abc", "the body"))
rule("7.1.2", "trailers do not become fields of the head",
     get(says=said("HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n")).lacks("X-T"),
     get().refused(200).lacks("X-T").with_body(b"abc"))
rules(
    "7.1.2", "a trailer never counts as …", ["Cache-Control: no-store", "Age: 100", "Vary: *"],
    lambda line: (get(says=said(f"HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n{line}\r\n\r\n")),
                  get().refused(200).with_body(b"abc")))

# 9: connections
rule(
    "9.3", "a connection is kept for the next request",
    raw(GET + "\r\n" + GET.replace("{target}", "{target}b") + "\r\n",
        says=ok()).asks(2, "both are asked").expect(lambda h: len(bodies(h)) == 2, "two answers"))
rule("9.3", "Connection: close of a client ends it after the answer", get("Connection: close", says=ok()).closes())
rule("9.3", "a client of HTTP/1.0 has its connection ended", get(version="1.0", says=ok()).closes())
rule(
    "9.3.2", "pipelined requests are answered in their order",
    raw(GET + "\r\n" + GET.replace("{target}", "{target}b") + "\r\n" + GET.replace("{target}", "{target}c") + "\r\n",
        says=[ok(body=b"1"), ok(body=b"2"), ok(body=b"3")]).asks(3, "all are asked").expect(lambda h: bodies(h) == [b"1", b"2", b"3"], "in order"))
rule("9.3.2", "what follows a request with close is not answered",
     raw(GET + "Connection: close\r\n\r\n" + GET + "\r\n", says=ok()).asks(1, "one is asked").expect(lambda h: len(bodies(h)) == 1, "one answer"))
rule("9.6", "an answer after which we close says so", get(version="1.0", says=ok()).has("Connection: close"))

# 11: attacks
rule("11.1", "a line feed in a target does not split a request", raw("GET {target}\nX: HTTP/1.1\r\n" + HOST + "\r\n").refused(400))
rules(
    "11.2", "a request hidden in a body is not answered: …", [
        "Content-Length: 0\r\nTransfer-Encoding: chunked", "Transfer-Encoding: xchunked\r\nContent-Length: 4",
        "Transfer-Encoding:\tchunked\r\nContent-Length: 3", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
        "Content-Length: 4\r\nContent-Length : 0"
    ], lambda lines: raw(POST + lines + "\r\n\r\n0\r\n\r\nGET {target}evil HTTP/1.1\r\n" + HOST + "\r\n").refused(400, 501).expect(
        lambda h: len(bodies(h)) == 1, "one answer").closes())
rule("11.2", "bare line feeds do not end a head", raw("GET {target} HTTP/1.1\nHost: {host}\n\n").refused(400, 505))

run()
