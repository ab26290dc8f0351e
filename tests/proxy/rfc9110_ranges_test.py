"""RFC 9110, sections 13.1.5, 14 and 15.3.7: ranges, from the store and from the origin.

Usage: rfc9110_ranges_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, fresh, get, head, ok, rule, rules, run, stale  # noqa: E402

DIGITS = b"0123456789"
WHOLE = fresh('ETag: "d"', "Last-Modified: {ago:864000}", "X-A: 1", "Content-Type: text/x-digits", body=DIGITS)


def part(step, first, last):
    """A 206 of these bytes from the store."""
    return step.refused(206).has(f"Content-Range: bytes {first}-{last}/10", f"Content-Length: {last - first + 1}").with_body(DIGITS[first:last + 1])


def whole(step):
    return step.refused(200).lacks("Content-Range").with_body(DIGITS)


def kept(first, last, *fields):
    return answer(206, "Cache-Control: max-age=3600", f"Content-Range: bytes {first}-{last}/10", 'ETag: "d"', *fields, body=DIGITS[first:last + 1])


# 14.1, 14.2: a part of what is stored
rules("14.2", "a range of a stored answer is given from the store: …", [("0-0", 0, 0), ("0-1", 0, 1), ("2-5", 2, 5), ("5-", 5, 9), ("9-9", 9, 9),
                                                                        ("-1", 9, 9), ("-10", 0, 9), ("-99", 0, 9), ("8-99", 8, 9)],
      lambda value, first, last: (get(says=WHOLE), part(get("Range: bytes=" + value), first, last)))
rule("14.2", "the unit has no case", get(says=WHOLE), part(get("Range: Bytes=0-1"), 0, 1))
rules("14.2", "it has the fields of the stored answer: …", ['ETag: "d"', "X-A: 1", "Content-Type: text/x-digits", "Cache-Control: max-age=3600"],
      lambda line: (get(says=WHOLE), part(get("Range: bytes=0-1"), 0, 1).has(line)))
rule("14.2", "and an Age and a Date", get(says=WHOLE), part(get("Range: bytes=0-1"), 0, 1).has("Age", "Date"))
rule("14.2", "what is stored stays whole", get(says=WHOLE), part(get("Range: bytes=0-1"), 0, 1), get().stored())
rules("14.2", "what is no range is ignored: …", ["bytes=", "bytes=a-b", "bytes=5-2", "bytes=-", "lines=0-1", "bytes 0-1", "bytes=0-1-2"],
      lambda value: (get(says=WHOLE), whole(get("Range: " + value))))
rule("14.2", "HEAD ignores it", get(says=WHOLE), head("Range: bytes=0-1").refused(200).has("Content-Length: 10"))
rule("14.2", "a condition that fails comes first: 304", get(says=WHOLE), get("Range: bytes=0-1", 'If-None-Match: "d"').refused(304))
rule("14.2", "an answer other than 200 is not cut", get(says=answer(404, "Cache-Control: max-age=100", body=DIGITS)),
     get("Range: bytes=0-1").refused(404).with_body(DIGITS))

# 14.4, 15.5.17: nothing to give
rules("15.5.17", "a range beyond the end is a 416 with the length: …", ["10-", "99-100", "-0"], lambda value:
      (get(says=WHOLE), get("Range: bytes=" + value).refused(416).has("Content-Range: bytes */10")))

# 14.6: several ranges
LONG = fresh("Content-Type: text/x-digits", body=DIGITS * 1000)


def parts(step):
    """Two parts, too far apart to be sent as one."""
    return step.refused(206).lacks("Content-Range").has("Content-Type: ~^multipart/byteranges; *boundary=")


rule("14.6", "several ranges are a multipart/byteranges", get(says=LONG),
     parts(get("Range: bytes=0-1, 9005-9006")).expect(lambda h: b"01" in h.answer.body and b"56" in h.answer.body, "both parts"))
rule("14.6", "each part names its range", get(says=LONG), parts(get("Range: bytes=0-1, 9005-9006")).expect(
    lambda h: b"bytes 0-1/10000" in h.answer.body and b"bytes 9005-9006/10000" in h.answer.body, "both ranges"))
rule("14.6", "each part names the type of the whole", get(says=LONG), parts(get("Range: bytes=0-1, 9005-9006")).expect(
    lambda h: h.answer.body.lower().count(b"content-type: text/x-digits") == 2, "two types"))
rule("14.6", "the length is that of the body", get(says=LONG), parts(get("Range: bytes=0-1,9005-9006")).expect(
    lambda h: int(dict(h.answer.fields)["Content-Length"]) == len(h.answer.body), "the length"))
rule("14.6", "ranges without bytes are left out", get(says=WHOLE), get("Range: bytes=0-1, 50-60").refused(206).expect(
    lambda h: b"01" in h.answer.body and b"50-" not in h.answer.body, "one part"))
rule(
    "14.2", "a great number of ranges is refused or ignored", get(says=WHOLE),
    get("Range: bytes=" + ",".join(f"{i % 10}-" for i in range(1000))).refused(200, 206, 416).expect(lambda h: len(h.answer.body) < 2000,
                                                                                                     "no amplification"))

# 13.1.5: If-Range
rule("13.1.5", "If-Range with the stored ETag: the part", get(says=WHOLE), part(get("Range: bytes=0-1", 'If-Range: "d"'), 0, 1))
rules("13.1.5", "with …: the whole", ['"x"', 'W/"d"', "{ago:1000}", "{in:1000}", "nonsense"], lambda value:
      (get(says=WHOLE), whole(get("Range: bytes=0-1", "If-Range: " + value))))
rule("13.1.5", "a weak ETag never matches", get(says=fresh('ETag: W/"d"', body=DIGITS)), whole(get("Range: bytes=0-1", 'If-Range: W/"d"')))
rule("13.1.5", "with the exact date, if that is strong: the part", get(says=WHOLE), part(get("Range: bytes=0-1", "If-Range: {ago:864000}"), 0, 1))
rule("13.1.5", "forwarded, it goes with its range",
     get("Range: bytes=0-1", 'If-Range: "d"', says=kept(0, 1)).asks(1, "the origin is asked").status(206))

# 15.3.7: 206 of the origin
rule("15.3.7", "a 206 of the origin is the client's",
     get("Range: bytes=2-3", says=kept(2, 3, "Cache-Control: no-store")).status(206).has("Content-Range: bytes 2-3/10").with_body(b"23"))
rule("15.3.7", "a 206 is never given to a client that asked for all",
     get("Range: bytes=2-3", says=kept(2, 3)).status(206),
     get(says=WHOLE).status(200).with_body(DIGITS))
rule(
    "15.3.7", "a 200 to a range is the client's, or the range of it",
    get("Range: bytes=2-3", says=WHOLE).forwarded().status(200,
                                                           206).expect(lambda h: h.answer.body == (DIGITS if h.answer.status == 200 else DIGITS[2:4]),
                                                                       "what its status says"))
rule("15.3.7", "and is stored whole", get("Range: bytes=2-3", says=WHOLE).forwarded(), whole(get()))

# 15.3.7.3: combining parts
rule("15.3.7.3", "a part is not given for what is beyond it", get("Range: bytes=2-5", says=kept(2, 5)),
     get("Range: bytes=4-7", says=kept(4, 7)).expect(lambda h: h.received, "the origin is asked").asks(1, "once").with_body(DIGITS[4:8]))
rule("15.3.7.3", "parts of different versions are not combined", get("Range: bytes=0-4", says=kept(0, 4)),
     get(says=fresh('ETag: "new"', body=b"abcdefghij")).expect(lambda h: h.received, "the origin is asked").asks(1, "once").with_body(b"abcdefghij"))
rule("15.3.7.3", "a stale part is not given unasked",
     get("Range: bytes=2-5", says=answer(206, "Cache-Control: max-age=60", "Age: 100", "Content-Range: bytes 2-5/10", 'ETag: "d"', body=b"2345")),
     get("Range: bytes=2-5", says=kept(2, 5)).expect(lambda h: h.received, "the origin is asked").asks(1, "once").with_body(b"2345"))
rule(
    "14.2", "a range of a stale answer is validated first", get(says=stale(body=DIGITS)),
    get("Range: bytes=0-1", says=fresh('ETag: "new"', body=b"abcdefghij")).asks(1, "asked").expect(lambda h: h.answer.body in (b"ab", b"abcdefghij"),
                                                                                                   "of the new one"))
rule("14.2", "no-cache with a range asks the origin", get(says=WHOLE),
     get("Range: bytes=0-1", "Cache-Control: no-cache", says=WHOLE).asks(1, "asked").status(200, 206))
rule("14.2", "what may not be stored is asked for by its range",
     get("Range: bytes=0-1", says=ok("Cache-Control: no-store", body=DIGITS)).forwarded("Range: bytes=0-1"))

run("--whole-object", "0")
