"""Which faults really happened, and to which formats."""
import collections

from . import trouble


def all_faults():
    """Names of every fault that can be drawn."""
    calls = [f"{call} {effect}" for call, effects in trouble.CALLS for effect in effects]
    # Drawn beside signals alone, to make time for them.
    return [*calls, "read slow-10", "read slow-40", *(f"server {kind}" for kind, _ in trouble.SERVER), "stop", "kill -9",
            "pause", "stop of a rank", "kill -9 of a rank", "pause of a rank", "two processes"]


class Coverage:
    def __init__(self):
        self.counts = collections.Counter()  # (fault, format)
        self.cases = collections.Counter()  # (kind, format)
        self.kinds = collections.Counter()  # kinds in full, such as "train by 2 ranks, divided"

    def add_case(self, case):
        self.cases[case.kind, case.source.format] += 1
        self.kinds[str(case)] += 1

    def add(self, case, faults):
        """faults: names of what happened to the case, each once or more often"""
        self.counts.update({(fault, case.source.format): count for fault, count in collections.Counter(faults).items()})

    def text(self, faults):
        """A table of faults by format, in how many calls or requests each happened; then what was never tried."""
        formats = sorted({format for _, format in self.cases})
        width = max(len(fault) for fault in faults) + 2
        lines = ["formats: " + ", ".join(f"{i}={format}" for i, format in enumerate(formats)),
                 " " * width + "".join(f"{i:>6}" for i in range(len(formats)))]
        for fault in faults:
            lines.append(fault.ljust(width) + "".join(f"{self.counts[fault, format] or '.':>6}" for format in formats))
        lines.append("cases".ljust(width) + "".join(f"{sum(n for (_, of), n in self.cases.items() if of == each) or '.':>6}"
                                                    for each in formats))
        lines.append("kinds: " + ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items())))
        never = [fault for fault in faults if not any(self.counts[fault, format] for format in formats)]
        lines.append("never happened: " + (", ".join(never) or "none"))
        return "\n".join(lines)
