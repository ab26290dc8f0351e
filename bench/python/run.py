#!/usr/bin/env python3
"""Speed of the Python module beside C++ and other Python filters, all in one run.

    scripts/python && build/python-venv/bin/pip install rbloom pybloomfiltermmap3
    build/python-venv/bin/python bench/python/run.py [KEYS] [BATCH-BENCH]

BATCH-BENCH is the program of bench/python/batch.cpp (built here with the compiler if it is not given). Every figure is nanoseconds per key,
the best of five passes; passes of the competitors alternate. One thread, except where it is said.
"""

import pathlib
import subprocess
import sys
import time

import numpy
import pyarrow
import posy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PASSES = 5


def best(candidates, keys):
    """The best time per key of each candidate, in ns; the candidates take turns."""
    times = {name: [] for name in candidates}
    for _ in range(PASSES):
        for name, (prepare, work) in candidates.items():
            state = prepare()
            start = time.perf_counter()
            work(state)
            times[name].append(time.perf_counter() - start)
    return {name: 1e9 * min(all_of) / keys for name, all_of in times.items()}


def show(title, figures, base):
    print(title)
    for name, figure in figures.items():
        print(f"  {name:<42} {figure:8.2f} ns   {figures[base] / figure:6.2f} times {base}")
    print(flush=True)


def filled(make, keys):
    made = make()
    made.update(keys)
    return made


def native(count, rate, program):
    """The same batches in C++: (insert, query) in ns per key."""
    if program is None:
        program = ROOT / "build" / "python-batch-bench"
        subprocess.run(
            ["g++", "-std=c++20", "-O3", "-DNDEBUG", "-I", ROOT / "include", HERE / "batch.cpp", ROOT / "build/release/libposy.a",
             "-lxxhash", "-lcrypto", "-lpthread", "-o", program],
            check=True,
        )
    out = subprocess.run([program, str(count), str(rate), str(PASSES)], check=True, capture_output=True, text=True).stdout
    return tuple(map(float, out.split()))


def integers(count, program):
    keys = numpy.random.default_rng(1).integers(0, 2**64, count, dtype=numpy.uint64)
    make = lambda: posy.Filter(count, 0.01)
    full = filled(make, keys)
    ours = best(
        {
            "insert": (make, lambda f: f.update(keys, threads=1)),
            "query": (lambda: None, lambda _: full.contains(keys, threads=1)),
            "insert, all cores": (make, lambda f: f.update(keys)),
            "query, all cores": (lambda: None, lambda _: full.contains(keys)),
        },
        count,
    )
    insert, query = native(count, 0.01, program)
    show(f"uint64 arrays, insert, {count:,} keys", {"C++ batch": insert, "posy": ours["insert"], "posy, all cores": ours["insert, all cores"]}, "C++ batch")
    show(f"uint64 arrays, query, {count:,} keys", {"C++ batch": query, "posy": ours["query"], "posy, all cores": ours["query, all cores"]}, "C++ batch")


def names(count):
    """Texts as a program has just made them: Python hashes a str once, when somebody first asks, and keeps the hash in it."""
    return [f"https://example.org/item/{i * 7919}" for i in range(count)]


def texts(count):
    import pybloomfilter
    import rbloom

    makes = {
        "posy": lambda: posy.Filter(count, 0.01),
        "rbloom": lambda: rbloom.Bloom(count, 0.01),
        "pybloomfiltermmap3": lambda: pybloomfilter.BloomFilter(count, 0.01),
    }
    fresh = {name: (lambda make=make: (make(), names(count)), lambda state: state[0].update(state[1])) for name, make in makes.items()}
    figures = best(fresh, count)
    show(f"lists of str, insert, {count:,} keys", figures, "rbloom")
    show("the same beside pybloomfiltermmap3", figures, "pybloomfiltermmap3")

    keys = names(count)
    full = {name: filled(make, keys) for name, make in makes.items()}
    again = {name: (make, lambda f: f.update(keys)) for name, make in makes.items()}
    show("lists of str whose hashes Python knows already", best(again, count), "rbloom")

    column = pyarrow.array(keys)
    arrow = {name: (make, lambda f: f.update(column.to_pylist())) for name, make in makes.items() if name != "posy"}
    arrow["posy"] = (makes["posy"], lambda f: f.update(column, threads=1))
    arrow["posy, all cores"] = (makes["posy"], lambda f: f.update(column))
    show("Arrow strings, insert; the others by to_pylist()", best(arrow, count), "rbloom")

    def each(f):
        for key in keys:
            key in f

    asked = {f"{name}": (lambda: None, lambda _, f=f: each(f)) for name, f in full.items()}
    figures = best(asked, count)
    loop = best({"loop": (lambda: None, lambda _: each(()))}, count)["loop"]
    show(f"`in`, one key at a time (in an empty tuple: {loop:.1f} ns)", figures, "rbloom")
    batches = {
        "contains(list)": (lambda: None, lambda _: full["posy"].contains(keys)),
        "contains(Arrow)": (lambda: None, lambda _: full["posy"].contains(column, threads=1)),
    }
    show("lookups in batches", best(batches, count), "contains(list)")


def imports():
    """Milliseconds of `python -c "import posy"` and of Python alone, the best of five."""

    def spent(code):
        times = []
        for _ in range(PASSES):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return 1e3 * min(times)

    print(f"python -c 'import posy' takes {spent('import posy'):.0f} ms, Python alone {spent('pass'):.0f} ms\n", flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    imports()
    integers(count, sys.argv[2] if len(sys.argv) > 2 else None)
    texts(count)


if __name__ == "__main__":
    main()
