"""What bench/compare saw, for people: tables for the terminal and for Markdown, and a chart.

Figures are nanoseconds per key: the median of the rounds, and behind it the minimum. A ratio says how many times as
fast Posy's contender is as the peer that does the same job: the median over the rounds of peer / Posy, and behind it
the least and the greatest round.
"""
import json
import math
import statistics

CELLS = ["insert", "insert batched", "insert threads", "absent", "absent batched", "present", "present batched",
         "remove", "remove batched"]


def load(path):
    with open(path) as file:
        return json.load(file)


def amount(keys):
    return next((f"{keys // unit} {name}" for unit, name in ((10**9, "G"), (10**6, "M"), (1000, "k"))
                 if keys % unit == 0 and keys >= unit), str(keys)).replace(" ", "")


def settings(data):
    """The different (suite, keys, bits per key), each with its runs; Posy's first, the floor last."""
    grouped = {}
    for run in data["runs"]:
        grouped.setdefault((run["suite"], run["keys"], run["bits_per_key"]), []).append(run)
    for runs in grouped.values():
        runs.sort(key=lambda run: (run["is_floor"], run["against"] != "", run["against"]))
    return grouped


def cells_of(runs):
    return [cell for cell in CELLS if any(cell in run["nanoseconds"] for run in runs)]


def figure(samples):
    return f"{statistics.median(samples):.1f} ({min(samples):.1f})" if samples else "–"


def times_table(runs):
    cells = cells_of(runs)
    rows = [["", "bits/key", "rate %", "overhead"] + cells]
    for run in runs:
        bits = 8 * run["bytes"] / run["keys"]
        rate = run["rate"]
        overhead = f"{bits / -math.log2(rate):.2f}" if rate else "–"
        rows.append([run["contender"], f"{bits:.1f}", f"{100 * rate:.3g}" if rate is not None else "–", overhead] +
                    [figure(run["nanoseconds"].get(cell)) for cell in cells])
    return rows


def ratios(peer, posy):
    """Round by round, how many times as fast Posy was."""
    return [theirs / ours for theirs, ours in zip(peer, posy)]


def ratios_table(runs):
    cells = cells_of(runs)
    own = {run["contender"]: run["nanoseconds"] for run in runs}
    rows = [["Posy against"] + cells]
    for run in runs:
        ours = own.get(run["against"])
        if ours is None:
            continue
        row = [run["contender"]]
        for cell in cells:
            each = ratios(run["nanoseconds"].get(cell, []), ours.get(cell, []))
            row.append(f"{statistics.median(each):.2f} ({min(each):.2f}–{max(each):.2f})" if each else "–")
        rows.append(row)
    return rows if len(rows) > 1 else []


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" + "|--:" * (len(rows[0]) - 1) + "|")
    return "\n".join(lines)


def heading(setting):
    suite, keys, bits = setting
    what = {"integers": "random 64-bit keys", "strings": "URLs of 36 bytes",
            "counting": "random 64-bit keys, counting filters"}[suite]
    return f"{amount(keys)} {what}, {bits:g} {'counters' if suite == 'counting' else 'bits'} per key"


def machine(data):
    of = data["machine"]
    return (f"{of['cpu']}, {of['usable_cores']} of {of['cores']} cores, {', '.join(of['caches'])}; {of['kernel']}, huge pages "
            f"{of['huge_pages']}; {of['compiler']}, Posy {of['flags']}, peers {of['peer_flags']}; "
            f"{data['rounds']} rounds")


def versions(data):
    known = {f"{run['contender'].split()[0]} {run['version']}" for run in data["runs"] if run["against"]}
    return ", ".join(sorted(known))


def as_text(data, table, title, note):
    parts = [note(machine(data))]
    for setting, runs in settings(data).items():
        parts += [title(heading(setting)), table(times_table(runs))]
        compared = ratios_table(runs)
        if compared:
            parts += [table(compared)]
    parts.append(note(f"Nanoseconds per key, median (minimum); peers: {versions(data)}"))
    return "\n\n".join(parts) + "\n"


def terminal(data):
    return as_text(data, aligned, lambda text: text + "\n" + "=" * len(text), lambda text: text)


def document(data):
    return as_text(data, markdown, lambda text: f"**{text}**", lambda text: text + ".")


# The chart: a panel a cell, a row a contender, a dot a size on a logarithmic axis. Dots, not bars: on such an axis the
# length of a bar says nothing.
POSY, PEER, FLOOR = ["#9ecae1", "#4292c6", "#08519c"], ["#d0d0d0", "#969696", "#525252"], ["#fdbe85", "#fd8d3c", "#d94701"]
TITLES = {"insert": "insert", "insert batched": "insert, batched", "insert threads": "insert, two threads",
          "absent": "look up absent keys", "absent batched": "look up absent keys, batched",
          "present": "look up present keys", "present batched": "look up present keys, batched",
          "remove": "remove", "remove batched": "remove, batched"}
ROW, PANEL, TOP = 17, 330, 62


def chart(data, suite, bits):
    """One suite at one number of bits per key, as SVG; all sizes in one picture."""
    chosen = {keys: runs for (s, keys, b), runs in settings(data).items() if s == suite and b == bits}
    sizes = sorted(chosen)[-3:]
    names = list(dict.fromkeys(run["contender"] for keys in sizes for run in chosen[keys]))
    cells = cells_of([run for keys in sizes for run in chosen[keys]])
    values = [ns for keys in sizes for run in chosen[keys] for cell in cells
              for ns in run["nanoseconds"].get(cell, [])]
    low, high = math.log10(min(values) / 1.2), math.log10(max(values) * 1.2)
    ticks = [m * 10**e for e in range(-1, 5) for m in (1, 2, 5) if low <= math.log10(m * 10**e) <= high]
    columns = 2
    labels = 24 + max(len(name) for name in names) * 6.4
    height = len(names) * ROW + 44
    width = round(labels) + columns * (PANEL + 20)
    total = TOP + math.ceil(len(cells) / columns) * height + 10
    counted = "counters" if suite == "counting" else "bits"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" viewBox="0 0 {width} {total}" '
           'font-family="sans-serif" font-size="11" fill="#222">',
           f'<rect width="{width}" height="{total}" fill="white"/>',
           f'<text x="12" y="22" font-size="15">Nanoseconds per key: {suite}, {bits:g} '
           f'{counted} per key</text>']
    x = 12
    for i, keys in enumerate(sizes):
        shade = i + 3 - len(sizes)
        for colour in (POSY, PEER, FLOOR):
            out.append(f'<circle cx="{x + 5}" cy="40" r="4.5" fill="{colour[shade]}"/>')
            x += 12
        out.append(f'<text x="{x + 4}" y="44">{amount(keys)} keys</text>')
        x += 80
    out.append(f'<text x="{x}" y="44" fill="#666">blue Posy, grey peers, orange the floor; a line spans the rounds</text>')

    for index, cell in enumerate(cells):
        left, top = round(labels) + index % columns * (PANEL + 20), TOP + index // columns * height
        at = lambda ns: left + (math.log10(ns) - low) / (high - low) * PANEL
        bottom = top + 22 + len(names) * ROW
        out.append(f'<text x="{left}" y="{top + 13}" font-weight="bold">{TITLES[cell]}</text>')
        for tick in ticks:
            out.append(f'<line x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{top + 20}" y2="{bottom}" stroke="#e4e4e4"/>')
            out.append(f'<text x="{at(tick):.1f}" y="{bottom + 12}" text-anchor="middle" fill="#666" font-size="10">{tick:g}</text>')
        for row, name in enumerate(names):
            y = top + 22 + row * ROW + ROW / 2
            if index % columns == 0:
                weight = ' font-weight="bold"' if name.startswith("Posy") else ""
                out.append(f'<text x="{labels - 10:.0f}" y="{y + 4:.1f}" text-anchor="end"{weight}>{name}</text>')
            for i, keys in enumerate(sizes):
                run = next((run for run in chosen[keys] if run["contender"] == name), None)
                samples = run and run["nanoseconds"].get(cell)
                if not samples:
                    continue
                shade = (FLOOR if run["is_floor"] else PEER if run["against"] else POSY)[i + 3 - len(sizes)]
                out.append(f'<line x1="{at(min(samples)):.1f}" x2="{at(max(samples)):.1f}" y1="{y:.1f}" y2="{y:.1f}" '
                           f'stroke="{shade}" stroke-width="1.5"/>')
                out.append(f'<circle cx="{at(statistics.median(samples)):.1f}" cy="{y:.1f}" r="4.5" fill="{shade}"/>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def fill_in(document_path, name, text):
    """Replaces what stands between the marks of that name in a document."""
    with open(document_path) as file:
        before = file.read()
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if begin not in before or end not in before:
        raise SystemExit(f"{document_path}: has no marks {begin} and {end}; put them where the tables belong")
    head, rest = before.split(begin, 1)
    tail = rest.split(end, 1)[1]
    with open(document_path, "w") as file:
        file.write(f"{head}{begin}\n{text.strip()}\n{end}{tail}")
