"""The scripts in sql/, by pg_regress: what they print is what expected/ says.

Usage: regress_test.py MODULE SCRIPTS POSY [unittest arguments]
After a change that is meant, copy the results that a failure names to expected/.
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import BINARIES, Server, main  # noqa: E402

PG_REGRESS = "/usr/lib/postgresql/15/lib/pgxs/src/test/regress/pg_regress"
HERE = os.path.dirname(os.path.abspath(__file__))


class Regress(unittest.TestCase):
    def test_all_scripts(self):
        names = sorted(os.path.basename(each).removesuffix(".sql") for each in glob.glob(os.path.join(HERE, "sql", "*.sql")))
        self.assertTrue(names)
        results = tempfile.mkdtemp(prefix="posy-regress-")
        with Server() as server:
            done = subprocess.run([PG_REGRESS, f"--bindir={BINARIES}", f"--host={server.folder}", f"--port={server.port}", "--user=postgres",
                                   f"--inputdir={HERE}", f"--outputdir={results}", *names], capture_output=True, text=True, check=False)
        differences = os.path.join(results, "regression.diffs")
        if done.returncode != 0:
            with open(differences, encoding="utf-8") if os.path.exists(differences) else open(os.devnull, encoding="utf-8") as file:
                self.fail(f"{done.stdout}{done.stderr}{file.read()}\nresults: {results}/results")
        subprocess.run(["rm", "-r", results], check=True)


if __name__ == "__main__":
    main()
