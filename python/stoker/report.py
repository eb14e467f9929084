"""What a pass tells of itself: objects that print as text and show a table in a notebook."""

from __future__ import annotations

from typing import Any


# A caller that waits for less than this share of the time is not held back.
_HARDLY = 0.05


class Stage:
    """What one stage did in a pass. Times are summed over its threads.

    name               the operator
    elements, bytes    how many elements it made, and their size
    busy_s             seconds in which it worked
    starved_s          seconds in which it waited for its input
    blocked_s          seconds in which it waited for its consumer, or for memory
    errors             elements that it could not make
    skipped, replaced  failed elements that it left out, or replaced by others
    mean_queue_depth   chunks (of one element or many) that were ready on average
    queue_capacity     chunks that it may keep ready; 0: it keeps none
    peak_memory_bytes  the most memory that was charged to it
    """

    name: str
    elements: int
    bytes: int
    busy_s: float
    starved_s: float
    blocked_s: float
    errors: int
    skipped: int
    replaced: int
    mean_queue_depth: float
    queue_capacity: int
    peak_memory_bytes: int

    def __init__(self, figures: dict[str, Any]) -> None:
        self.__dict__.update(figures)

    def __repr__(self):
        return f"Stage({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


class Profile:
    """Counters of a pass; prints as a table, and shows one in a notebook.

    wall_s             seconds since the pass began, or until it ended
    threads            how many threads worked
    consumer_waited_s  seconds in which the caller waited for batches
    peak_memory_bytes  the most memory that was charged to all stages together
    stages             a Stage for each operator, the source first
    """

    wall_s: float
    threads: int
    consumer_waited_s: float
    peak_memory_bytes: int
    stages: list[Stage]

    def __init__(self, explained: dict[str, Any]) -> None:
        self._json = explained["profile"]
        self._text = explained["profile_text"]
        for name, value in self._json.items():
            setattr(self, name, [Stage(each) for each in value] if name == "stages" else value)

    def to_dict(self) -> dict[str, Any]:
        """The same counters as dicts, lists and numbers, which JSON can hold."""
        return self._json

    def __repr__(self):
        return self._text

    def _repr_html_(self):
        stages = self._json["stages"]
        if not stages:
            return f"<pre>{_escape(self._text)}</pre>"
        names = [name for name, value in stages[0].items() if not isinstance(value, (dict, list))]
        return _table(names, [[_figure(stage.get(name)) for name in names] for stage in stages])


class Explanation:
    """Why a pass runs as it does.

    written             the pipeline, one stage a line
    decisions           what the runtime chose, in order: dicts of at_s, stage, what, from, to, why, text
    decisions_left_out  how many decisions in the middle were not kept
    limit               {stage, why, idle}: the stage that the caller waits for, or if `idle` the one that works most
    waited              the share of the pass in which the caller waited for batches
    """

    def __init__(self, explained: dict[str, Any]) -> None:
        self.written: str = explained["written"]
        self.decisions: list[dict[str, Any]] = explained["decisions"]
        self.decisions_left_out: int = explained["decisions_left_out"]
        self.limit: dict[str, Any] = explained["limit"]
        profile = explained["profile"]
        self.waited: float = profile["consumer_waited_s"] / profile["wall_s"] if profile["wall_s"] > 0 else 0.0

    def __repr__(self):
        lines = ["as written", *("  " + line for line in self.written.splitlines()), "choices"]
        lines += ["  " + decision["text"] for decision in self.decisions] or ["  none: nothing runs on threads"]
        if self.decisions_left_out:
            lines.append(f"  ({self.decisions_left_out} in the middle are left out)")
        kind = "works most, but nothing waits for it" if self.limit["idle"] else "limits the pipeline"
        if self.waited < _HARDLY:
            lines.append(f"the caller waited {100 * self.waited:.0f}% of the time for batches: the pipeline keeps up with it")
            kind = "works most"
        lines.append(f"limit: {self.limit['stage']} {kind}: {self.limit['why']}")
        return "\n".join(lines) + "\n"

    def _repr_html_(self):
        return f"<pre>{_escape(repr(self))}</pre>"


def _figure(value):
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(names, rows):
    head = "".join(f"<th>{_escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{_escape(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
