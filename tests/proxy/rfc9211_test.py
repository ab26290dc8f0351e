"""RFC 9211: what Cache-Status says of each answer.

Usage: rfc9211_test.py POSY [--mode=forward|reverse] [words of a section or sentence …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from behaviour import answer, ask, fresh, get, not_modified, ok, rule, rules, run, stale  # noqa: E402


def members(happened):
    return ", ".join(v for n, v in happened.answer.fields if n == "Cache-Status").split(", ")


def parameters(happened):
    """Those of our member, the last one: a dictionary, with True where there is no value."""
    _, *rest = members(happened)[-1].split("; ")
    return {name: value or True for name, _, value in (each.partition("=") for each in rest)}


def says(step, **expected):
    for name, value in expected.items():
        name = name.replace("_", "-")
        step.expect(lambda h, n=name, v=value: parameters(h).get(n, False) == v, f"{name} is {value}")
    return step


# 2: the field
rule("2", "a forwarded answer has a member with our name", get(says=ok()).has("Cache-Status: ~(^|, ){name}(;|$)"))
rule("2", "so has a stored one", get(says=fresh()), get().stored().has("Cache-Status: ~(^|, ){name}(;|$)"))
rule("2", "members of caches nearer to the origin come first",
     get(says=ok("Cache-Status: Inner; hit")).expect(lambda h: len(members(h)) == 2 and members(h)[0] == "Inner; hit", "two members"))
rule(
    "2", "several of them as well",
    get(says=ok("Cache-Status: A; hit, B; fwd=miss", "Cache-Status: C")).expect(
        lambda h: [m.split(";")[0] for m in members(h)][:3] == ["A", "B", "C"] and len(members(h)) == 4, "four members"))
rule("2", "a member that was stored stays before ours", get(says=fresh("Cache-Status: Inner; fwd=miss")),
     get().stored().expect(lambda h: len(members(h)) == 2 and members(h)[0] == "Inner; fwd=miss" and "; hit" in members(h)[1], "two members"))
rule("2", "a hit is not forwarded, and what is forwarded is no hit", says(get(says=fresh()), hit=False),
     says(get().stored(), fwd=False, fwd_status=False))

# 2.1: hit
rule("2.1", "hit without validation", get(says=fresh()), says(get().stored(), hit=True))
rule("2.1", "a 304 made from what is stored is a hit", get(says=fresh('ETag: "v"')), says(get('If-None-Match: "v"').refused(304), hit=True))

# 2.2: fwd
PART = answer(206, "Cache-Control: max-age=3600", 'ETag: "d"', "Content-Range: bytes 0-4/10000000", body=b"01234")
rule("2.2", "a part that does not have all of what is wanted is partial", get("Range: bytes=0-4", says=PART), says(get("Range: bytes=3-9", says=PART), fwd="partial"))
rule("2.2", "or of the whole", get("Range: bytes=0-4", says=PART), says(get(says=fresh()), fwd="partial"))
rule("2.1", "one that has is a hit", get("Range: bytes=0-4", says=PART), says(get("Range: bytes=1-2").refused(206), hit=True))
rule("2.2", "nothing stored for the URI is uri-miss", says(get(says=ok()), fwd="uri-miss"))
rule("2.2", "another variant is vary-miss", get("X-V: a", says=fresh("Vary: X-V")), says(get("X-V: b").forwarded(), fwd="vary-miss"))
rule("2.2", "a stale answer is stale", get(says=stale()), says(get().forwarded(), fwd="stale"))
rules("2.2", "what the request demands is request: …", ["no-cache", "max-age=0"], lambda d:
      (get(says=fresh("Age: 5")), says(get("Cache-Control: " + d).forwarded(), fwd="request")))
rules("2.2", "a method is method: …", ["POST", "PUT", "DELETE", "OPTIONS"], lambda m: says(ask(m, body=b"x", says=ok()), fwd="method"))

# 2.3: fwd-status
rules("2.3", "the status of the next hop: …", [200, 204, 404, 503], lambda status: says(get(says=answer(status)), fwd_status=str(status)))
rule("2.3", "a 304 that the client does not see", get(says=stale()),
     says(get(says=not_modified('ETag: "v"')).validated(), fwd="stale", fwd_status="304"))

# 2.4: ttl
rule("2.4", "what is left of the lifetime", get(says=ok("Cache-Control: max-age=1000", "Age: 400")),
     get().stored().expect(lambda h: 590 <= int(parameters(h)["ttl"]) <= 600, "ttl of 600"))
rule("2.4", "it is below zero for a stale answer", get(says=stale(directives="stale-while-revalidate=1000")),
     get().expect(lambda h: -80 <= int(parameters(h)["ttl"]) <= -60, "ttl of -60").renewed())

# 2.5: stored
rule("2.5", "stored when it was", says(get(says=fresh()), stored=True))
rules("2.5", "not when it was not: …", ["no-store", "private"], lambda d: says(get(says=ok("Cache-Control: max-age=100, " + d)), stored=False))
rule("2.5", "nor for a method that is not cached", says(ask("DELETE", says=fresh()), stored=False))

run()
