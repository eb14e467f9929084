"""Recipes with a small model, and the commands that train it, in one process or several, and use it."""
from . import columns, pipelines, splits
from .case import Case, stream

# Those whose elements have an `image` of numbers and one shape, and a `label`.
TRAINABLE = ("idx_pair", "npy", "npz", "csv", "binary", "hdf5_file", "packed_stoker", "packed_tfrecord", "packed_lmdb", "folder",
             "picture_list")
# All that could choose differently from run to run is fixed, so that runs can be compared byte by byte.
RECIPE = """\
  eval:
EVAL
    - batch: {size: 50}
model:
  mlp: {classes: 4, hidden: [16], dropout: 0.1}
train:
  STEPS
  seed: 1
  device: cpu
  memory_format: contiguous
  threads: 1
DISTRIBUTED  tune: "off"
  log_every: 1
  checkpoint: {every_steps: EVERY, keep: KEEP}
  optimizer:
    adamw: {weight_decay: 0.01}
"""
RANKS_SHARE = 0.3
# Others than the default: a rank that hangs is an error before the harness takes it for a hang.
DISTRIBUTED = "  distributed: {timeout: 30SHARD}\n"


def training(rng, seed, source, work, remote):
    """(stages of training, stages of evaluation)"""
    stages = [source.entry, *source.more]
    if source.decodes:
        stages += ["decode", "resize: {size: 8}"]
    if rng.random() < 0.3:
        at = rng.randrange(len(stages))
        stages[at] = pipelines.on_error(rng, stages[at], work)
    evaluation = list(stages)
    pipelines.divide(seed, source, stages, remote)
    pipelines.divide(seed, source, evaluation, remote, "eval")
    if rng.random() < 0.2:
        stages.append(f"cache: {{path: {work.work}/kept.elements}}")
    by_position = source.is_by_position(remote) and not pipelines.skips(stages)
    stages.append("shuffle" if by_position and rng.random() < 0.8 else "shuffle: {buffer: 64}")
    stages += ["normalize: {mean: 0.3, std: 0.2}", "batch: {size: 8, drop_remainder: true}", "prefetch"]
    return stages, [*evaluation, "take: 100", "normalize: {mean: 0.3, std: 0.2}"]


def train_case(seed, source):
    return Case(seed, "train", source, ["train", "recipe.yaml", "--run", "run"], ["train", "--resume", "--run", "run"],
                begun="run/recipe.yaml", outputs=("run/weights.safetensors", "run/metrics.jsonl"))


def by_ranks(rng, case):
    """The training in several processes, which are started again where one fails, or not."""
    case.ranks = rng.choice([2, 2, 3])
    launch, case.restarts = ["launch", "-n", str(case.ranks)], rng.choice([0, 0, 2])
    options = ["--restarts", str(case.restarts)] if case.restarts else []
    case.command = [*launch, *options, "--", *case.command]
    case.again = [*launch, "--", *case.again]
    case.shards_state = rng.random() < 0.3
    return DISTRIBUTED.replace("SHARD", ", shard_optimizer: true" if case.shards_state else "")


def use_case(rng, seed, source, work):
    """What is done with a run that is there: it is trained now, undisturbed."""
    work.run("train", "recipe.yaml", "--run", "run", "--set", "train.max_steps=2", "--quiet")
    command, out = rng.choice([(["predict", "run", "--to", "answers.jsonl"], "answers.jsonl"), (["eval", "run", "--json"], ""),
                               (["export", "run", "--to", "model.safetensors"], "model.safetensors"),
                               (["export", "run", "--to", "model.pt"], "model.pt"), (["verify", "run"], "")])
    return Case(seed, command[0], source, command, command, outputs=(out,) if out else (), printed=command[0] == "verify")


def make(seed, work, address, only_ranks=False):
    rng = stream(seed, "training")
    source = pipelines.source_of(seed, rng, TRAINABLE, columns.TRAINABLE, work)
    uses = rng.random() < 0.35 and not only_ranks
    remote = source.remote and not uses and rng.random() < 0.3
    case = train_case(seed, source)
    place = pipelines.put_on_a_server(rng, case, address) if remote else ["."]
    stages, evaluation = training(rng, seed, source, work, remote)
    case.divided = splits.is_divided(stages)
    shared = ""
    if case.divided and stream(seed, "shape of split").random() < 0.5:
        shared, stages = splits.shared_section(stages)
        _, evaluation = splits.shared_section(evaluation)
    text = pipelines.recipe_text(place[0], stages, "".join(place[1:]) + shared)
    # Whether a source knows its length differs, so steps are counted.
    recipe = RECIPE.replace("EVAL", "\n".join("    - " + stage for stage in evaluation)).replace("STEPS", f"max_steps: {rng.choice([6, 15, 30])}")
    ranks = stream(seed, "ranks")
    several = not uses and (ranks.random() < RANKS_SHARE or only_ranks)
    recipe = recipe.replace("DISTRIBUTED", by_ranks(ranks, case) if several else "")
    if stream(seed, "memory").random() < 0.3:
        recipe += "  memory: 64MiB\n"
    text += recipe
    work.write("recipe.yaml", text.replace("EVERY", str(rng.choice([1, 3, 5]))).replace("KEEP", str(rng.choice([1, 2, 3]))))
    return use_case(rng, seed, source, work) if uses else case
