"""The examples of docstrings, of docs/python.md and of the notebook run, and show what they say."""

import doctest
import inspect
import json
import pathlib
import re
import subprocess
import sys

import pytest

import posy
import posy.planning

ROOT = pathlib.Path(__file__).resolve().parents[2]


def documented(owner, name):
    text = getattr(owner, "__doc__", None)
    if isinstance(text, str) and ">>>" in text:
        yield name, text
    if inspect.isclass(owner):
        for each, member in vars(owner).items():
            if not inspect.isclass(member):
                yield from documented(member, f"{name}.{each}")


def docstrings():
    for module in (posy, posy.theory, posy.planning):
        yield from documented(module, module.__name__)
        for name, member in vars(module).items():
            if not inspect.ismodule(member) and not name.startswith("__"):
                yield from documented(member, name)


@pytest.mark.parametrize("name, text", list(docstrings()), ids=lambda value: value if len(value) < 40 else "")
def test_docstrings(name, text):
    example = doctest.DocTestParser().get_doctest(text, {"posy": posy}, name, None, 0)
    failed, tried = doctest.DocTestRunner().run(example)
    assert tried > 0 and failed == 0


def test_every_class_has_an_example():
    shown = {name.split(".")[0] for name, _ in docstrings()}
    missing = {name for name in posy.__all__ if inspect.isclass(getattr(posy, name))} - shown
    assert missing <= {"Comparison", "Error", "Estimate", "Plan", "Subscriber"}


def test_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```pycon\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    assert len(blocks) > 5
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python.md", None, 0)
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert tried > 20 and failed == 0


def test_notebook(tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    cells = json.loads((ROOT / "bindings/python/gallery.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 5
    names = {}
    for number, source in enumerate(code):
        exec(compile(source, f"cell {number}", "exec"), names)


def test_import_is_light():
    """NumPy, Arrow, pandas and matplotlib wait until they are needed."""
    heavy = ["numpy", "pyarrow", "pandas", "polars", "matplotlib", "typing"]
    code = f"import sys; before = set(sys.modules); import posy; print([m for m in {heavy} if m in sys.modules and m not in before])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_module_is_small():
    folder = pathlib.Path(posy.__file__).parent
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts) < 5e6


def mypy(path):
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(path.parent / "cache"), path], capture_output=True, text=True)
    return done.stdout


def test_types(tmp_path):
    """What mypy makes of right and of wrong code."""
    code = """import numpy, pandas, polars, pyarrow  # type: ignore[import-untyped,unused-ignore]
import posy
import posy.theory
seen = posy.Filter(1000, 0.01, layout="spread", seed=7)
seen.add("a"); seen.add(b"b"); seen.add(7)
seen.update(["a", "b"], skip_nulls=True)
answers: list[bool] = seen.contains(["a"]).tolist()
both: posy.Filter = seen | seen.copy()
both |= seen
size: float = both.items.high
counts = posy.CountMin(0.01, 0.01)
counts += counts
number: int = counts["a"] + seen.seed
better = posy.plan(1000, rate=0.01).filter()
share: float = posy.theory.optimal_rate(8.0)
best = posy.plan(1000, rate=0.01, layout="spread")
bits: int = best.bits
low: float = both.items.low
close: bool = both.items < 5 and 3 in both.compare(seen).union
seen.update(numpy.arange(5)); seen.update(pyarrow.array([1])); seen.update(polars.Series(["a"])); seen.update(pandas.Series(["a"]))
seen.update([1, None], skip_nulls=True); seen.update(iter([b"a"])); seen.update(range(5))
more = posy.Filter.load("x", max_bytes=5)
"""
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(code)
    assert "Success" in mypy(good), mypy(good)
    wrong = ["seen.add(1.5)", "seen.rate = 1", "seen.hashes()", "'a' + seen.to_bytes()", "posy.plan(10, nonsense=3)", "posy.plan(10).bitz",
             "seen.update(5)", "seen.update([1.5])", "seen.items.middle"]
    bad.write_text("import posy\nseen = posy.Filter(1000, 0.01)\n" + "\n".join(wrong))
    said = mypy(bad)
    assert [int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line] == list(range(3, 3 + len(wrong))), said
