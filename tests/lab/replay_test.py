"""posy replay: a small trace of every format through real proxies; the figures must add up."""
import csv
import gzip
import pathlib
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


with tempfile.TemporaryDirectory() as name:
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
    assert float(rows[1]["framing"]) > 2 * float(rows[2]["framing"]) > 0, rows
    # Bad input has one clear line.
    (folder / "empty").write_text("")
    for bad, why in ((folder / "empty", "empty"), (folder / "missing", "cannot be read")):
        out = subprocess.run([TOOL, "replay", str(bad)], capture_output=True, text=True)
        assert out.returncode == 2 and why in out.stderr and out.stderr.count("\n") == 1, out.stderr
print("ok")
