#!/usr/bin/env python3
"""Checks that time is handed in: in the HTTP edge, the node and the proxy only the timekeeper reads a clock, and tests do not sleep.

Usage: time_test.py SOURCE_FOLDER
"""
import glob
import os
import re
import sys

# Who may, and what nobody else may do.
RULES = (
    (("apps/http/timekeeper.hpp", "apps/http/timekeeper.cpp"), r"clock::now\(|sleep_(for|until)\(|[^_]time\(nullptr\)|clock_gettime\(",
     ("apps/http/*", "apps/node/*", "apps/proxy/*"), "reads a clock; take the time from the http::timekeeper that was handed in"),
    (("tests/harness/waiting.py", "tests/docs/time_test.py"), r"time\.sleep\(|sleep_(for|until)\(",
     ("tests/**/*.py", "tests/**/*.[ch]pp"), "sleeps; wait for what is to happen (tests/harness/waiting.py, tests/manual_time.hpp)"),
)


def wrong(root):
    for allowed, pattern, where, why in RULES:
        files = [p for each in where for p in glob.glob(os.path.join(root, each), recursive=True)]
        assert len(files) > 20, where
        for path in files:
            name = os.path.relpath(path, root)
            if name in allowed:
                continue
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    if re.search(pattern, line):
                        yield f"{name}:{number}: {why}"


if __name__ == "__main__":
    found = list(wrong(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
