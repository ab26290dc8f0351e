"""The ledger of an audit: each figure with its checks, its failures and its worst deviation."""


class Audit:
    def __init__(self):
        self.figures, self.failures, self.counts = {}, {}, {}

    def note(self, what, amount=1):
        self.counts[what] = self.counts.get(what, 0) + amount

    def judge(self, figure, used, said, where):
        """Counts a check that has used up this share of what is allowed; above 1 it has failed."""
        entry = self.figures.setdefault(figure, {"checks": 0, "failed": 0, "worst": 0.0, "where": ""})
        entry["checks"] += 1
        if not used <= entry["worst"]:
            entry["worst"], entry["where"] = used, f"{said}; {where}"
        if not used <= 1:
            entry["failed"] += 1
            self.failures.setdefault(figure, []).append(f"{said}\n    {where}")
        return used <= 1

    def within(self, figure, shown, truth, allowed, where):
        """`allowed` is an absolute difference."""
        difference = abs(shown - truth)
        used = difference / allowed if allowed > 0 else (0.0 if difference == 0 else float("inf"))
        return self.judge(figure, used, f"{shown:.9g}, but it is {truth:.9g} ± {allowed:.3g}", where)

    def close(self, figure, shown, truth, where):
        """Recomputed: to six digits."""
        return self.within(figure, shown, truth, 1e-6 * abs(truth) + 1e-300, where)

    def true(self, figure, holds, said, where):
        return self.judge(figure, 0.0 if holds else float("inf"), said, where)

    def only(self, kind, figures, known, where):
        """A figure that is not known here is one that nobody checks."""
        for name in figures.keys() - known:
            self.true("figures that nobody checks", False, f"{kind} {name} = {figures[name]}", where)

    def table(self, with_places):
        rows = [f"{'figure':<44}{'checks':>9}{'failed':>8}{'worst, of what is allowed':>27}"]
        for figure, entry in sorted(self.figures.items()):
            rows.append(f"{figure:<44}{entry['checks']:>9,}{entry['failed']:>8,}{entry['worst']:>27.3g}")
            if with_places and entry["where"]:
                rows.append(f"    {entry['where']}")
        rows += [f"{what:<44}{amount:>9,}" for what, amount in sorted(self.counts.items())]
        return "\n".join(rows)

    def complaints(self, most=5):
        """Some failures of each figure."""
        rows = []
        for figure, all in self.failures.items():
            rows += [f"WRONG {figure}: {said}" for said in all[:most]]
            if len(all) > most:
                rows.append(f"WRONG {figure}: and {len(all) - most} more")
        return "\n".join(rows)
