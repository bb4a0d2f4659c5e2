"""Settings of the documentation: ``make docs``."""

import re
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

import rocband

project = "rocband"
author = "rocband maintainers"
copyright = "rocband maintainers"
version = release = rocband.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 2
exclude_patterns = ["_build"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it better
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = "rocband"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]


FITTED = re.compile(r"(?<!\w)([A-Za-z]\w*)_(?!\w)")
INITIAL = re.compile(r"^(\.\. \[\d+\] [A-Z])\.")


def keep_text(app, what, name, obj, options, lines):
    """Keep names of fitted attributes, such as (n_features_in_,), from being read as links, and initials as lists."""
    for k, line in enumerate(INITIAL.sub(r"\1\\.", line) for line in lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(`+[^`]*`+)", line)
            lines[k] = "".join(part if "`" in part else escape(part) for part in parts)


def number_citations(app, doctree, docname):
    """Show a citation as [1], not by the label that numpydoc makes unique with a hash."""
    for text in list(doctree.findall(nodes.Text)):
        short = re.sub(r"\[R[0-9a-f]+-(\d+)\]", r"[\1]", text)
        if short != text:
            text.parent.replace(text, nodes.Text(short))


def escape(text):
    """Escape the last underscore of names in a text, but not in front of the colon of a field."""
    names, colon, rest = text.partition(" : ")
    return names + colon + FITTED.sub(r"\1\\_", rest) if colon else FITTED.sub(r"\1\\_", text)


def list_tables(app, docname, source):
    """Put the pages that benchmarks have made so far, which say so, into the list of measurements."""
    if docname == "measurements":
        pages = sorted(Path(__file__).parent.glob("*.md"))
        made = [path.stem for path in pages if "Made by" in path.read_text(encoding="utf-8")]
        source[0] = source[0].replace("TABLES", "\n".join(made))


def inline_math(writer, node):
    """Write mathematics as MathML, which browsers show by themselves, without a script or a network."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block_math(writer, node):
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("source-read", list_tables)
    app.connect("doctree-resolved", number_citations)
    app.connect("autodoc-process-docstring", keep_text, priority=100)  # before numpydoc
