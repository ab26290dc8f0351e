"""The examples of docs/postgres.md: what it shows is what psql prints.

In a block ```sql, a statement follows "=> " on this server or "-> " on the other; it ends with a line that ends with a semicolon.
The lines up to the next one are what it prints. The other server's port stands as 5432.
Usage: docs_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import Server, main  # noqa: E402

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "postgres.md")


def statements(text):
    """(which server, statement, what it prints)"""
    for block in re.findall(r"^```sql\n(.*?)^```", text, re.M | re.S):
        yield from re.findall(r"^([=-]>) ((?:.*\n)*?.*;)\n((?:(?![=-]> ).*\n)*)", block, re.M)


class Docs(unittest.TestCase):
    maxDiff = None

    def test_examples(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            examples = list(statements(file.read()))
        self.assertGreater(len(examples), 15)
        with Server() as here, Server() as there:
            for server, sql, expected in examples:
                done = (here if server == "=>" else there).try_psql(sql.replace("'5432'", f"'{there.port}'"))
                printed = done.stdout + "".join(line + "\n" for line in done.stderr.splitlines() if line.startswith(("ERROR", "WARNING")))
                self.assertEqual(printed, expected, sql)


if __name__ == "__main__":
    main()
