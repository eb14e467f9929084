"""Runs one seed: undisturbed, disturbed, and once more on what is left."""
import collections
import dataclasses
import os
import shutil
import tempfile

from . import judge, pipelines, process, trainings, trouble
from .case import Workshop, clean_environment, stream
from .family import text
from .server import Server

TRAINING_SHARE = 0.15
LATE = 2.0  # seconds from a stop to the end
MEMORY = "/dev/shm"  # a disk that others keep busy would be measured too


@dataclasses.dataclass
class Settings:
    stoker: str
    faults: str  # the preloaded library
    late: float = LATE
    memory: bool = True  # whether resident memory says something (not under a sanitizer)
    only: str = ""  # "trainings", "ranks" or "pipelines"
    hang: float = process.HANG


@dataclasses.dataclass
class Verdict:
    case: object
    trouble: object
    findings: list
    happened: collections.Counter  # faults that really did
    outcomes: list  # (what it was, process.Outcome)
    recipe: str = ""

    def may_be_the_machines(self):
        """Whether a busy machine alone can make these: it is late, or the undisturbed command's memory was looked at too seldom."""
        told = ("late:", "left behind:") + (() if self.case.budget else ("memory:",))
        return all(finding.startswith(told) for finding in self.findings)


class Session:
    """One seed, in a temporary folder."""

    def __init__(self, settings, seed, folder):
        self.settings, self.seed, self.folder = settings, seed, folder
        self.workshop = Workshop(settings.stoker, folder)
        self.server = Server(self.workshop.made)
        self.log = os.path.join(folder, "faults.log")
        self.outcomes = []

    def make_case(self):
        rng = stream(self.seed, "kind")
        only = self.settings.only
        if only == "ranks":
            return trainings.make(self.seed, self.workshop, self.server.address, only_ranks=True)
        training = rng.random() < TRAINING_SHARE if not only else only == "trainings"
        return (trainings if training else pipelines).make(self.seed, self.workshop, self.server.address)

    def recipe(self):
        return judge.read(os.path.join(self.workshop.made, "recipe.yaml")).decode()

    def environment(self, case, rules=()):
        # Copies of remote files stand beside the work, where a new copy of the data does not remove them.
        environment = {**clean_environment(self.folder), **case.environment}
        if rules:
            environment |= {"LD_PRELOAD": self.settings.faults, "STOKER_CHAOS_FOLDER": self.workshop.work, "STOKER_CHAOS_LOG": self.log,
                            "STOKER_CHAOS_RULES": ",".join(rules), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        return environment

    def run(self, what, case, command, rules=(), disturbances=(), scale=1.0, processes=1):
        running = [process.Running(self.settings.stoker, command, self.workshop.work, self.environment(case, rules),
                                   os.path.join(self.folder, f"{what}-{number}")) for number in range(processes)]
        try:
            outcomes = process.run(running, disturbances, scale, self.settings.hang)
        finally:
            for each in running:
                if each.process.returncode is None:
                    each.give_up()
        self.outcomes += [(what, outcome) for outcome in outcomes]
        return outcomes

    def judge(self, difficulty=None):
        """Runs the case three times, disturbed by what its seed draws or by `difficulty`; returns a Verdict."""
        case = self.make_case()
        self.workshop.renew()
        quiet, = self.run("undisturbed", case, case.command, trouble.counting_rules())
        want = judge.results_of(case, self.workshop.work)
        if quiet.code != 0:
            return Verdict(case, trouble.Trouble(), [f"undisturbed: exit code {quiet.code}: {quiet.err.strip()}"], collections.Counter(),
                           self.outcomes, self.recipe())
        want_printed = judge.printed(case, quiet)
        difficulty = difficulty or trouble.draw(case, trouble.calls_in(text(self.log), case.ranks))
        os.remove(self.log)
        self.workshop.renew()
        findings = self.disturb(case, difficulty, quiet, want, want_printed)
        findings += self.once_more(case, want)
        happened = collections.Counter(self.server.fired)
        if os.path.exists(self.log):
            happened.update(" ".join(line.split()[:2]) for line in text(self.log).splitlines())
        happened.update(what for outcome in (outcome for name, outcome in self.outcomes if name == "disturbed")
                        for what in outcome.signals)
        happened.update({"two processes": int(difficulty.twice)})
        return Verdict(case, difficulty, findings, +happened, self.outcomes, self.recipe())

    def disturb(self, case, difficulty, quiet, want, want_printed):
        self.server.disturb(difficulty.server)
        outcomes = self.run("disturbed", case, case.command, difficulty.rules, difficulty.signals, quiet.seconds,
                            2 if difficulty.twice else 1)
        found = judge.results_of(case, self.workshop.work)
        findings = []
        for outcome in outcomes:
            findings += judge.wrong_with_end(case, outcome, self.workshop.work, self.settings.late)
            findings += judge.wrong_with_results(case, outcome, found, want, want_printed)
            if difficulty.spares_steps:
                findings += judge.wrong_with_steps(case, outcome, self.workshop.work)
            if self.settings.memory:
                findings += judge.wrong_with_memory(case, outcome, quiet)
        return findings

    def once_more(self, case, want):
        """The command without faults, on what the disturbed one has left; nothing where that is all there."""
        fired = self.server.fired
        self.server.disturb([])
        self.server.fired = fired
        if case.outputs and set(judge.results_of(case, self.workshop.work)) >= set(want):
            return []
        command = case.again if not case.begun or os.path.exists(os.path.join(self.workshop.work, case.begun)) else case.command
        again, = self.run("again", case, command)
        if again.code != 0:
            return [f"given again without faults: exit code {again.code}: " + "; ".join(judge.errors_of(again))]
        found = judge.results_of(case, self.workshop.work)
        return [f"given again without faults: {name} differs" for name in sorted(want) if found.get(name) != want[name]]


def judge_seed(settings, seed, difficulty=None):
    """The Verdict of one seed. What a busy machine alone may have made is tried twice more."""
    for _ in range(3):
        folder = tempfile.mkdtemp(prefix="stoker-chaos-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        session = None
        try:
            session = Session(settings, seed, folder)
            verdict = session.judge(difficulty)
        finally:
            if session:
                session.server.server_close()
            shutil.rmtree(folder, ignore_errors=True)
        if not verdict.findings or not verdict.may_be_the_machines():
            return verdict
    return verdict
