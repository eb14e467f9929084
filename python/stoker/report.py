"""What a pass tells of itself: objects that print as text and show a table in a notebook."""


class Stage:
    """What one stage did: name, elements, bytes, busy_s, starved_s, blocked_s, errors, skipped, replaced, peak_memory_bytes, ..."""

    def __init__(self, figures):
        self.__dict__.update(figures)

    def __repr__(self):
        return f"Stage({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


class Profile:
    """Counters of a pass. `stages` has the source first; times of a stage are summed over its threads.

    wall_s, threads, consumer_waited_s (the caller, waiting for a batch), peak_memory_bytes, stages
    """

    def __init__(self, explained):
        self._json = explained["profile"]
        self._text = explained["profile_text"]
        for name, value in self._json.items():
            setattr(self, name, [Stage(each) for each in value] if name == "stages" else value)

    def to_dict(self):
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

    written    the pipeline, one stage a line
    decisions  what the runtime chose, in order: at_s, stage, what, from, to, why, text
    limit      {stage, why, idle}: the stage that the caller waits for, or if `idle` the one that works most
    """

    def __init__(self, explained):
        self.written = explained["written"]
        self.decisions = explained["decisions"]
        self.decisions_left_out = explained["decisions_left_out"]
        self.limit = explained["limit"]

    def __repr__(self):
        lines = ["as written", *("  " + line for line in self.written.splitlines()), "choices"]
        lines += ["  " + decision["text"] for decision in self.decisions] or ["  none: nothing runs on threads"]
        if self.decisions_left_out:
            lines.append(f"  ({self.decisions_left_out} in the middle are left out)")
        kind = "works most, but nothing waits for it" if self.limit["idle"] else "limits the pipeline"
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
