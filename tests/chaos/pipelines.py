"""Recipes without a training, and the commands that read them."""
from . import archives, columns, splits, tables
from .case import Case, stream

MAKERS = {make.__name__: make for make in (*tables.MAKERS, *archives.MAKERS)}
COLUMN_SHARE = 0.15
# Short waits, so that a fault that never ends is an error soon.
REMOTE = "  remote: {retry_wait: 0.02, retries: 3, timeout: 1.5, connections: 4, read_ahead: READ_AHEAD, anonymous: true}\n"


def source_of(seed, rng, names, column_makers, work):
    """Files of one of these formats, or columns, which seeds draw from a stream of their own: without Arrow all other seeds stay as they are."""
    make = MAKERS[rng.choice(names)]
    draw = stream(seed, "columns")
    if draw.random() < COLUMN_SHARE and not columns.MISSING:
        make = draw.choice(column_makers)
    return make(work, stream(seed, "data"))


def stage_of_order(rng, by_position):
    """One that changes which elements there are and in what order."""
    choices = ["take: 200", "skip: 7", "shard: {count: 3, index: 1}", "repeat: {count: 2}"]
    choices += ["shuffle", "shuffle: {window: 64, page: 8}"] if by_position else ["shuffle: {buffer: 50}"]
    return rng.choice(choices)


def stage_of_values(rng, source):
    choices = ["prefetch", "prefetch: {depth: 3}"]
    if source.image:
        choices += ["normalize: {mean: 0.3, std: 0.2}", "cast: {field: label, dtype: int32}"]
    return rng.choice(choices)


def on_error(rng, stage, work):
    """The stage with a policy: trouble of the machine is not a bad element, so it must change nothing."""
    name, _, options = stage.partition(":")
    policy = rng.choice(["{policy: skip, share: 1}", f"{{policy: skip, limit: 50, log: {work.work}/bad.jsonl}}"])
    return f"{{{name}:{options or ' {}'}, on_error: {policy}}}"


def skips(stages):
    """Whether how many elements come, and where each stands, may be known only when they have been read."""
    return any("on_error" in stage or "interleave" in stage or "mix" in stage for stage in stages)


def stages_of(rng, seed, source, work, remote):
    """All stages of a pipeline over `source`; the first one reads."""
    stages = [source.entry, *source.more]
    if source.decodes:
        stages += ["decode", "resize: {size: 8}"]
    if rng.random() < 0.35:
        at = rng.randrange(len(stages))
        stages[at] = on_error(rng, stages[at], work)
    divide(seed, source, stages, remote)
    if rng.random() < 0.25:
        stages.append(f"cache: {{path: {work.work}/kept.elements}}" if rng.random() < 0.6 else "cache")
    by_position = source.is_by_position(remote) and not skips(stages)
    stages += [stage_of_order(rng, by_position) for _ in range(rng.choice([0, 1, 1, 2]))]
    stages += [stage_of_values(rng, source) for _ in range(rng.choice([0, 1, 2]))]
    return combined(rng, stages)


def divide(seed, source, stages, remote, side="train"):
    """Of a part of the seeds puts the stage `split` after the source."""
    after = 1 + len(source.more)
    division = splits.draw(seed, source, source.is_by_position(remote) and not skips(stages[:after]))
    if division:
        stages.insert(after, splits.stage(side, division))


def combined(rng, stages):
    """Sometimes the pipeline as inputs of another."""
    if rng.random() > 0.15:
        return stages
    inner = "[" + ", ".join("{" + stage + "}" if ":" in stage and not stage.startswith("{") else stage for stage in stages) + "]"
    return [rng.choice([f"concatenate: {{inputs: [{inner}, {inner}]}}", f"interleave: {{inputs: [{inner}, {inner}]}}",
                        f"mix: {{inputs: [{inner}, {inner}], weights: [1, 2]}}"])]


def recipe_text(root, stages, remote=""):
    return f"data:\n  root: {root}\n{remote}  train:\n" + "".join(f"    - {stage}\n" for stage in stages)


def divided_text(root, stages, remote=""):
    """The same for a pipeline with the stage `split`, written as what both sides share; evaluation goes on as training does."""
    shared, rest = splits.shared_section(stages)
    rest = "".join(f"    - {stage}\n" for stage in rest) or "    - prefetch\n"
    return f"data:\n  root: {root}\n{remote}{shared}  train:\n{rest}  eval:\n{rest}"


def put_on_a_server(rng, case, address):
    """Has the case read its data from there; returns (root, settings) for its recipe."""
    settings = REMOTE.replace("READ_AHEAD", rng.choice(["128KiB", "512KiB", "4MiB"]))
    case.address = address
    if rng.random() < 0.4:
        case.environment["STOKER_CACHE"] = "copies"
    if rng.random() < 0.5 or not case.source.http:
        case.environment["AWS_ENDPOINT_URL_S3"] = address
        return "s3://bucket", settings
    return address, settings


def limits(rng, case):
    """Options that bound threads and memory."""
    options = []
    if rng.random() < 0.6:
        options += ["--threads", str(rng.choice([1, 2, 4]))]
    if rng.random() < 0.5:
        case.budget = rng.choice([8, 32, 128]) << 20
        options += ["--memory", str(case.budget)]
    return options


def pack_case(rng, seed, source, by_position):
    format = rng.choice(["stoker", "tfrecord", "tar", "lmdb"])
    # Files of equal parts take a length that is known beforehand.
    shards = rng.choice([1, 1, 2, 3]) if by_position else 1
    out = f"out.{format}"
    case = Case(seed, "pack", source, [], [])
    command = ["pack", "recipe.yaml", out, "--format", format, "--shards", str(shards), *limits(rng, case)]
    if rng.random() < 0.3:
        command += ["--shuffle"] if by_position else ["--verify"]
    case.command = case.again = command
    case.outputs = (out,) if shards == 1 else tuple(f"out-{i:05}-of-{shards:05}.{format}" for i in range(shards))
    return case


def bench_case(rng, seed, source, by_position):
    case = Case(seed, "bench", source, [], [])
    case.command = case.again = ["bench", "recipe.yaml", "--epochs", "2", "--json", *limits(rng, case)]
    return case


def look_case(rng, seed, source, by_position):
    kind = rng.choice(["verify", "inspect"])
    command = [kind, *(source.files if kind == "verify" else source.files[:1]), *(["--json"] if kind == "inspect" else [])]
    return Case(seed, kind, source, command, command, printed=True)


def make(seed, work, address):
    """A case of pack, bench, verify or inspect; `address` is that of a server of what the workshop has made."""
    rng = stream(seed, "pipeline")
    source = source_of(seed, rng, sorted(MAKERS), columns.MAKERS, work)
    kind = rng.choices([pack_case, bench_case, look_case], [7, 2, 2])[0]
    if kind is look_case and not source.files:
        kind = pack_case
    remote = source.remote and kind is not look_case and rng.random() < 0.5
    stages = stages_of(rng, seed, source, work, remote)
    case = kind(rng, seed, source, source.is_by_position(remote) and not skips(stages))
    case.stages = len(stages) + 2
    place = put_on_a_server(rng, case, address) if remote else ["."]
    case.divided = any("split: {side: " in stage for stage in stages)
    text, shape = recipe_text, stream(seed, "shape of split")
    if splits.is_divided(stages) and shape.random() < 0.5:
        text = divided_text
        if case.kind == "pack":
            case.command = case.again = [*case.command, "--of", shape.choice(["train", "eval"])]
    work.write("recipe.yaml", text(place[0], stages, *place[1:]))
    return case
