"""Nodes that find keys together: a mesh, groups, a tree and attenuated filters between real processes, and what hostile letters do to them.

Usage: overlay_test.py POSY [unittest arguments]
"""
import hashlib
import hmac
import json
import os
import signal
import struct
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import ScratchTest, posy  # noqa: E402
from daemons import exchange, samples, statuses_at_once  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

FAST = ("--beat", "1", "--lookup-time", "3", "--interval", "0.1")
PATIENT = 60


def batch(letters, addresses=()):
    """The body of POST /overlay."""
    return struct.pack("<H", len(addresses)) + b"".join(struct.pack("<B", len(a)) + a.encode() for a in addresses) + \
        b"".join(struct.pack("<I", len(letter)) + letter for letter in letters)


def neighbours(node, relation, state="up"):
    return sorted(n["address"] for n in json.loads(node.get("/overlay").body)["neighbours"] if n["relation"] == relation and n["state"] == state)


def holders(node, key):
    return [p["url"] for p in node.who(key)["peers"]]


class Members(ScratchTest):
    """Overlays of several nodes."""

    def member(self, kind, *options, **how):
        items = () if "--items" in options else ("--items", "1000")
        return self.node("--overlay", kind, *FAST, *items, *options, **how)

    def found(self, asked, key, *at):
        until(lambda: holders(asked, key) == [n.url for n in at], PATIENT, f"{key} at {[n.url for n in at]}")

    def mesh(self, number, *options):
        first = self.member("mesh", *options)
        nodes = [first] + [self.member("mesh", "--join", first.url, *options) for _ in range(number - 1)]
        for node in nodes:
            until(lambda: len(neighbours(node, "member")) == number - 1, PATIENT, "all members")
        return nodes

    def groups(self):
        """Two leaders, a and b, with two members each."""
        a = self.member("groups")
        b = self.member("groups", "--join", a.url)
        of_a = [self.member("groups", "--leader", a.url) for _ in range(2)]
        of_b = [self.member("groups", "--leader", b.url) for _ in range(2)]
        for leader, other, members in ((a, b, of_a), (b, a, of_b)):
            until(lambda: neighbours(leader, "member") == sorted(n.url for n in members), PATIENT, "the members")
            until(lambda: neighbours(leader, "other leader") == [other.url], PATIENT, "the other leader")
        return a, b, of_a, of_b

    def tree(self, *options):
        """The root, its children a and b, c and d below a, e below b."""
        root = self.member("tree", *options)
        a, b = (self.member("tree", "--parent", root.url, *options) for _ in range(2))
        c, d = (self.member("tree", "--parent", a.url, *options) for _ in range(2))
        e = self.member("tree", "--parent", b.url, *options)
        for node, below in ((root, (a, b)), (a, (c, d)), (b, (e,))):
            until(lambda: neighbours(node, "child") == sorted(n.url for n in below), PATIENT, "the children")
        return root, a, b, c, d, e

    def ring(self, number, *options):
        """Each connects to the one before it, and the last also to the first."""
        nodes = [self.member("attenuated", *options)]
        for i in range(1, number):
            more = ("--peer", nodes[0].url) if i == number - 1 else ()
            nodes.append(self.member("attenuated", "--peer", nodes[-1].url, *more, *options))
        for i, node in enumerate(nodes):
            near = sorted({nodes[i - 1].url, nodes[(i + 1) % number].url})
            until(lambda: neighbours(node, "neighbour") == near, PATIENT, "two neighbours")
            until(lambda: len(neighbours(node, "member")) == number - 3, PATIENT, "all members")
        return nodes


class Overlay(Members):
    def changes(self, nodes, asked, at):
        """Keys come and go, one by one and many at once, and the one that is asked knows."""
        self.assertEqual(at.ask("PUT", "/keys/one").status, 201)
        at.add(f"key {i}" for i in range(50))
        self.found(asked, "one", at)
        for i in range(0, 50, 10):
            self.found(asked, f"key {i}", at)
        self.assertEqual(holders(asked, "nowhere"), [])
        self.assertTrue(at.who("one")["local"])
        self.assertEqual(at.ask("DELETE", "/keys/one").status, 204)
        self.found(asked, "one")
        for node in nodes:
            until(lambda: holders(node, "key 7") == ([] if node is at else [at.url]), PATIENT, "found from everywhere")

    def test_mesh(self):
        nodes = self.mesh(5)
        self.changes(nodes, nodes[1], nodes[3])
        answer = nodes[1].who("key 7")
        self.assertEqual((answer["method"], answer["hops"], answer["timed_out"]), ("mesh", 0, False))
        self.assertLess(answer["peers"][0]["summary_age_seconds"], 600)
        # One that is killed is noticed, and no longer named; one that is told to stop says so itself.
        nodes[3].kill()
        until(lambda: len(neighbours(nodes[0], "member")) == 3, PATIENT, "a member missed")
        self.found(nodes[1], "key 7")
        nodes[4].ask("PUT", "/keys/late")
        self.found(nodes[0], "late", nodes[4])
        self.assertEqual(nodes[4].kill(signal.SIGTERM), 0)
        until(lambda: nodes[4].url in neighbours(nodes[0], "member", "left"), PATIENT, "a farewell")
        self.found(nodes[0], "late")

    def test_mesh_outgrows_its_summary(self):
        nodes = self.mesh(3, "--items", "100")
        nodes[2].add(f"grown {i}" for i in range(1000))
        for i in range(0, 1000, 111):
            self.found(nodes[0], f"grown {i}", nodes[2])
        # At the rate of 1 % of the filter as it was, nearly all of these would be found.
        wrong = sum(bool(holders(nodes[0], f"absent {i}")) for i in range(200))
        self.assertLess(wrong, 40)  # at most 2 are expected; above 39 with odds below 1e-30

    def test_groups(self):
        a, b, of_a, of_b = self.groups()
        self.changes((a, b, *of_a, *of_b), of_a[0], of_b[1])
        answer = of_a[0].who("key 7")
        # To the own leader and back, to the other and back, to the holder and back.
        self.assertEqual((answer["method"], answer["hops"], answer["timed_out"]), ("groups", 6, False))
        b.ask("PUT", "/keys/own")
        self.found(of_a[1], "own", b)
        # A leader that is killed is replaced by one of its members; its own keys are gone with it.
        b.kill()
        until(lambda: any(neighbours(n, "other leader") == [a.url] for n in of_b), PATIENT, "an heir that leads")
        of_b[0].ask("PUT", "/keys/later")
        self.found(of_a[0], "later", of_b[0])
        self.found(of_a[0], "key 7", of_b[1])
        self.found(of_a[0], "own")
        # A newcomer that asks a mere member is sent to its leader.
        new = self.member("groups", "--leader", of_a[0].url)
        until(lambda: neighbours(new, "leader") == [a.url], PATIENT, "the way to the leader")
        new.ask("PUT", "/keys/new")
        self.found(of_b[0], "new", new)
        # One that leaves takes its keys with it; a leader that leaves has an heir.
        self.assertEqual(new.kill(signal.SIGTERM), 0)
        until(lambda: new.url not in neighbours(a, "member"), PATIENT, "a farewell")
        self.found(of_b[0], "new")
        of_a[0].ask("PUT", "/keys/last")
        self.assertEqual(a.kill(signal.SIGTERM), 0)
        self.found(of_b[1], "last", of_a[0])
        self.found(of_a[0], "later", of_b[0])

    def test_tree(self):
        root, a, b, c, d, e = self.tree()
        self.changes((root, a, b, c, d, e), c, e)
        answer = c.who("key 7")
        self.assertEqual((answer["method"], answer["hops"], answer["timed_out"]), ("tree", 4, False))
        self.assertEqual(c.metric('posy_overlay_lookups_total{result="timed_out"}'), 0)
        self.assertGreater(c.metric('posy_overlay_lookups_total{result="found"}'), 0)
        # The children of one that is killed turn to their grandparent, and are found there.
        d.ask("PUT", "/keys/below")
        self.found(e, "below", d)
        a.kill()
        until(lambda: neighbours(root, "child") == sorted(n.url for n in (b, c, d)), PATIENT, "c and d at the root")
        self.found(e, "below", d)
        self.assertGreaterEqual(root.metric("posy_overlay_lost_total"), 1)
        # A leaf that leaves takes its keys with it.
        self.assertEqual(d.kill(signal.SIGTERM), 0)
        until(lambda: d.url not in neighbours(root, "child"), PATIENT, "a farewell")
        self.found(e, "below")

    def test_attenuated(self):
        nodes = self.ring(6, "--levels", "2")
        self.changes(nodes, nodes[1], nodes[2])
        # By the neighbour's filter, as soon as it is here.
        until(lambda: nodes[1].who("key 7")["hops"] == 1, PATIENT, "found next door")
        self.assertEqual(nodes[1].who("key 7")["method"], "attenuated")
        # Three hops away, beyond the filters: the sure way.
        far = nodes[5].who("key 7")
        self.assertEqual([p["url"] for p in far["peers"]], [nodes[2].url])
        nodes[2].kill()
        until(lambda: nodes[2].url not in neighbours(nodes[1], "neighbour"), PATIENT, "a neighbour missed")
        self.found(nodes[5], "key 7")
        nodes[4].ask("PUT", "/keys/later")
        self.found(nodes[1], "later", nodes[4])

    def test_starts_with_its_keys_and_comes_back(self):
        data = self.path("keys")
        root = self.member("tree")
        at = f"127.0.0.1:{free_port()}"
        child = self.member("tree", "--parent", root.url, "--data", data, listen=at)
        child.add(["kept"])
        self.found(root, "kept", child)
        child.kill()
        until(lambda: neighbours(root, "child") == [], PATIENT, "a child missed")
        self.found(root, "kept")
        again = self.member("tree", "--parent", root.url, "--data", data, listen=at)
        self.found(root, "kept", again)


class Mistakes(Members):
    """Wrong options are seen in the log and at /overlay."""

    def state(self, node, url):
        return [(n["relation"], n["state"]) for n in json.loads(node.get("/overlay").body)["neighbours"] if n["address"] == url]

    def logged(self, node, *words):
        until(lambda: any(all(w in line for w in words) for line in node.log), PATIENT, words)

    def test_other_filters(self):
        for kind, option, above, below in (("tree", "--parent", "parent", "child"), ("groups", "--leader", "leader", "member"),
                                           ("attenuated", "--peer", "neighbour", "neighbour")):
            first = self.member(kind)
            other = self.member(kind, option, first.url, "--items", "5000")
            other.add(["hidden"])
            until(lambda: self.state(first, other.url) == [(below, "other filters")], PATIENT, "seen from above")
            until(lambda: self.state(other, first.url) == [(above, "other filters")], PATIENT, "seen from below")
            self.logged(first, f"{below} {other.url}", "other --items")
            self.logged(other, f"{above} {first.url}", "other --items")

    def test_contacts_out_of_reach(self):
        for kind, option, relation in (("tree", "--parent", "contact"), ("groups", "--leader", "leader"), ("groups", "--join", "contact"),
                                       ("mesh", "--join", "contact"), ("attenuated", "--peer", "contact")):
            port = free_port()
            url = f"http://127.0.0.1:{port}"
            node = self.member(kind, option, url)
            self.logged(node, f"cannot reach {url}: ")
            if option != "--leader":  # a member soon leads itself
                self.assertEqual(self.state(node, url), [(relation, "unreachable")])
        first = self.member("attenuated", listen=f"127.0.0.1:{port}")
        until(lambda: self.state(node, first.url) == [("neighbour", "up")], PATIENT, "reached after all")
        self.logged(node, f"{url} is reached again")
        self.assertEqual(sum("cannot reach" in line for line in node.log), 1)
        tls = self.member("tree", "--parent", first.url.replace("http:", "https:"))
        self.logged(tls, "cannot reach https:")

    def test_a_child_at_a_wrong_url(self):
        root = self.member("tree")
        url = f"http://127.0.0.1:{free_port()}"
        self.member("tree", "--parent", root.url, "--url", url)
        until(lambda: self.state(root, url) == [("child", "unreachable")], PATIENT, "a child out of reach")
        self.logged(root, f"cannot reach {url}: ")


class Hostile(Members):
    def letter(self, node, body, **fields):
        fields = {"Posy-From": "http://127.0.0.1:1", "Posy-To": node.url, **{n.replace("_", "-"): v for n, v in fields.items()}}
        return node.ask("POST", "/overlay", body, {n: v for n, v in fields.items() if v is not None})

    def refused(self, node, why):
        return node.metric(f'posy_overlay_refused_batches_total{{why="{why}"}}')

    def pairs(self):
        yield self.mesh(2)
        root = self.member("tree")
        yield root, self.member("tree", "--parent", root.url)
        leader = self.member("groups")
        yield leader, self.member("groups", "--leader", leader.url)
        first = self.member("attenuated")
        yield first, self.member("attenuated", "--peer", first.url)

    def test_garbage_changes_nothing(self):
        for node, other in self.pairs():
            other.add(["still there"])
            self.found(node, "still there", other)
            relations = lambda: [(n["address"], n["relation"], n["state"]) for n in json.loads(node.get("/overlay").body)["neighbours"]]
            before = relations()
            bad = [b"", b"\0", b"\xff\xff", batch([b"x" * 20])[:-1], batch([b""]), batch([], ["x" * 200])[:50], os.urandom(5000)]
            for body in bad:
                self.assertEqual(self.letter(node, body).status, 400, body[:20])
            self.assertEqual(self.refused(node, "malformed"), len(bad))
            letters = [bytes([kind]) + os.urandom(size) for kind in range(256) for size in (0, 7)]
            letters = [letter for letter in letters if letter[0] not in (1, 2, 3)]
            for i in range(0, len(letters), 100):
                self.assertEqual(self.letter(node, batch(letters[i:i + 100])).status, 400)
            self.assertGreater(node.metric('posy_overlay_bad_letters_total{why="damaged"}'), 400)
            # Heads: nobody, somebody else's name, a name that is no URL; another node's letters.
            for fields in ({"Posy_From": None}, {"Posy_To": None}, {"Posy_From": node.url}, {"Posy_From": "http://127.0.0.1:1/x"}, {"Posy_From": "nonsense"}):
                self.assertEqual(self.letter(node, batch([b"xx"]), **fields).status, 400, fields)
            self.assertEqual(self.letter(node, batch([b"xx"]), Posy_To="http://127.0.0.1:9").status, 421)
            self.assertEqual(self.refused(node, "misdirected"), 1)
            until(lambda: relations() == before, PATIENT, "the same neighbours as before")
            self.found(node, "still there", other)

    def test_too_large(self):
        node = self.member("tree")
        for framing in (b"Content-Length: 99999999\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n" + b"100000\r\n" + b"x" * (1 << 20)):
            head = f"POST /overlay HTTP/1.1\r\nHost: localhost\r\nPosy-From: http://127.0.0.1:1\r\nPosy-To: {node.url}\r\n".encode() + framing
            if b"chunked" in framing:
                head += b"\r\n" + (b"100000\r\n" + b"x" * (1 << 20) + b"\r\n") * 16
            got, _ = exchange(node.port, head)
            self.assertIn(b" 413 ", got[:20])
        self.assertEqual(self.refused(node, "too_large"), 2)

    def test_flood(self):
        """One sender's flood is refused, and lookups are answered meanwhile."""
        node, other = self.mesh(2)
        other.add(["there"])
        self.found(node, "there", other)
        body = batch([b"\xee" * 40] * 50)
        request = (f"POST /overlay HTTP/1.1\r\nHost: localhost\r\nPosy-From: http://127.0.0.1:1\r\nPosy-To: {node.url}\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        statuses, slowest = [], 0
        for _ in range(25):
            statuses += statuses_at_once(node.port, request, 100)
            began = time.monotonic()
            self.assertEqual(holders(node, "there"), [other.url])
            slowest = max(slowest, time.monotonic() - began)
        self.assertEqual(set(statuses), {400, 429})
        self.assertEqual(self.refused(node, "too_many"), statuses.count(429))
        self.assertLess(slowest, 5)

    def test_made_up_children_are_few_and_forgotten(self):
        root = self.member("tree")
        for i in range(200):
            self.assertEqual(self.letter(root, batch([b"\x03"]), Posy_From=f"http://127.0.0.1:{10000 + i}").status, 204)
        self.assertLessEqual(len(neighbours(root, "child")), 64)
        # Each beyond the 64th was refused, or took the place of one that had been silent.
        figures = root.metrics()
        self.assertGreaterEqual(figures['posy_overlay_bad_letters_total{why="refused"}'] + figures["posy_overlay_lost_total"], 136)
        until(lambda: neighbours(root, "child") == [], PATIENT, "silent children dropped")

    def test_the_token(self):
        """With a token letters need its seal; the token itself is in none of them."""
        secret = self.write("token", "a-secret-of-thirty-two-characters")
        other = self.write("other", "another-one-of-thirty-two-letters")
        token = {"Authorization": "Bearer a-secret-of-thirty-two-characters"}
        root = self.member("tree", "--token-file", secret)
        child = self.member("tree", "--token-file", secret, "--parent", root.url)
        wrong = self.member("tree", "--token-file", other, "--parent", root.url)
        child.ask("PUT", "/keys/sealed", headers=token)
        who = lambda: json.loads(root.ask("GET", "/who?key=sealed", headers=token).body)
        until(lambda: [p["url"] for p in who()["peers"]] == [child.url], PATIENT, "found by sealed letters")
        self.assertEqual(self.letter(root, batch([b"\x03"])).status, 401)
        until(lambda: any("refuses letters: 401" in line for line in wrong.log), PATIENT, "a refusal in the log")
        listed = json.loads(root.ask("GET", "/overlay", headers=token).body)["neighbours"]
        self.assertEqual([n["address"] for n in listed], [child.url])
        # A seal is for its body, its two nodes and its time.
        body, sender = batch([b"\x03"]), "http://127.0.0.1:1"

        def sealed(body_of_seal=body, to=None, at=None):
            at, digest = at or int(time.time() * 1000), hashlib.sha256(body_of_seal).hexdigest()
            said = f"{sender}\n{to or root.url}\n{at}\n{digest}".encode()
            return {"Authorization": f"Posy-Letter {at} {digest} " + hmac.new(b"a-secret-of-thirty-two-characters", said, "sha256").hexdigest()}
        self.assertEqual(self.letter(root, body, **sealed()).status, 204)
        for bad in (sealed(b"other"), sealed(to=child.url), sealed(at=int(time.time() * 1000) - 3_600_000), {"Authorization": "Posy-Letter x"}):
            self.assertEqual(self.letter(root, body, **bad).status, 401, bad)
        # It is good for letters and nothing else.
        self.assertEqual(root.ask("GET", "/who?key=x", headers=sealed()).status, 401)

    def test_a_recorded_farewell_is_not_believed_again(self):
        secret = self.write("token", "a-secret-of-thirty-two-characters")
        token = {"Authorization": "Bearer a-secret-of-thirty-two-characters"}
        farewells = {"tree": ("child", b"\x05\0", b"\x03"), "groups": ("member", b"\x33", b"\x31" + bytes(8))}
        for kind, (relation, farewell, beat) in farewells.items():
            node = self.node("--overlay", kind, "--items", "1000", "--beat", "30", "--token-file", secret)
            listed = lambda: [n["address"] for n in json.loads(node.ask("GET", "/overlay", headers=token).body)["neighbours"] if n["relation"] == relation]
            sender, at = "http://127.0.0.1:1", int(time.time() * 1000)

            def send(letter, later):
                body = batch([letter])
                digest = hashlib.sha256(body).hexdigest()
                said = f"{sender}\n{node.url}\n{at + later}\n{digest}".encode()
                seal = f"Posy-Letter {at + later} {digest} " + hmac.new(b"a-secret-of-thirty-two-characters", said, "sha256").hexdigest()
                return self.letter(node, body, Authorization=seal).status
            self.assertEqual([send(beat, 0), send(farewell, 1)], [204, 204])
            self.assertEqual(listed(), [])
            self.assertEqual(send(beat, 2), 204)
            self.assertEqual(listed(), [sender])
            self.assertEqual([send(farewell, 1), send(beat, 2)], [401, 401])
            self.assertEqual(listed(), [sender])
            figures = samples(node.ask("GET", "/metrics", headers=token).body.decode())
            self.assertEqual(figures['posy_overlay_refused_batches_total{why="repeated"}'], 2)

    def test_options(self):
        for options, words in ((("--overlay", "mesh", "--parent", "http://127.0.0.1:1"), "--parent is for --overlay tree"),
                               (("--overlay", "tree", "--peer", "b=http://127.0.0.1:1"), "use --parent"),
                               (("--overlay", "tree", "--leader", "http://127.0.0.1:1"), "--leader is for --overlay groups"),
                               (("--overlay", "groups", "--leader", "http://127.0.0.1:1", "--join", "http://127.0.0.1:2"), "a member has a --leader"),
                               (("--overlay", "tree", "--parent", "ftp://x"), "not the URL of a node"),
                               (("--overlay", "mesh", "--rehash", "1h"), "--rehash"),
                               (("--overlay", "mesh", "--listen", "0.0.0.0:0", "--allow-peer", "private"), "--url"),
                               (("--overlay", "tree", "--items", "2M", "--fpr", "0.000001"), "too large for an overlay"),
                               (("--url", "http://127.0.0.1:1"), "--overlay")):
            listen = () if "--listen" in options else ("--listen", "127.0.0.1:0")
            self.assertIn(words, posy("node", *listen, *options, status=2))
        plain = self.node()
        self.assertEqual([plain.ask("POST", "/overlay", b"").status, plain.get("/overlay").status], [404, 404])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
