"""Recipes with a small model, and the commands that train it and use it."""
from . import pipelines
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
  tune: "off"
  log_every: 1
  checkpoint: {every_steps: EVERY, keep: KEEP}
  optimizer:
    adamw: {weight_decay: 0.01}
"""


def training(rng, source, work, remote):
    stages = [source.entry, *source.more]
    if source.decodes:
        stages += ["decode", "resize: {size: 8}"]
    if rng.random() < 0.3:
        at = rng.randrange(len(stages))
        stages[at] = pipelines.on_error(rng, stages[at], work)
    evaluation = list(stages)
    if rng.random() < 0.2:
        stages.append(f"cache: {{path: {work.work}/kept.elements}}")
    by_position = source.is_by_position(remote) and not pipelines.skips(stages)
    stages.append("shuffle" if by_position and rng.random() < 0.8 else "shuffle: {buffer: 64}")
    stages += ["normalize: {mean: 0.3, std: 0.2}", "batch: {size: 8, drop_remainder: true}", "prefetch"]
    return stages, ["    - " + stage for stage in [*evaluation, "take: 100", "normalize: {mean: 0.3, std: 0.2}"]]


def train_case(seed, source):
    return Case(seed, "train", source, ["train", "recipe.yaml", "--run", "run"], ["train", "--resume", "--run", "run"],
                begun="run/recipe.yaml", outputs=("run/weights.safetensors", "run/metrics.jsonl"))


def use_case(rng, seed, source, work):
    """What is done with a run that is there: it is trained now, undisturbed."""
    work.run("train", "recipe.yaml", "--run", "run", "--set", "train.max_steps=2", "--quiet")
    command, out = rng.choice([(["predict", "run", "--to", "answers.jsonl"], "answers.jsonl"), (["eval", "run", "--json"], ""),
                               (["export", "run", "--to", "model.safetensors"], "model.safetensors"),
                               (["export", "run", "--to", "model.pt"], "model.pt"), (["verify", "run"], "")])
    return Case(seed, command[0], source, command, command, outputs=(out,) if out else (), printed=command[0] == "verify")


def make(seed, work, address):
    rng = stream(seed, "training")
    source = pipelines.MAKERS[rng.choice(TRAINABLE)](work, stream(seed, "data"))
    uses = rng.random() < 0.35
    remote = source.remote and not uses and rng.random() < 0.3
    case = train_case(seed, source)
    place = pipelines.put_on_a_server(rng, case, address) if remote else ["."]
    stages, evaluation = training(rng, source, work, remote)
    text = pipelines.recipe_text(place[0], stages, *place[1:])
    # Whether a source knows its length differs, so steps are counted.
    recipe = RECIPE.replace("EVAL", "\n".join(evaluation)).replace("STEPS", f"max_steps: {rng.choice([6, 15, 30])}")
    if stream(seed, "memory").random() < 0.3:
        recipe += "  memory: 64MiB\n"
    text += recipe
    work.write("recipe.yaml", text.replace("EVERY", str(rng.choice([1, 3, 5]))).replace("KEEP", str(rng.choice([1, 2, 3]))))
    return use_case(rng, seed, source, work) if uses else case
