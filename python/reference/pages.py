"""The pages of the reference as text for Sphinx: groups of operators, out of their registration, and what stands around them."""

import inspect
import pathlib
import re
import sys

import stoker as sk
from stoker import operators

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import generate  # noqa: E402 - which wrote stoker/operators.py out of the same registration

# Of the operators that are not sources. What no group names is on the page of fields and texts, as a new operator will be.
COMBINE = "concatenate zip mix choose interleave".split()
ORDER = "shuffle order sample balance shard split take skip filter take_while unique repeat enumerate scan".split()
PICTURES = """decode encode resize center_crop pad random_crop random_resized_crop random_flip random_affine rand_augment trivial_augment
    color_jitter grayscale gaussian_blur random_erasing normalize layout""".split()
BATCHES = "batch padded_batch bucket_by_length unbatch window mixup cutmix prefetch cache ignore_errors".split()

# Option types of the registration as one reads them; others stand as they are registered.
TYPES = {
    "true or false": "bool",
    "integer": "int",
    "number": "float",
    "text": "str",
    "list of integers": "int, or list of int",
    "list of numbers": "float, or list of float",
    "list of texts": "str, or list of str",
    "integer or auto": "int or None",
    "number or auto": "float or None",
    "integer, or share between 0 and 1": "int, or float from 0 to 1",
    "list of pipelines": "list of Dataset",
    "pipeline": "Dataset",
    "map of fields": "dict of fields",
    "map of features": "dict of features",
    "map of paths": "dict of paths",
}

# Where the documents say more; architecture and the like are for those who change Stoker.
DOCUMENTS = ("python.md", "from-dataloader.md", "from-tfdata.md", "formats.md", "splitting.md", "targets.md", "remote.md")

INDEX = """Stoker's Python package
=======================

.. currentmodule:: stoker

Stoker makes the batches that a training reads: pipelines are written in Python, run on native threads, and give tensors of PyTorch or
arrays of NumPy and JAX. `The Python package <{docs}/python.md>`_ introduces it, and `From PyTorch's DataLoader
<{docs}/from-dataloader.md>`_ has a line of it for each class and argument of ``torch.utils.data``. This reference lists every function and
class of the package.

.. code-block:: python

   import stoker as sk

   train = (sk.folder("train")    # one folder a class
            | sk.shuffle()
            | sk.decode()
            | sk.random_resized_crop(size=224)
            | sk.random_flip()
            | sk.normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
            | sk.batch(64)
            | sk.prefetch())

   loader = sk.Loader(train, seed=1)
   for epoch in range(90):
       for batch in loader:       # {{"image": Tensor [64, 3, 224, 224], "label": Tensor [64]}}
           step(batch["image"], batch["label"])

Operators are functions. A source makes a :py:class:`Dataset`; what follows it after ``|`` changes its elements, their order or their
number. A :py:class:`Loader` reads the result, epoch after epoch.

In the tables of options, *required* stands for what has no default. ``None`` is what recipes call ``auto``: the engine chooses. The
first option of an operator may be given without its name. Every operator also takes ``on_error``, which says what becomes of elements for
which it fails: ``"skip"``, ``"replace"``, ``"fail"`` (as without it), or a dict with the options of :py:func:`ignore_errors`.

{contents}

All names, methods included, are in the :ref:`index <genindex>`.

.. toctree::
   :hidden:

{toctree}
"""

# Page, title, what stands before the entries, the entries.
TEXTS = {
    "sources": ("Sources", "What a pipeline begins with: each makes a :py:class:`Dataset`. `Formats <{docs}/formats.md>`_ says what "
                "each can read, and `Files on servers <{docs}/remote.md>`_ how files are read from there."),
    "combining": ("Several pipelines in one", "Sources that are made of other pipelines."),
    "order": ("Order and selection", "Which elements an epoch has, and in which order."),
    "pictures": ("Pictures", "Decoding, resizing and augmentation. What is drawn at random depends on the seed, the epoch and the element "
                 "alone. Options ``images`` and ``masks`` name further fields that get the same draw. `What torchvision's transforms are "
                 "called <{docs}/from-dataloader.md#what-torchvisions-transforms-are-called>`_ compares the two."),
    "fields": ("Fields, labels and texts", "What changes the fields of an element."),
    "batches": ("Batches, and what is kept ready", "Batches are made by an operator as everything else; more operators may follow it."),
}

OTHERS = {
    "dataset": ("Pipelines as values", """Operators return these; ``|`` joins them. `Datasets are values
<{docs}/python.md#datasets-are-values>`_ has examples.

.. autoclass:: stoker.Dataset
   :members:
   :special-members: __or__, __iter__, __len__
   :class-doc-from: class

.. autoclass:: stoker.Stages
   :special-members: __or__

.. autofunction:: stoker.from_yaml

.. autofunction:: stoker.read_recipe
"""),
    "loader": ("Loader", """Reads a pipeline, epoch after epoch. `Loader <{docs}/python.md#loader>`_ explains it at length, `Checkpoints
<{docs}/python.md#checkpoints>`_ how to save and resume.

.. autoclass:: stoker.Loader
   :members:
   :special-members: __iter__, __len__

What a pass did
---------------

.. autoclass:: stoker.Profile
   :members: to_dict

.. autoclass:: stoker.report.Stage

.. autoclass:: stoker.Explanation

Looking at batches
------------------

.. autofunction:: stoker.show

.. autoclass:: stoker.Sheet
   :members: save

Arrays without NumPy
--------------------

.. autoclass:: stoker.Array

``torch.from_dlpack(array)``, ``jax.numpy.from_dlpack(array)`` and ``numpy.asarray(array)`` share its memory. Its attributes ``shape``,
``dtype`` (as text) and ``nbytes`` describe it.
"""),
    "functions": ("Functions of your own", """Functions of Python in a pipeline, and Python objects as sources. `Functions of your own
<{docs}/python.md#functions-of-your-own>`_ says what they get, what they may return, and where they run.

.. autofunction:: stoker.map

.. autofunction:: stoker.filter

.. autofunction:: stoker.from_map_style

.. autofunction:: stoker.from_generator
"""),
    "dataloader": ("DataLoader", """For a Dataset of PyTorch as it is; imports PyTorch when it is asked for. `Any Dataset of PyTorch
<{docs}/python.md#any-dataset-of-pytorch-skdataloader>`_ says how it differs from PyTorch's.

.. autoclass:: stoker.DataLoader
   :members: state_dict, load_state_dict, multiprocessing_context

.. autofunction:: stoker.worker_context
"""),
    "device": ("Batches on a GPU", """``Loader(train, device="cuda")`` gives tensors that are on the GPU already. The iterator that it
gives then is of this class.

.. code-block:: python

   for batch in sk.Loader(train, device="cuda"):
       step(batch["image"], batch["label"])

.. autoclass:: stoker.device.DeviceBatches
   :members: save, explain, close
"""),
    "ray": ("Ray", """``stoker.ray`` needs Ray Data, and is imported when it is asked for. `Under other libraries
<{docs}/python.md#under-other-libraries>`_ lists the examples.

.. code-block:: python

   for epoch in range(90):
       samples = sk.ray.read("recipe.yaml", epoch=epoch)   # a ray.data.Dataset: what the pipeline's batches hold, a sample a row
       for batch in samples.iter_torch_batches(batch_size=64):
           step(batch["image"], batch["label"])

Trainers of Ray Train get their share of it as of every Dataset: ``TorchTrainer(..., datasets={{"train": samples}})``. A Dataset is one
epoch, which a second pass over it repeats.

.. autofunction:: stoker.ray.read
"""),
    "errors": ("Errors", """What the package raises. `What else holds <{docs}/python.md#what-else-holds>`_ says more of signals, processes and
warnings. A name or value that Python itself refuses, such as an option that does not exist, is a ``TypeError``.

.. autoexception:: stoker.Error
   :show-inheritance:

.. autoexception:: stoker.ConfigError
   :show-inheritance:

.. autoexception:: stoker.DataError
   :show-inheritance:

.. autoexception:: stoker.ResourceError
   :show-inheritance:
"""),
}


def groups():
    """{page: names of operators}, in the order in which they are shown."""
    named = [*COMBINE, *ORDER, *PICTURES, *BATCHES]
    kinds = generate.kinds(sk._core)
    sources = [name for name, kind in kinds.items() if kind["group"] == "source" and name not in named]
    others = [name for name in kinds if name not in named and name not in sources]
    found = {"sources": sources, "combining": COMBINE, "order": ORDER, "pictures": PICTURES, "fields": others, "batches": BATCHES}
    return {page: [name for name in names if name in kinds] for page, names in found.items()}


def inline(text):
    """Prose of a docstring or a help text as reStructuredText: `this` and ``this`` is code, a link where it is a public name."""
    parts = re.split(r"``(.+?)``|`(.+?)`", text)
    made = ""
    for plain, double, single in zip(parts[::3], [*parts[1::3], None], [*parts[2::3], None], strict=True):
        made += re.sub(r"([\\*|<>]|_\b)", r"\\\1", plain)
        code = double or single
        if code:
            name = code.removesuffix("()")
            # The escaped space ends the markup where a letter follows it.
            made += f":py:obj:`~stoker.{name}`\\ " if name in sk.__all__ or name == "DataLoader" else f"``{code}``\\ "
    return re.sub(r"\\ (?=$|[\s.,;:!?)])", "", made)


def table(head, rows, widths):
    """A table; `rows` are lists of cells in reStructuredText."""
    lines = [".. list-table::", "   :class: options", f"   :widths: {widths}"]
    if head:
        lines.append("   :header-rows: 1")
    lines.append("")
    for row in [head, *rows] if head else rows:
        for number, cell in enumerate(row):
            lines.append(("   * - " if number == 0 else "     - ") + cell)
    return [*lines, ""]


def option_row(option):
    about = inline(generate.about(option))
    if option["constraint"]:
        about += f" *({inline(option['constraint'])})*"
    default = "*required*" if option["required"] else f"``{generate.default_of(option)}``"
    return [f"``{generate.argument(option)}``", TYPES.get(option["type"], option["type"]), default, about]


def signature(name):
    """As help() has it, without the types, which the table says."""
    shown = inspect.signature(getattr(operators, name))
    bare = [each.replace(annotation=each.empty) for each in shown.parameters.values()]
    return f"{name}{shown.replace(parameters=bare, return_annotation=shown.empty)} -> {shown.return_annotation}"


def operator(kind, sections, docs):
    name = kind["name"]
    # What has this name in the package is a function that can do more (functions.py); so the two have two names here.
    module = "stoker" if getattr(sk, name) is getattr(operators, name) else "stoker.operators"
    lines = [f".. py:currentmodule:: {module}", "", f".. py:function:: {signature(name)}", "   :single-line-parameter-list:", ""]
    body = [inline(kind["help"]), ""]
    if module == "stoker.operators":
        body += [f":py:func:`stoker.{name}` calls it where it is not given a function.", ""]
    if kind["options"]:
        body += table(["Option", "Type", "Default", "Meaning"], [option_row(option) for option in kind["options"]], "18 18 16 48")
    places = [f"`{title} <{docs}/{link}>`__" for title, link in sections.get(name, ())]
    if places:
        body += ["In the documents: " + ", ".join(places), ""]
    return lines + ["   " + line if line else "" for line in body]


def slug(heading):
    """The anchor that Markdown's readers give a heading."""
    text = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower())
    return text.replace(" ", "-")


def headings(text):
    """(number of #, heading, text below it) of each section, without looking for headings in code."""
    parts = re.split(r"^(#+) (.+)$", re.sub(r"^```.*?^```", lambda code: code[0].replace("\n#", "\n "), text, flags=re.M | re.S),
                     flags=re.M)
    return list(zip(map(len, parts[1::3]), parts[2::3], parts[3::3], strict=True))


def sections(docs):
    """{operator: [(title, file#anchor)]}: of each document the section that names the operator most often, outside examples."""
    found = {}
    for document in DOCUMENTS:
        parts = headings((docs / document).read_text(encoding="utf-8"))
        for name in operators.__all__:
            named = re.compile(rf"\bsk\.{name}\(|`{name}(`|: [^`\n]*`)")
            counts = [len(named.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))) for _, _, text in parts]
            if any(counts):
                depth, heading, _ = parts[counts.index(max(counts))]
                link, label = (document, "") if depth == 1 else (f"{document}#{slug(heading)}", f": {heading}")
                found.setdefault(name, []).append((parts[0][1] + label.replace("`", ""), link))
    return found


def contents(pages):
    """Rows of the table on the front page: a link to each page, and to each entry on it."""
    rows = []
    for page, text in pages.items():
        names = re.findall(r"^\.\. (?:py:function|auto\w+):: ([\w.]+)", text, re.M)
        names = [name if name.startswith("stoker.") else f"stoker.{name}" for name in names]
        rows.append([f":doc:`{page}`", ", ".join(f":py:obj:`{name.removeprefix('stoker.')} <{name}>`" for name in names)])
    return rows


def write(folder, docs, docs_url):
    """Writes all pages into `folder`.

    docs      the folder of the documents
    docs_url  what links to them begin with
    """
    kinds, places = generate.kinds(sk._core), sections(docs)
    pages = {}
    for page, names in groups().items():
        title, before = TEXTS[page]
        lines = [title, "=" * len(title), "", ".. py:currentmodule:: stoker", "", before.format(docs=docs_url), ""]
        for name in names:
            lines += operator(kinds[name], places, docs_url)
        pages[page] = "\n".join(lines)
    for page, (title, text) in OTHERS.items():
        pages[page] = f"{title}\n{'=' * len(title)}\n\n.. py:currentmodule:: stoker\n\n" + text.format(docs=docs_url)
    toctree = "\n".join(f"   {page}" for page in pages)
    pages["index"] = INDEX.format(docs=docs_url, toctree=toctree, contents="\n".join(table(None, contents(pages), "25 75")))
    for page, text in pages.items():
        (folder / f"{page}.rst").write_text(text, encoding="utf-8")
