"""Settings of Sphinx for the reference; build.py runs it."""

import importlib.util
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pages  # noqa: E402
import stoker  # noqa: E402

project = "stoker"
release = stoker.__version__
extensions = ["sphinx.ext.autodoc"]
# What is not installed here is stood in for, so that what needs it is on its page all the same.
autodoc_mock_imports = [name for name in ("ray", "torch") if not importlib.util.find_spec(name)]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False
smartquotes = False  # texts are quoted as Python has them

html_theme = "furo"
html_title = f"Stoker {release}: Python"
html_static_path = ["static"]
html_css_files = ["reference.css"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None

# A name of this package that is not on a page is an error; those of others are not looked for.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(typing|collections|os|multiprocessing|torch|ray|types)\..*|.*\b(Tensor|_Batch)"),
                        ("py:class", r"Any|Callable|Iterable|Iterator|Mapping|Sequence|PathLike|EllipsisType|BaseContext|bool|bytes|dict|float|"
                         r"int|list|object|str|tuple|None|Ellipsis|Exception|ValueError|OSError|optional")]

ROW = re.compile(r"(\w[\w, ]*?) {2,}(\S.*)")


def docstring(app, what, name, obj, options, lines):
    """Docstrings of the package as reStructuredText: rows of a name, spaces and its meaning become a table."""
    made, rows, paragraph = [], [], []

    def end():
        if rows:
            cells = [[", ".join(f"``{name}``" for name in names.split(", ")), pages.inline(text)] for names, text in rows]
            made.extend(pages.table(None, cells, "22 78"))
        if paragraph:
            made.extend([pages.inline(" ".join(paragraph)), ""])
        rows.clear()
        paragraph.clear()

    for line in lines:
        row = ROW.fullmatch(line)
        if row:
            if paragraph:
                end()
            rows.append([row[1], row[2]])
        elif rows and line.startswith(" ") and line.strip():
            rows[-1][1] += " " + line.strip()
        elif not line.strip():
            end()
        else:
            if rows:
                end()
            paragraph.append(line.strip())
    end()
    lines[:] = made


def class_signature(app, what, name, obj, options, signature, returned):
    """Shows what classes are made with only where users make them."""
    if what in ("class", "exception") and signature and obj not in (stoker.Loader, stoker.DataLoader):
        return "", None
    return None


def reference(app, env, node, contnode):
    """Annotations name classes where they are defined; their entries have the names that users import."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in stoker.__all__:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", f"stoker.{name}", node, contnode)


def setup(app):
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", class_signature)
    app.connect("missing-reference", reference)
    return {"parallel_read_safe": True}
