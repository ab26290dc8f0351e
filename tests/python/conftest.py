"""Where the tool is: build/release, unless POSY_TOOL says otherwise. Tests that share files with it need it."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tool():
    path = pathlib.Path(os.environ.get("POSY_TOOL", ROOT / "build/release/posy"))
    if not path.exists():
        pytest.skip(f"{path} is not there: scripts/build release posy-tool")

    def run(*arguments, input=""):
        done = subprocess.run([path, *map(str, arguments)], input=input, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    return run
