"""Streams flow: an answer comes when its line has come, states are saved meanwhile, a closed pipe is no error.

Usage: streams_test.py POSY [unittest arguments]
"""
import json
import os
import signal
import subprocess
import threading
import queue

from harness import POSY, ToolTest, main, until


class Stream:
    """A running posy: lines go in, and what comes out is read as it comes."""

    def __init__(self, test, *args):
        self.process = subprocess.Popen([POSY, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=test.dir)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        test.addCleanup(self.end)

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode())

    def say(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def hear(self):
        return self.lines.get(timeout=30)

    def end(self, how=None):
        if how:
            self.process.send_signal(how)
        elif self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(timeout=30)
        self.reader.join()
        self.process.stdout.close()
        return status


class Streams(ToolTest):
    def test_answers_come_while_the_input_goes_on(self):
        self.posy("build", "-n", "10", "-f", "1e-6", "-o", "ab.posy", stdin="a\nb\n")
        for args, asked in [(["query", "ab.posy"], "ab"), (["query", "-v", "ab.posy"], "xy"), (["seen", "--window", "1h"], "xyz")]:
            stream = Stream(self, *args)
            for key in asked:  # each is answered before the next is sent
                stream.say(key + "\n")
                self.assertEqual(stream.hear(), key + "\n")
            self.assertEqual(stream.end(), 0)

    def test_counts_so_far(self):
        stream = Stream(self, "count", "--every", "0.2s")
        stream.say("a\na\nb\n")
        while stream.hear() != "2\ta\n":
            pass
        self.assertEqual(stream.hear(), "1\tb\n")
        self.assertEqual(stream.hear(), "\n")
        self.assertEqual(stream.end(), 0)
        self.fails("count", "--every", "1s", "--top", "0", stdin="a\n", saying="--top 0 keeps no keys")

    def test_counts_so_far_are_a_line_each_in_json(self):
        stream = Stream(self, "count", "--every", "0.2s", "--json")
        stream.say("a\na\n")
        while not (keys := json.loads(stream.hear())["keys"]):
            pass
        self.assertEqual(keys, [{"key": "a", "estimate": 2, "low": 2}])
        self.assertEqual(stream.end(), 0)

    def test_a_signal_ends_the_input_of_a_count(self):
        for how in [signal.SIGTERM, signal.SIGINT]:
            stream = Stream(self, "count", "--every", "0.2s", "-o", "c.posy")
            stream.say("a\na\n")
            while stream.hear() != "2\ta\n":
                pass
            self.assertEqual(stream.end(how), 0)
            self.assertEqual(self.posy("count", "--list", "c.posy"), b"2\ta\n")
            os.remove(self.path("c.posy"))

    def known(self, state, keys):
        """Which of the keys the state has seen."""
        with open(self.path(state), "rb") as f:
            self.write("copy.posy", f.read())
        return self.posy("seen", "-v", "--state", "copy.posy", stdin=keys).decode().split()

    def test_a_state_is_saved_now_and_then_and_at_signals(self):
        for how in [signal.SIGTERM, signal.SIGINT]:
            state = f"{how.name}.posy"
            stream = Stream(self, "seen", "--window", "1h", "--state", state, "--save-every", "0.2s")
            stream.say("a\n")
            stream.hear()
            until(lambda: os.path.exists(self.path(state)))  # before the end, with no more input
            self.assertEqual(self.known(state, "a\nb\n"), ["a"])
            stream.say("b\n")
            stream.hear()
            self.assertEqual(stream.end(how), 0)
            self.assertEqual(self.known(state, "a\nb\nc\n"), ["a", "b"])

    def test_a_closed_pipe_ends_every_command_in_silence(self):
        self.write("keys", self.lines(0, 100_000))
        self.posy("build", "keys", "-n", "100k", "-o", "f.posy")
        commands = [["query", "f.posy", "keys"], ["count", "keys", "--top", "100000"], ["seen", "--window", "1h", "keys"], ["build", "keys", "-o", "-"],
                    ["info", "f.posy"], ["plan", "-n", "1M"], ["seen", "--window", "1h", "--state", "s.posy", "keys"], ["--help"], ["count", "--help"]]
        for command in commands:
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([POSY, *command], stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE, cwd=self.dir)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""), command)
        # What was read is remembered all the same.
        self.assertGreater(json.loads(self.posy("info", "--json", "s.posy"))["items"], 0)


if __name__ == "__main__":
    main()
