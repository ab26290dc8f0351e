"""RFC 9111, sections 3.3 and 3.4, and RFC 9110, 15.3.7: parts of answers, stored and combined.

Usage: rfc9111_partial_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]

Small objects are not fetched as a whole here, so that parts stay parts; `ranges_test.py` does the other.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, ask, fresh, get, head, not_modified, ok, rule, rules, run, wire  # noqa: E402

DIGITS, LETTERS = b"0123456789", b"abcdefghij"
WHOLE = fresh('ETag: "d"', body=DIGITS)


def said(first, last, *fields, tag='"d"', of=DIGITS, directives="max-age=3600", length=10):
    """The origin's 206."""
    tags = (f"ETag: {tag}",) if tag else ()
    return answer(206, f"Cache-Control: {directives}", f"Content-Range: bytes {first}-{last}/{length}", *tags, *fields, body=of[first:last + 1])


def asking(first, last, *fields, **how):
    return get(f"Range: bytes={first}-{last}", *fields, **how)


def given(step, first, last, of=DIGITS):
    """From the store."""
    return step.refused(206).has(f"Content-Range: bytes {first}-{last}/10", f"Content-Length: {last - first + 1}").with_body(of[first:last + 1])


def begun(first, last, *fields, **how):
    """A part that is stored."""
    return asking(first, last, says=said(first, last, *fields, **how)).status(206)


# 3.3: incomplete answers
rules("3.3", "a range within a stored part is given from the store: …", [("2-7", 2, 7), ("3-5", 3, 5), ("2-2", 2, 2), ("7-7", 7, 7)],
      lambda value, first, last: (begun(2, 7), given(get(f"Range: bytes={value}"), first, last)))
rules("3.3", "so is a suffix that is all there: …", [("-3", 7, 9), ("-1", 9, 9), ("8-", 8, 9), ("8-99", 8, 9)], lambda value, first, last:
      (begun(7, 9), given(get(f"Range: bytes={value}"), first, last)))
rules("3.3", "one that is not wholly within it is not: …", ["0-1", "1-3", "6-8", "9-9", "5-", "-5", "0-9", "3-4,9-9"], lambda value:
      (begun(2, 7), get(f"Range: bytes={value}", says=WHOLE).forwarded(f"Range: bytes={value}")))
rule("3.3", "a request without a range is not answered with a part", begun(1, 8), get(says=WHOLE).forwarded(without="Range").status(200).with_body(DIGITS))
rule("3.3", "a request with a range that is no range is not", begun(0, 8), get("Range: lines=0-1", says=WHOLE).forwarded())
rule("3.3", "a part is marked as one: 206", begun(0, 8), given(asking(0, 1), 0, 1).status(206))
rule("3.3", "a range beyond the end is a 416: the length is known", begun(0, 8), get("Range: bytes=10-").refused(416).has("Content-Range: bytes */10"))
rule("3.3", "two ranges that are both there are a multipart", asking(0, 999, says=said(0, 999, of=DIGITS * 1000, length=10000)),
     get("Range: bytes=0-1,500-501").refused(206).has("Content-Type: ~^multipart/byteranges"))
rule("3.3", "HEAD is answered from a part, with the length of the whole", begun(0, 4, "X-A: 1"),
     head().refused(200).has("Content-Length: 10", "X-A: 1").lacks("Content-Range"))
rule("3.3", "the answer has an Age", begun(0, 4), given(asking(0, 1), 0, 1).has("Age"))
rules("3.3", "and the fields that came with the part: …", ['ETag: "d"', "X-A: 1", "Content-Type: text/x-digits", "Cache-Control: max-age=3600"], lambda line:
      (begun(0, 4, "X-A: 1", "Content-Type: text/x-digits"), given(asking(0, 1), 0, 1).has(line)))
CUT = b'HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nETag: "d"\r\nContent-Length: 10\r\n\r\n01234'
rule("3.3", "what came of a 200 that broke off is stored as a part", get(says=wire(CUT, close=True)), given(asking(0, 4), 0, 4))
rule("3.3", "and not as a whole", get(says=wire(CUT, close=True)), get(says=WHOLE).forwarded().with_body(DIGITS))
rule("3.3", "of one without a validator nothing is", get(says=wire(CUT.replace(b"ETag", b"X-Tag"), close=True)), asking(0, 4, says=said(0, 4)).forwarded())

# 3: what is storable of a 206
rules("3", "a 206 with … is not stored", ["no-store", "private, max-age=3600", "no-store, max-age=3600", "max-age=3600; no-store"], lambda value:
      (begun(0, 4, directives=value), asking(0, 4, says=said(0, 4)).forwarded()))
rule("3", "a 206 to Authorization is not stored", asking(0, 4, "Authorization: Basic eDp5", says=said(0, 4)), asking(0, 4, says=said(0, 4)).forwarded())
rule("3", "unless it says public", asking(0, 4, "Authorization: Basic eDp5", says=said(0, 4, directives="public, max-age=3600")), given(asking(0, 4), 0, 4))
rule("3", "a 206 that sets a cookie is stored without it", begun(0, 4, "Set-Cookie: a=b"), given(asking(0, 4), 0, 4).lacks("Set-Cookie"))
rule("3", "but not if a cookie asked for it", asking(0, 4, "Cookie: c=d", says=said(0, 4, "Set-Cookie: a=b")), asking(0, 4, says=said(0, 4)).forwarded())
rule("3", "a request with no-store does not store it", asking(0, 4, "Cache-Control: no-store", says=said(0, 4)), asking(0, 4, says=said(0, 4)).forwarded())
rules("14.4", "a 206 whose Content-Range is wrong is not stored: …",
      ["bytes 0-4/*", "bytes 4-0/10", "bytes 0-4/4", "bytes 0-4", "bytes 0-5/10", "bytes 0-3/10", "lines 0-4/10", "nonsense"], lambda value:
      (asking(0, 4, says=answer(206, "Cache-Control: max-age=3600", "Content-Range: " + value, 'ETag: "d"', body=b"01234")),
       asking(0, 4, says=said(0, 4)).forwarded()))
rule("15.3.7.2", "a 206 of several parts is passed on and not stored",
     get("Range: bytes=0-1,8-9", says=answer(206, "Cache-Control: max-age=3600", 'ETag: "d"', "Content-Type: multipart/byteranges; boundary=x",
                                             body=b"--x\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n--x--\r\n")).status(206),
     asking(0, 1, says=said(0, 1)).forwarded())

# 3.4: combining parts
rules("3.4", "parts of the same version are combined: …", [("0-4 and 5-9", (0, 4), (5, 9)), ("5-9 and 0-4", (5, 9), (0, 4)), ("0-6 and 3-9", (0, 6), (3, 9)),
                                                           ("3-9 and 0-6", (3, 9), (0, 6)), ("2-3 and 0-9", (2, 3), (0, 9))],
      lambda _, one, other: (begun(*one), begun(*other), given(asking(1, 8), 1, 8)))
rule("3.4", "so are three, whatever their order", begun(0, 2), begun(7, 9), begun(3, 6), given(asking(1, 8), 1, 8))
rule("3.4", "with a gap between them each is given, and nothing across the gap", begun(0, 2), begun(7, 9), given(asking(0, 2), 0, 2),
     given(asking(7, 9), 7, 9),
     asking(2, 7, says=said(2, 7)).forwarded())
rule("3.4", "when all of it is there, it is a whole answer", begun(0, 4), begun(5, 9), get().refused(200).has("Content-Length: 10").lacks("Content-Range").with_body(DIGITS))
rule("3.4", "a part that is all of it is a whole answer", begun(0, 9), get().refused(200).with_body(DIGITS))
rule("3.4", "a strong Last-Modified is enough", begun(0, 4, "Last-Modified: {ago:864000}", tag=""), begun(5, 9, "Last-Modified: {ago:864000}", tag=""),
     given(asking(1, 8), 1, 8))
rules("3.4", "parts are not combined if the validator of the second is …", ['"e"', 'W/"d"', ""], lambda tag:
      (begun(0, 4), begun(5, 9, tag=tag, of=LETTERS), asking(1, 8, says=said(1, 8)).forwarded()))
rule("3.4", "of two versions the newer is kept", begun(0, 4), begun(5, 9, tag='"e"', of=LETTERS), given(asking(5, 9), 5, 9, of=LETTERS),
     asking(0, 4, says=said(0, 4, tag='"e"', of=LETTERS)).forwarded())
rules("3.4", "nothing is combined with … as its validator", [('W/"w"', 'W/"w"', ()), ("no ETag", "", ()), ("a date of now", "", ("Last-Modified: {ago:0}", ))],
      lambda _, tag, fields: (begun(0, 4, *fields, tag=tag), begun(5, 9, *fields, tag=tag), get(says=WHOLE).forwarded().with_body(DIGITS)))
rule("3.4", "nor after a 304 took the strong validator away", begun(0, 4, directives="max-age=0"),
     asking(0, 4, says=not_modified('ETag: W/"d"', "Cache-Control: max-age=3600")).status(206), get(says=WHOLE).forwarded().with_body(DIGITS))
rule("3.4", "nor are parts of different lengths", begun(0, 4), begun(5, 9, length=11), asking(1, 8, says=said(1, 8)).forwarded())
rule("3.4", "the fields of the newer part replace those of the older", begun(0, 4, "X-A: 1"), begun(5, 9, "X-A: 2"), given(asking(0, 1), 0, 1).has("X-A: 2"))
rule("3.4", "those that it does not have stay", begun(0, 4, "X-A: 1", "X-B: 1"), begun(5, 9, "X-A: 2"), given(asking(0, 1), 0, 1).has("X-B: 1"))
rule("3.4", "the newer part says how long all of them are fresh", begun(0, 4, "Age: 100", directives="max-age=60"), begun(5, 9), given(asking(0, 4), 0, 4))
rule("3.4", "and may end it", begun(0, 4), begun(5, 9, "Age: 100", directives="max-age=60"), asking(0, 4, says=said(0, 4)).forwarded('If-None-Match: "d"'))
rule("15.3.7", "the 206 to an If-Range adds to a part", begun(0, 4, "X-A: 1"), asking(5, 9, 'If-Range: "d"', says=said(5, 9)),
     given(asking(1, 8), 1, 8).has("X-A: 1"))
rule("15.3.7", "but is no beginning: it may lack fields", asking(5, 9, 'If-Range: "d"', says=said(5, 9)), asking(5, 9, says=said(5, 9)).forwarded())

# 3.3 and 3.4: a beginning is completed
rule("3.3", "to a request for all, a beginning is completed by the rest", begun(0, 5, "X-A: 1"),
     get(says=said(6, 9)).forwarded("Range: bytes=6-", 'If-Range: "d"').status(200).has("Content-Length: 10", "X-A: 1").lacks("Content-Range").with_body(DIGITS))
rule("3.3", "and is then stored whole", begun(0, 5), get(says=said(6, 9)).forwarded(), get().refused(200).with_body(DIGITS))
rule("3.3", "what broke off is completed, too", get(says=wire(CUT, close=True)), get(says=said(5, 9)).forwarded("Range: bytes=5-", 'If-Range: "d"').with_body(DIGITS))
rule("3.3", "a 200 instead is the new answer", begun(0, 5), get(says=fresh('ETag: "e"', body=LETTERS)).forwarded("Range: bytes=6-").status(200).with_body(LETTERS))
rules("3.3", "with … instead, all of it is asked for again", [("another version", said(6, 9, tag='"e"', of=LETTERS)), ("another part", said(7, 9)), ("416", answer(416)),
                                                              ("no validator", said(6, 9, tag="")), ("a part that is not the last", said(6, 8)),
                                                              ("another length", said(6, 9, length=11)), ("one that may not be stored", said(6, 9, directives="no-store"))],
      lambda _, says: (begun(0, 5), get(says=[says, fresh('ETag: "e"', body=LETTERS)]).forwarded(without="Range", times=2).status(200).with_body(LETTERS)))
rule("3.3", "a strong date is a condition for the rest as well", begun(0, 5, "Last-Modified: {ago:864000}", tag=""),
     get(says=said(6, 9, "Last-Modified: {ago:864000}", tag="")).forwarded("If-Range: {ago:864000}").with_body(DIGITS))
rule("3.3", "parts without the first byte are not completed", begun(2, 5), get(says=WHOLE).forwarded(without=("Range", "If-Range")))
rule("3.3", "a rest that breaks off is a beginning, too", begun(0, 3),
     get(says=wire(b'HTTP/1.1 206 P\r\nCache-Control: max-age=60\r\nETag: "d"\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n456', close=True)),
     get(says=said(7, 9)).forwarded("Range: bytes=7-").with_body(DIGITS))

# 9110 13.1.5: If-Range
rule("13.1.5", "If-Range with the validator of the part: the part", begun(0, 4), given(asking(0, 1, 'If-Range: "d"'), 0, 1))
rules("13.1.5", "with …: to the origin", ['"x"', 'W/"d"', "{ago:1000}"], lambda value:
      (begun(0, 4), asking(0, 1, "If-Range: " + value, says=WHOLE).forwarded("If-Range: " + value, "Range: bytes=0-1").status(200)))

# 4.3: validation of parts
OLD = dict(directives="max-age=60")
rule("4.3.1", "a stale part is validated with its range", begun(0, 4, "Age: 100", **OLD),
     asking(0, 1, says=not_modified('ETag: "d"')).forwarded('If-None-Match: "d"', "Range: bytes=0-1").status(206).with_body(b"01"))
rule("4.3.3", "a 304 makes it fresh", begun(0, 4, "Age: 100", **OLD), asking(0, 1, says=not_modified('ETag: "d"', "Cache-Control: max-age=3600", "X-A: 2")),
     given(asking(2, 3), 2, 3).has("X-A: 2"))
rule("4.3.3", "a 206 of another version replaces it", begun(0, 4, "Age: 100", **OLD),
     asking(0, 1, says=said(0, 1, tag='"e"', of=LETTERS)).status(206).with_body(b"ab"),
     given(asking(0, 1), 0, 1, of=LETTERS),
     asking(0, 4, says=said(0, 4, tag='"e"', of=LETTERS)).forwarded())
rule("4.3.3", "a 200 replaces it by the whole", begun(0, 4, "Age: 100", **OLD), asking(0, 1, says=fresh('ETag: "e"', body=LETTERS)).forwarded(),
     get().refused(200).with_body(LETTERS))
rule("4.3.3", "an error does not", begun(0, 4, "Age: 100", directives="max-age=60, must-revalidate"), asking(0, 1, says=answer(500)).status(500),
     asking(0, 1, says=not_modified('ETag: "d"')).forwarded('If-None-Match: "d"').with_body(b"01"))
rule("4.3.2", "a client's own ETag is a 304", begun(0, 4), asking(0, 1, 'If-None-Match: "d"').refused(304))
rule("4.3.5", "HEAD of another version ages a part", begun(0, 4), head("Cache-Control: no-cache", says=ok('ETag: "e"', "Content-Length: 10")),
     asking(0, 1, says=said(0, 1)).forwarded('If-None-Match: "d"'))

# 5.2.1 and 4: requests
rule("5.2.1.4", "no-cache asks the origin", begun(0, 4), asking(0, 1, "Cache-Control: no-cache", says=said(0, 1)).forwarded())
rule("5.2.1.7", "only-if-cached is answered with what is there", begun(0, 4), given(asking(0, 1, "Cache-Control: only-if-cached"), 0, 1))
rules("5.2.1.7", "and refused what is not: …", ["Range: bytes=4-5", "X-A: 1"], lambda line:
      (begun(0, 4), get(line, "Cache-Control: only-if-cached").refused(504)))
rule("4.1", "a part of another variant is not given", asking(0, 4, "X-V: a", says=said(0, 4, "Vary: X-V")), asking(0, 4, "X-V: b", says=said(0, 4)).forwarded())
rule("4.1", "variants are not combined", asking(0, 4, "X-V: a", says=said(0, 4, "Vary: X-V")), asking(5, 9, "X-V: b", says=said(5, 9, "Vary: X-V", of=LETTERS)),
     asking(1, 8, "X-V: a", says=said(1, 8, "Vary: X-V")).forwarded())
rules("4.4", "… invalidates parts, too", ["POST", "PUT", "DELETE", "PATCH"], lambda method:
      (begun(0, 4), ask(method, body=b"x", says=ok()), asking(0, 4, says=said(0, 4)).forwarded()))
rule("4", "a whole answer takes the place of parts", begun(0, 4), get(says=fresh('ETag: "e"', body=LETTERS)).forwarded(),
     given(asking(0, 4), 0, 4, of=LETTERS))

run("--whole-object", "0")
