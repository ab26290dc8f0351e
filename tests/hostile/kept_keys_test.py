"""The keys of a node from outside: killed at any moment, damaged, refused, repaired. The damage itself, at random and in
every file, is in store_test.cpp.

Usage: kept_keys_test.py POSY [unittest arguments]
"""
import glob
import http.client
import os
import random
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "node"))
from mesh import NodeTest, until  # noqa: E402

POSY = os.path.abspath(sys.argv[1])


class KeptKeys(NodeTest):
    posy = POSY

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = os.path.join(folder.name, "keys")

    def run_node(self, *options, status):
        """A node that is to end by itself."""
        done = subprocess.run([POSY, "node", "--listen", "127.0.0.1:0", *options], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def filled(self, count=2000):
        """A folder with so many keys."""
        node = self.node("--data", self.data)
        keys = [f"key {i}" for i in range(count)]
        self.assertEqual(node.add(keys).status, 200)
        node.kill()
        return keys

    def has_all(self, node, keys):
        """Adding them again changes nothing."""
        self.assertEqual(node.add(keys).body, b'{"added":0,"removed":0,"unchanged":%d}\n' % len(keys))

    def test_a_kill_loses_no_acknowledged_key_and_starts_without_complaint(self):
        acknowledged, seed = [], random.Random(12)
        for turn in range(8):
            node = self.node("--data", self.data)
            self.has_all(node, acknowledged)
            self.assertEqual(len(node.log), 1, node.log)
            before = len(acknowledged)

            def put(writer, node=node, turn=turn):
                connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=30)
                try:
                    for i in range(100_000):
                        key = f"{turn}-{writer}-{i}"
                        connection.request("PUT", f"/keys/{key}")
                        answer = connection.getresponse()
                        answer.read()
                        self.assertEqual(answer.status, 201)
                        acknowledged.append(key)
                except (OSError, http.client.HTTPException):
                    pass  # it was killed
                finally:
                    connection.close()

            writers = [threading.Thread(target=put, args=(i,)) for i in range(3)]
            for writer in writers:
                writer.start()
            enough = before + seed.randint(1, 400)
            until(lambda: len(acknowledged) >= enough, what="enough keys")
            node.kill()
            for writer in writers:
                writer.join()
        self.has_all(self.node("--data", self.data), acknowledged)

    def test_a_store_without_current_is_refused_and_repaired(self):
        keys = self.filled()
        os.remove(os.path.join(self.data, "CURRENT"))
        said = self.run_node("--data", self.data, status=2)
        self.assertRegex(said, r"\Aposy: the store of keys [^\n]*: its file CURRENT is missing; [^\n]*'posy node --repair "
                               r"--data [^\n]*\n\Z")
        said = self.run_node("--data", self.data, "--repair", status=0)
        self.assertEqual(said, f"{self.data}: 2,000 keys recovered: all that there were\n"
                               f"what was there before is in {self.data}/damaged-1\n")
        self.has_all(self.node("--data", self.data), keys)

    def test_a_flipped_byte_is_refused_and_repaired(self):
        keys = self.filled()
        (log,) = glob.glob(os.path.join(self.data, "*.log"))
        with open(log, "r+b") as file:
            file.seek(20_000)
            byte = file.read(1)[0]
            file.seek(20_000)
            file.write(bytes([byte ^ 1]))
        for _ in range(2):  # starting it changes nothing
            self.assertIn("--repair", self.run_node("--data", self.data, status=2))
        said = self.run_node("--data", self.data, "--repair", status=1)
        self.assertIn("1,999 keys recovered, and 2,000 were kept", said)
        node = self.node("--data", self.data)
        self.assertEqual(node.add(keys).body, b'{"added":1,"removed":0,"unchanged":1999}\n')

    def test_a_log_that_ends_too_early_is_not_taken_for_a_kill(self):
        self.filled()
        (log,) = glob.glob(os.path.join(self.data, "*.log"))
        os.truncate(log, os.path.getsize(log) - 1)
        self.assertIn("it has 1999 keys, and 2000 were kept", self.run_node("--data", self.data, status=2))

    def test_repair_needs_a_store_that_nobody_uses(self):
        self.assertIn("name it with --data", self.run_node("--repair", status=2))
        self.assertIn("no store of keys is there", self.run_node("--repair", "--data", self.data, status=2))
        node = self.node("--data", self.data)
        node.add(["a"])
        for how in [[], ["--repair"]]:
            self.assertIn("another process uses it", self.run_node("--data", self.data, *how, status=2))
        self.has_all(node, ["a"])

    def test_keys_on_disk_before_the_answer(self):
        node = self.node("--data", self.data, "--sync")
        node.add(["a", "b"])
        node.kill()
        self.has_all(self.node("--data", self.data, "--sync"), ["a", "b"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
