"""What is wrong with the pages of the reference: names without an entry, entries without a text, links to nothing."""

import ast
import contextlib
import html.parser
import importlib.util
import inspect
import pathlib
import pkgutil
import re
import types
import urllib.parse

import pages
import stoker

# Modules whose names users do not call: their names need no entry.
INTERNAL = ("nearest", "one_engine", "convert", "mapped", "messages", "names", "ranks", "functions.", "dataloader.", "libstoker_")


class Page(html.parser.HTMLParser):
    """Anchors, links, texts and entries of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.anchors, self.links, self.text = set(), [], ""
        self.entries = {}  # anchor: text below it
        self._waiting = []  # anchors whose text comes next
        self._open = []  # (anchors, depth) of the descriptions that are open
        self._depth = 0
        self._hidden = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.anchors.add(given["id"])
        for name in ("href", "src"):
            if given.get(name):
                self.links.append(given[name])
        if tag in ("script", "style"):
            self._hidden += 1
        if tag == "dt" and "sig" in (given.get("class") or "").split() and "id" in given:
            self._waiting.append(given["id"])
            self.entries[given["id"]] = ""
        if tag == "dd":
            self._depth += 1
            if self._waiting:
                self._open.append((self._waiting, self._depth))
                self._waiting = []

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._hidden -= 1
        if tag == "dd":
            if self._open and self._open[-1][1] == self._depth:
                self._open.pop()
            self._depth -= 1

    def handle_data(self, data):
        if self._hidden:
            return
        self.text += data
        for names, _ in self._open:
            for name in names:
                self.entries[name] += data


def public_names():
    """(name of the entry, object) of all that users may call, and of the public methods and properties of classes."""
    found = {}

    def add(name, value):
        if value not in found.values():
            found[name] = value

    for name in [*stoker.__all__, *stoker._ON_DEMAND]:
        with contextlib.suppress(ModuleNotFoundError):
            if not inspect.ismodule(getattr(stoker, name)):
                add(f"stoker.{name}", getattr(stoker, name))
    for each in pkgutil.walk_packages(stoker.__path__, "stoker."):
        short = each.name.removeprefix("stoker.")
        if short.startswith(("_", "libstoker", "stoker_", *INTERNAL)):  # libraries are no modules
            continue
        try:
            module = importlib.import_module(each.name)
        except ModuleNotFoundError:
            # It needs a library that is not here; its page is made with a stand-in for that.
            file = importlib.util.find_spec(each.name).origin
            source = pathlib.Path(file).read_text(encoding="utf-8")
            for node in ast.parse(source).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                    add(f"{each.name}.{node.name}", types.SimpleNamespace(__doc__=ast.get_docstring(node)))
            continue
        for name in getattr(module, "__all__", [name for name, value in vars(module).items() if not name.startswith("_")
                                                and getattr(value, "__module__", None) == module.__name__]):
            add(f"{module.__name__}.{name}", getattr(module, name))
    return found


def members(value):
    """(name, object) of the public methods and properties that a class of this package defines."""
    for name, member in vars(value).items() if inspect.isclass(value) and value.__module__ != "stoker._core" else ():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, (property, staticmethod, classmethod))):
            yield name, member


def undocumented():
    """Public names without a docstring."""
    for name, value in public_names().items():
        if not (value.__doc__ or "").strip():
            yield f"{name} has no docstring"
        for each, member in members(value):
            if not (member.__doc__ or "").strip():
                yield f"{name}.{each} has no docstring"


def problems(folder):
    """What is wrong with the pages in `folder` and with the docstrings of the package, a line each."""
    folder = pathlib.Path(folder).resolve()
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))}
    found = {path: Page(text) for path, text in texts.items()}
    said = [*undocumented()]
    entries = {anchor: text for page in found.values() for anchor, text in page.entries.items()}
    said += [f"{name} has no entry" for name in public_names() if name not in entries]
    for name, text in entries.items():
        if text.strip() in ("", "None"):
            said.append(f"the entry {name} has no text")
    for path, page in found.items():
        shown = path.relative_to(folder)
        for address in re.findall(r"<[^<>\n]* object at 0x[0-9a-f]+>|<object object|\b0x[0-9a-f]{8,}", page.text):
            said.append(f"{shown}: shows {address!r}")
        said += [f"{shown}: links to {link}, {why}" for link in page.links for why in dead(path, link, found)]
    return said


def dead(page, link, found):
    """Yields why a link leads nowhere; links to other sites are not followed."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
    anchor = urllib.parse.unquote(parts.fragment)
    if not target.is_file():
        yield "which does not exist"
    elif anchor and target in found:
        if anchor not in found[target].anchors:
            yield "which has no such anchor"
    elif anchor and target.suffix == ".md":
        text = target.read_text(encoding="utf-8")
        if anchor not in {pages.slug(heading) for _, heading, _ in pages.headings(text)} | set(re.findall(r'id="([^"]+)"', text)):
            yield "which has no such heading"
