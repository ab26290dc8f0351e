"""Small networks of network namespaces, which are gone after the test."""
import itertools
import os
import subprocess
import sys
import unittest

_numbers = itertools.count()


def ip(*args):
    done = subprocess.run(["ip", *args], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def reason_against():
    """Why this machine allows no namespaces; None if it does."""
    name = f"posy-try-{os.getpid()}"
    try:
        made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no command ip (iproute2)"
    if made.returncode != 0:
        return "network namespaces are not allowed here: " + made.stderr.strip()
    link = subprocess.run(["ip", "-n", name, "link", "add", "name", "posy0", "type", "veth", "peer", "name", "posy1"], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "del", name], check=True)
    return None if link.returncode == 0 else "veth links are not allowed here: " + link.stderr.strip()


class Network:
    """Named hosts and links between them. Every link is a network 10.0.N.0/24, on which the first end is .1 and the second .2."""

    def __init__(self, test: unittest.TestCase, *hosts):
        self.names = {host: f"posy-{os.getpid()}-{next(_numbers)}-{host}" for host in hosts}
        self.address = {}  # (host, neighbour): of the host on their link
        for name in self.names.values():
            ip("netns", "add", name)
            test.addCleanup(ip, "netns", "del", name)
            ip("-n", name, "link", "set", "lo", "up")

    def link(self, first, second):
        number = len(self.address) // 2
        ip("-n", self.names[first], "link", "add", "name", second, "type", "veth", "peer", "name", first, "netns", self.names[second])
        for place, (host, other) in enumerate(((first, second), (second, first)), 1):
            self.address[host, other] = f"10.0.{number}.{place}"
            ip("-n", self.names[host], "addr", "add", f"10.0.{number}.{place}/24", "dev", other)
            ip("-n", self.names[host], "link", "set", other, "up")

    def route(self, host, to, through):
        """Packets for addresses `to`, or "default", go through a neighbour."""
        ip("-n", self.names[host], "route", "add", to, "via", self.address[through, host])

    def forwards(self, host):
        """Makes it a router, which does not mind where sources are."""
        self.run(host, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward; for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >$f; done")

    def command(self, host, *args):
        return ["ip", "netns", "exec", self.names[host], *args]

    def run(self, host, *args):
        done = subprocess.run(self.command(host, *args), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (host, args, done.stderr)
        return done.stdout

    def python(self, host, program, *args):
        return self.run(host, sys.executable, "-c", program, *args)
