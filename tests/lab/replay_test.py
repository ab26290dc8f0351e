"""posy replay: a small trace of every format through real proxies; the figures must add up."""
import csv
import gzip
import pathlib
import random
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]


def replay(*arguments, folder):
    out = subprocess.run([TOOL, "replay", *map(str, arguments), "--report", folder], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    with open(folder / "replay.csv") as file:
        rows = list(csv.reader(file))
    names = [name.strip() for name in rows[0]]
    return [dict(zip(names, row)) for row in rows[1:]], out.stdout


def simulate(*arguments):
    out = subprocess.run([TOOL, "replay", "--simulate", *map(str, arguments)], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    lines = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in out.stdout.splitlines() if line.startswith("| ")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
    folder = pathlib.Path(name)
    # Two proxies; object 1 is asked for at both, then again at both. Nothing is shared: each has it once.
    table = folder / "table.tsv"
    table.write_text("sequence\tproxy\tobject\tbytes\n" + "".join(
        f"{i}\t{i % 2}\t{o}\t{100 * o}\n" for i, o in enumerate([1, 1, 1, 1, 2, 3, 2, 3])))
    rows, text = replay(table, "--proxies", 2, "--sharing", "none", folder=folder)
    assert len(rows) == 1 and rows[0]["local %"] == "50.0" and rows[0]["total %"] == "50.0", rows
    assert rows[0]["bytes/req"] == "0.00" and rows[0]["false misses %"] == "12.5", rows  # the second request
    # Everyone is asked: the second request is a sibling's hit, and the object stays there.
    rows, text = replay(table, "--proxies", 2, "--sharing", "ask", folder=folder)
    assert (rows[0]["local %"], rows[0]["sibling %"]) == ("37.5", "25.0"), rows
    assert float(rows[0]["bytes/req"]) > 50 and rows[0]["bytes/req"] == rows[0]["questions"], rows
    for suffix in ("md", "html", "svg", "csv"):
        assert (folder / f"replay.{suffix}").stat().st_size > 200, suffix
    assert "<svg" in (folder / "replay.html").read_text() and "| ask |" in text
    # A log in the common format, compressed; POST and nonsense are left out.
    log = folder / "access.log.gz"
    with gzip.open(log, "wt") as file:
        for i in range(40):
            file.write(f'host{i % 7} - - [01/Aug/1995:00:00:01 -0400] "GET /page/{i % 5}?q=%20 HTTP/1.0" 200 {300 + i % 5}\n')
        file.write('host1 - - [01/Aug/1995:00:00:02 -0400] "POST /form HTTP/1.0" 200 10\nnonsense\n')
    rows, text = replay(log, "--proxies", 1, "--sharing", "delta", "--change", "0.5", folder=folder)
    assert rows[0]["local %"] == "87.5" and "40 requests" in text, (rows, text)
    # Deltas: more hits than alone, every byte counted.
    rows, _ = replay("--sharing", "none,delta", "--change", "0.02", "--items", 500, folder=folder)
    alone, shared = rows
    assert float(shared["total %"]) > float(alone["total %"]) + 5, rows
    parts = sum(float(shared[n]) for n in ("whole", "delta", "questions", "framing"))
    assert abs(parts - float(shared["bytes/req"])) < 0.03 and float(shared["delta"]) > 0, shared
    # By a share of the bits: the fewer bits may change, the more updates.
    rows, _ = replay("--sharing", "delta", "--change", "0.2", "--change-bits", "0.0005,0.005", "--items", 500, folder=folder)
    assert [row["update at"] for row in rows] == ["20 %", "0.05 % of bits", "0.5 % of bits"], rows
    assert float(rows[1]["bytes/req"]) > 1.5 * float(rows[2]["bytes/req"]) > 0, rows
    # Simulated proxies agree with real ones on the same trace: without sharing, hits within 1.5 points; with it, deltas within 15 % of
    # their bytes. Real ones miss what has not reached them yet, the more of it the faster the requests come.
    random.seed(1)
    popular = [(i + 1) ** -0.8 for i in range(1500)]
    drawn = random.choices(range(1500), popular, k=5000)
    table.write_text("proxy\tobject\tbytes\n" + "".join(f"{random.randrange(3)}\t{o}\t{500 + o * 7919 % 8000}\n" for o in drawn))
    how = [table, "--sharing", "none,delta", "--change", 0.05, "--items", 300, "--memory", 2000000]
    real, _ = replay(*how, folder=folder)
    simulated = simulate(*how)
    for r, s in zip(real, simulated):
        late = 10 if r["sharing"] == "delta" else 1.5
        assert -1.5 <= float(s["hits %"]) - float(r["total %"]) <= late, (r, s)
        assert abs(float(r["delta"]) - float(s["delta"])) <= 0.15 * float(r["delta"]), (r, s)
        assert abs(float(r["objects"]) - float(s["objects"])) <= 0.05 * float(r["objects"]), (r, s)
    # Many that are made up: the same every time; more are found where more is known, and groups cost fewer bytes than a mesh.
    how = ["--proxies", 30, "--group", 6, "--requests", "60k", "--objects", "20k", "--memory", "2M", "--items", 300, "--fpr", 0.001, "--sharing", "delta",
           "--change", 0.05, "--structure", "mesh,cells,groups,tree"]
    rows = simulate(*how)
    assert [{n: r[n] for n in r if n != "seconds"} for r in rows] == [{n: r[n] for n in r if n != "seconds"} for r in simulate(*how)]
    mesh, cells, groups, tree = rows
    hits = [float(r["hits %"]) for r in (cells, tree, groups, mesh)]
    assert hits[0] + 3 < hits[1] and abs(hits[1] - hits[2]) < 1 and hits[2] - 1 < hits[3], rows
    sent = lambda r: float(r["bytes/req"]) - float(r["questions"])
    assert sent(tree) < sent(groups) < sent(mesh) / 2, rows
    # Updates follow what is stored, and that is what was not found; each goes to all others, or to those of the group.
    stored = lambda r: 100 - float(r["hits %"])
    assert abs(sent(mesh) / sent(cells) - stored(mesh) / stored(cells) * 29 / 5) < 0.3, rows
    assert float(cells["questions"]) == 0 < float(groups["questions"]) < float(tree["questions"]), rows
    assert simulate(*how, "--seed", 2) != rows
    # Bad input has one clear line.
    (folder / "empty").write_text("")
    for bad, why in (((folder / "empty",), "empty"), ((folder / "missing",), "cannot be read"), (("--proxies", "65"), "--simulate has more"),
                     (("--simulate", "--objects", "3G"), "--objects"), (("--zipf", "1"), "--simulate"), (("--group", "4"), "--simulate")):
        out = subprocess.run([TOOL, "replay", *map(str, bad)], capture_output=True, text=True)
        assert out.returncode == 2 and why in out.stderr and out.stderr.count("\n") == 1, out.stderr
print("ok")
