"""Rules of an RFC as exchanges: what a client asks, what the origin says, what must come out at either end.

A rule is a section, a sentence and some steps, each a request of the client through the proxy:

    rule("4.2.1", "s-maxage counts before max-age",
         get(says=ok("Cache-Control: max-age=1, s-maxage=100", "Age: 50")),
         get().stored())

`says` is what the origin answers if it is asked in this step; without it, it repeats what it said last. Every answer of the
origin has a body of its own, unless the rule writes it, so that a stored answer is told from a new one. Without further words a step
must be forwarded and its answer passed on. In fields, paths and raw messages {url} is the URL of the rule, {path} its path, {host} the
origin's authority as a client writes it, {origin} its URL without a path. {ago:60} is the date a minute ago, {in:60} one in a minute.

All rules of a file share an origin and, for each mode, a proxy; each has URLs of its own. Everything is raw sockets: a message may be as
wrong as a rule wants it. `exchanges.py` has the messages and the origin.
"""
import os
import re
import sys
import time
import traceback

from careless import CARELESS
from cases import POSY
from daemons import Proxy
from exchanges import Answer, Origin, ask_raw, dated
from waiting import until

RULES = []


def rule(section, sentence, *steps, modes=("forward", "reverse")):
    RULES.append((section, sentence, steps, modes))


def rules(section, sentence, values, steps_of, **how):
    """The same rule for each of several values, which complete its sentence."""
    for value in values:
        steps = steps_of(*value) if isinstance(value, tuple) else steps_of(value)
        shown = value[0] if isinstance(value, tuple) else value
        rule(section, sentence.replace("…", str(shown) if str(shown).isprintable() else repr(shown)), *(steps if isinstance(steps, tuple) else (steps,)), **how)


# What an origin says

def answer(status, *fields, body=None, reason="Said", close=False):
    return Answer(status, fields, body, reason, close)


def ok(*fields, **how):
    return answer(200, *fields, **how)


def fresh(*fields, **how):
    """An answer that may be stored for an hour."""
    return ok("Cache-Control: max-age=3600", *fields, **how)


def stale(*fields, directives="", **how):
    """An answer that may be stored, and has a validator, but was too old when it came."""
    return ok("Cache-Control: max-age=60" + (", " + directives if directives else ""), "Age: 120", 'ETag: "v"', *fields, **how)


def not_modified(*fields):
    return answer(304, *fields)


def wire(message, close=False):
    """Bytes as they are."""
    return Answer(None, (), message, "", close)


def nothing():
    """The connection ends without an answer."""
    return wire(b"", close=True)


# What a client asks

class Step:
    """A request and what is expected of it. Each expectation is a function of what happened."""

    def __init__(self, method, fields, says=None, path="", body=None, version="1.1", raw=None, finish=True):
        self.method, self.fields, self.path, self.body, self.version = method, fields, path, body, version
        self.says = says if isinstance(says, (list, type(None))) else [says]
        self.raw, self.finish, self.expected, self.decided, self.watched = raw, finish, [], False, False

    def expect(self, true, what):
        self.expected.append((true, what))
        return self

    def asks(self, times, what):
        self.decided = True
        return self.expect(lambda h: len(h.received) == times, what)

    def forwarded(self, *fields, without=(), times=1):
        """The origin was asked, with these fields and without those names, and its answer is the client's."""
        self.asks(times, "the origin is asked")
        for line in fields:
            self.expect(lambda h, line=line: has_field(h.received[-1].fields, h.fill(line)), f"the origin receives {line}")
        for name in [without] if isinstance(without, str) else without:
            self.expect(lambda h, name=name: not values_of(h.received[-1].fields, name), f"the origin receives no {name}")
        return self

    def stored(self, which=-1):
        """The origin was not asked; the answer is what it said last, or in that step (by its number)."""
        self.asks(0, "the origin is not asked")
        return self.expect(lambda h: h.answer.status < 400 and h.answer.body == h.said[which], "the answer is the stored one")

    def validated(self, *fields, which=-1, status=200):
        """The origin was asked with these fields and said 304; the client has what was stored."""
        self.forwarded(*fields)
        return self.expect(lambda h: h.answer.status == status and (status == 304 or h.answer.body == h.said[which]), "the answer is the stored one, confirmed")

    def refused(self, *codes):
        """The proxy's own answer; the origin was not asked."""
        self.asks(0, "the origin is not asked")
        return self.status(*codes)

    def failed(self, *codes):
        """The origin was asked, once or again, and failed; the proxy says so."""
        self.decided = True
        return self.expect(lambda h: h.received, "the origin is asked").status(*(codes or (502, 504)))

    def renewed(self):
        """The answer came from the store, and behind it the origin is asked."""
        self.decided = True
        return self.expect(lambda h: until(lambda: len(h.asked()) == 1, 10, "asked behind the answer"), "the origin is asked in the background")

    def status(self, *codes):
        return self.expect(lambda h: h.answer is not None and h.answer.status in codes, f"the status is {' or '.join(map(str, codes))}")

    def has(self, *fields):
        for line in fields:
            self.expect(lambda h, line=line: has_field(h.answer.fields, h.fill(line)), f"the answer has {line}")
        return self

    def lacks(self, *names):
        for name in names:
            self.expect(lambda h, name=name: not values_of(h.answer.fields, name), f"the answer has no {name}")
        return self

    def with_body(self, body):
        return self.expect(lambda h: h.answer.body == body, f"the body is {body!r}")

    def closes(self):
        self.watched = True
        return self.expect(lambda h: h.ended, "the connection is closed")

    def sent(self, true, what):
        """A condition on the last request that the origin received."""
        return self.expect(lambda h: h.received and true(h.received[-1]), what)


def get(*fields, **how):
    return Step("GET", fields, **how)


def head(*fields, **how):
    return Step("HEAD", fields, **how)


def ask(method, *fields, **how):
    return Step(method, fields, **how)


def raw(message, **how):
    """A client's bytes as they are; placeholders are filled in."""
    return Step(None, (), raw=message, **how)


def values_of(fields, name):
    return [value for n, value in fields if n.lower() == name.lower()]


def has_field(fields, line):
    """'Name: value', or 'Name' with any value; 'Name: ~pattern' is searched."""
    name, colon, value = line.partition(":")
    found, value = values_of(fields, name), value.strip()
    if value.startswith("~"):
        return any(re.search(value[1:], each) for each in found)
    return value in found if colon else bool(found)


# Modes: how a URL of the origin is asked for

class Forward:
    def __init__(self, origin, options):
        self.host = f"127.0.0.1:{origin.port}"
        self.origin = f"http://{self.host}"
        self.proxy = Proxy(POSY, *options)

    def target(self, path):
        return self.origin + path


class Reverse:
    def __init__(self, origin, options):
        self.host = "site.example"
        self.origin = f"http://{self.host}"
        self.proxy = Proxy(POSY, "--origin", f"{self.host}={origin.url}", *options)

    def target(self, path):
        return path


MODES = {"forward": Forward, "reverse": Reverse}


class Careless(Forward):
    """A proxy that is wrong in its own way in the place of ours."""

    def __init__(self, kind, origin):
        self.host = f"127.0.0.1:{origin.port}"
        self.origin = f"http://{self.host}"
        self.proxy = kind(origin)
        self.proxy.port, self.proxy.name = int(self.proxy.url.rpartition(":")[2]), "careless"


class Happened:
    """What a step came to. `said` are the bodies of all answers of the origin in this rule."""

    def __init__(self, fill, answers, ended, asked, said):
        self.fill, self.answers, self.ended, self.asked, self.said = fill, answers, ended, asked, said
        self.received = asked()
        self.answer = next((a for a in answers if a.status >= 200), None)
        self.interim = [a for a in answers if a.status < 200]

    def __str__(self):
        shown = [f"  origin received: {r.start} {r.fields} {r.body[:80]!r}" for r in self.received]
        return "\n".join(shown + [f"  client received: {a.start} {a.fields} {a.body[:80]!r}" for a in self.answers])


def play(mode, origin, number, steps):
    """One rule in one mode; what is wrong, or nothing."""
    path = f"/{number}/"
    script = origin.script(path)
    now = time.time()  # the same for all dates of a rule, so that those that are written alike are equal

    def fill(text):
        if text is None:
            return None
        if isinstance(text, bytes):
            return fill(text.decode("latin-1")).encode("latin-1")
        text = text.replace("{url}", mode.origin + path).replace("{path}", path).replace("{host}", mode.host).replace("{origin}", mode.origin)
        return dated(text.replace("{target}", mode.target(path)).replace("{name}", mode.proxy.name), now)

    for index, step in enumerate(steps):
        before = script.begin(step.says, fill)
        if step.raw is None:
            lines = [f"{step.method} {mode.target(path + step.path)} HTTP/{step.version}", *map(fill, step.fields)]
            if not any(line.lower().startswith("host:") for line in lines[1:]):
                lines.insert(1, f"Host: {mode.host}")
            if step.body is not None and not any("transfer-encoding" in line.lower() for line in lines):
                lines.append(f"Content-Length: {len(step.body)}")
            message = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (step.body or b"")
        else:
            message = fill(step.raw).encode("latin-1")
        answers, ended = ask_raw(mode.proxy.port, message, step.method, step.finish, step.watched)
        happened = Happened(fill, answers, ended, lambda before=before: script.received[before:], script.said)
        if not step.decided:
            step.forwarded()
        for true, what in step.expected:
            try:
                held = true(happened)
            except (AttributeError, IndexError, KeyError, ValueError, AssertionError) as error:
                held, what = False, f"{what} ({error!r})"
            if not held:
                return f"step {index + 1}: not so: {what}\n{happened}"
    return None


def chosen_rules():
    """(number, title, steps, modes) of all rules, or of those whose section or sentence has all words of the command line."""
    words = [word for word in sys.argv[2:] if not word.startswith("--")]
    document = os.path.basename(sys.argv[0]).split("_")[0]
    for number, (section, sentence, steps, modes) in enumerate(RULES):
        title = f"{document} {section}: {sentence}"
        if all(word in title for word in words):
            yield number, title, steps, modes


def play_all(mode, origin, rules_to_play):
    """(title, what is wrong) of each rule."""
    for number, title, steps, _ in rules_to_play:
        try:
            yield title, play(mode, origin, number, steps)
        except Exception:  # noqa: BLE001 - the other rules are still of interest
            yield title, traceback.format_exc(limit=-1)


def run(*options):
    """Plays the rules in forward and in reverse mode, or in that of `--mode=`. `--careless` plays them with proxies that do it wrong, and
    fails if a rule does not notice any of them."""
    if "--careless" in sys.argv:
        unnoticed = {title for _, title, _, modes in chosen_rules() if "forward" in modes}
        for kind in CARELESS:
            origin = Origin()
            mode = Careless(kind, origin)
            playing = [each for each in chosen_rules() if each[1] in unnoticed]
            unnoticed -= {title for title, wrong in play_all(mode, origin, playing) if wrong}
        print("\n".join(["no careless proxy breaks: " + title for title in sorted(unnoticed)]))
        sys.exit(1 if unnoticed else 0)
    modes = [word.removeprefix("--mode=") for word in sys.argv[2:] if word.startswith("--mode=")] or list(MODES)
    failed, played = 0, 0
    for name in modes:
        origin, began = Origin(), time.monotonic()
        mode = MODES[name](origin, options)
        for title, wrong in play_all(mode, origin, [each for each in chosen_rules() if name in each[3]]):
            played += 1
            if wrong:
                failed += 1
                print(f"FAILED ({name}) {title}\n{wrong}", flush=True)
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
        mode.proxy.close()
        origin.close()
    print(f"{failed} of {played} rules failed")
    sys.exit(1 if failed or not played else 0)
