"""RFC 9213: CDN-Cache-Control, which counts instead of Cache-Control and Expires, as a structured field (RFC 9651).

Usage: rfc9213_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import fresh, get, not_modified, nothing, ok, rule, rules, run  # noqa: E402


def cdn(value, *fields):
    return ok("CDN-Cache-Control: " + value, *fields)


# 2.2: precedence
rule("2.2", "a targeted lifetime is enough", get(says=cdn("max-age=3600")), get().stored())
rules("2.2", "it counts before …", [
    "Cache-Control: max-age=1", "Cache-Control: no-store", "Cache-Control: private", "Cache-Control: no-cache", "Cache-Control: s-maxage=1",
    "Expires: {ago:100}", "Expires: 0"
], lambda line: (get(says=cdn("max-age=3600", line, "Age: 100")), get().stored()))
rules("2.2", "… counts before a long Cache-Control and Expires", ["no-store", "private", "no-cache", "max-age=0", "max-age=1"], lambda value:
      (get(says=cdn(value, "Cache-Control: max-age=3600", "Expires: {in:3600}", "Age: 100")), get().forwarded()))
rule("2.2", "a valid field without a lifetime leaves none of Cache-Control's", get(says=cdn("must-revalidate", "Cache-Control: max-age=3600")),
     get().forwarded())
rule("2.2", "Cache-Control counts where there is no targeted field", get(says=fresh()), get().stored())
rule("2.2", "an empty field is as if it were not there", get(says=cdn("", "Cache-Control: max-age=3600")), get().stored())
rule("2.2", "fields for other targets do not count", get(says=fresh("Other-Cache-Control: no-store")), get().stored())
rules("2.2", "Age counts: …", ["max-age=100"], lambda value: (get(says=cdn(value, "Age: 200", "Cache-Control: max-age=3600")), get().forwarded()))
rule("2.2", "no-cache asks before use", get(says=cdn("no-cache", 'ETag: "v"', "Cache-Control: max-age=3600")),
     get(says=not_modified('ETag: "v"')).validated('If-None-Match: "v"'))
rule("2.2", "must-revalidate counts from it",
     get(says=cdn("max-age=60, must-revalidate", "Age: 100", 'ETag: "v"', "Cache-Control: max-age=60, stale-if-error=1000")),
     get(says=nothing()).failed())
rule("2.2", "directives of Cache-Control are not mixed in",
     get(says=cdn("max-age=3600", "Cache-Control: max-age=3600, must-revalidate, no-cache, no-store")),
     get().stored())

# 2.1: syntax
rules("2.1", "a field that is no dictionary of structured fields is ignored: …",
      ["max-age=3600, &&&", "max-age=3600;;", "max-age=3600, ", "MAX-AGE=3600", 'max-age="x', "max-age=3600 no-store"], lambda value:
      (get(says=cdn(value, "Cache-Control: no-store")), get().forwarded()))
rules("2.1", "a max-age of another type is ignored or makes the field so: …",
      ['max-age="3600"', "max-age=3600.0", "max-age=a", "max-age=?1", "max-age", "max-age=-1"], lambda value:
      (get(says=cdn(value, "Cache-Control: no-store")), get().forwarded()))
rules("2.1", "parameters and directives that are not known are ignored: …",
      ["max-age=3600;x=1", "x, max-age=3600", 'x="a, no-store", max-age=3600', "max-age=3600, x=(a b);c", "max-age=3600, x=:YQ==:"], lambda value:
      (get(says=cdn(value)), get().stored()))
rule("2.1", "the last of equal keys counts", get(says=cdn("max-age=0, max-age=3600")), get().stored())
rule("2.1", "lines are one dictionary", get(says=cdn("max-age=3600", "CDN-Cache-Control: no-store")), get().forwarded())

# 2.2: what others get
rule("2.2", "the field is passed on",
     get(says=cdn("max-age=3600", "Cache-Control: max-age=5")).has("CDN-Cache-Control: max-age=3600", "Cache-Control: max-age=5"),
     get().stored().has("CDN-Cache-Control: max-age=3600", "Cache-Control: max-age=5"))

run()
