"""What must hold of a disturbed command, held against the undisturbed one."""
import json
import os
import re

from training_faults_test import without_figures_of_the_machine

MEGABYTE = 1_000_000
ALLOWANCE = 64 << 20  # of the promise: what a program takes beyond its budget and its elements
MOST_THREADS = 64
# Words of a program that did not foresee what happened.
RAW = re.compile(r"defect|terminate called|std::|bad_alloc|basic_string|Assertion|Segmentation|Sanitizer|faults: ")
STOP_CODES = {0, 1, 130, 143}


def results_of(case, folder):
    """{name: what must be the same however the command was disturbed} of the outputs that are there."""
    found = {}
    for output in case.outputs:
        path = os.path.join(folder, output)
        if os.path.isdir(path):
            for where, _, names in os.walk(path):
                found.update({os.path.relpath(os.path.join(where, name), folder): read(os.path.join(where, name)) for name in names})
        elif os.path.exists(path):
            found[output] = lines_of(path) if path.endswith(".jsonl") else read(path)
    # The database's file of locks is LMDB's own.
    return {name: content for name, content in found.items() if not name.endswith("lock.mdb")}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def lines_of(path):
    """Of a metrics file: all but the times. A last line that is not whole is left out."""
    lines = read(path).split(b"\n")[:-1]
    return [without_figures_of_the_machine(json.loads(line)) for line in lines]


def printed(case, outcome):
    """Standard output of commands that tell what they found, without times; bench's figures but for the counts."""
    if case.kind == "bench" and outcome.code == 0:
        report = json.loads(outcome.out)
        return {name: report[name] for name in ("samples", "batches")}
    return outcome.out if case.printed else None


def errors_of(outcome):
    return [line for line in outcome.err.splitlines() if line.startswith("stoker: error: ")]


# Places that are none of the case's files.
PLACES = re.compile(r"(?m)://|\.ya?ml:\d+|(?:^|\s)\.(?:: |/)|memory|threads?\b|standard output|stopped")


def names_a_place(case, outcome, folder):
    """Whether what it says tells where: a file of the case, an address, a line of the recipe, or what is short."""
    said = "\n".join([outcome.out, *(re.sub(r"^(\[\d+\] )?stoker: error: ", "", line) for line in outcome.err.splitlines())])
    names = {name for _, folders, files in os.walk(folder) for name in [*folders, *files]} | set(outcome.arguments)
    names |= set(case.environment.values())  # the directory of copies, which may not have been made
    # Some are words: they count as names where a path goes on or a message begins after them.
    named = any(re.search(r"(?<!\w)" + re.escape(name) + ("" if "." in name else "(?=[/:])"), said) for name in names)
    return folder in said or named or bool(PLACES.search(said))


def errors_of_ranks(outcome):
    """{rank: the errors that it printed} of a launch, whose lines begin with the rank."""
    found = {}
    for rank, error in re.findall(r"(?m)^\[(\d+)\] (stoker: error: .*)$", outcome.err):
        found.setdefault(int(rank), []).append(error)
    return found


def are_of_the_recipe(errors):
    """Whether there are several, each with a line of the recipe: all that is wrong there is reported at once. A source that both
    pipelines read may meet two kinds of trouble in its one line."""
    lines = [re.match(r"stoker: error: \S+\.ya?ml:(\d+):", error) for error in errors]
    return len(errors) > 1 and all(lines) and len(set(errors)) == len(errors)


def wrong_with_end(case, outcome, folder, late_limit):
    """What is wrong with how one process ended, whatever it made."""
    if outcome.hung:
        return [f"hangs: still there after {outcome.seconds:.0f} s; {outcome.hung}"]
    if outcome.code < 0 and not outcome.killed:
        return [f"ended by signal {-outcome.code}"]
    wrong = [f"left behind: its ranks were there {outcome.left:.1f} s after it had ended"] if outcome.left > late_limit else []
    if outcome.killed:
        return wrong
    if outcome.stopped and outcome.late > late_limit:
        wrong.append(f"late: ended {outcome.late:.1f} s after it was told to stop")
    if outcome.code not in (STOP_CODES if outcome.stopped else {0, 1, 2}):
        wrong.append(f"exit code {outcome.code}")
    raw = RAW.search(outcome.err)
    if raw:
        wrong.append(f"says {raw[0]!r}, which is no message for a user")
    errors = errors_of(outcome)
    if outcome.code in (1, 2) and len(errors) != 1 and not are_of_the_recipe(errors):
        wrong.append(f"exit code {outcome.code} with {len(errors)} errors")
    lost = "kill -9 of a rank" in outcome.signals and "was killed by signal 9" in outcome.err
    if outcome.code in (1, 2) and errors and not lost and not names_a_place(case, outcome, folder):
        wrong.append("the error names no place: " + errors[0])
    return wrong + [f"rank {rank} printed {len(errors)} errors" for rank, errors in sorted(errors_of_ranks(outcome).items())
                    if len(errors) > 1 + case.restarts and not are_of_the_recipe(errors)]


def wrong_with_steps(case, outcome, folder):
    """Of a training that failed: whether the last step that its metrics name is stored. For trouble that spares steps.

    Of an optimizer's state that is shared out no rank can store what another one has when that one fails.
    """
    metrics = os.path.join(folder, "run", "metrics.jsonl")
    if case.kind != "train" or case.shards_state or outcome.code != 1 or not os.path.exists(metrics):
        return []
    done = max((line.get("step", 0) for line in lines_of(metrics)), default=0)
    checkpoints = os.path.join(folder, "run", "checkpoints")
    stored = max((int(name.removeprefix("step-")) for name in os.listdir(checkpoints) if name.startswith("step-"))
                 if os.path.isdir(checkpoints) else (), default=0)
    return [f"lost steps: {done} were done, the newest checkpoint is of step {stored}"] if done > stored else []


def wrong_with_memory(case, outcome, undisturbed):
    """What was resident against what is promised, or without a budget (libtorch has none) against the undisturbed command."""
    bound = ALLOWANCE + (case.budget + (case.stages + MOST_THREADS) * case.source.largest if case.budget else undisturbed.peak)
    if outcome.peak <= bound:
        return []
    return [f"memory: {outcome.peak / MEGABYTE:.0f} MB were resident, {bound / MEGABYTE:.0f} MB are promised"]


def differences(found, want):
    """Names whose content is another; those that are missing in `found` are not counted."""
    return [name for name in sorted(found) if found[name] != want.get(name)]


def wrong_with_results(case, outcome, found, want, want_printed):
    """What was made against what the undisturbed command made. `found` and `want` are of results_of."""
    wrong = []
    if outcome.code == 0 and not outcome.killed:
        missing = sorted(set(want) - set(found))
        if missing:
            wrong.append(f"says that it succeeded, but {missing[0]} is not there")
        wrong += [f"says that it succeeded, but {name} differs" for name in differences(found, want)]
        # What inspect could not look at it says in the place of the samples.
        if printed(case, outcome) != want_printed and not (case.kind == "inspect" and "samples_error" in outcome.out):
            wrong.append("says that it succeeded, but prints something else")
    elif case.kind != "train":  # what a training has of its metrics is part of the whole
        wrong += [f"{name} was left behind, and is not what it should be" for name in differences(found, want)]
    return wrong
