"""Sphinx's settings for the documentation site, which scripts/site stages and builds."""

import os
import re
import warnings

from sphinx.ext.napoleon import NumpyDocstring

import partita

project = "Partita"
author = "The Partita authors"
version = release = partita.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "pydata_sphinx_theme"
html_title = "Partita"
html_show_sourcelink = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = [os.environ["PARTITA_DOXYGEN_PAGES"]] if os.environ.get("PARTITA_DOXYGEN_PAGES") else []
html_theme_options = {"show_nav_level": 2, "navigation_with_keys": False, "show_prev_next": False}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["docs/reference", "docs/site"]
suppress_warnings = ["misc.highlighting_failure", "myst.xref_missing", "ref.python"]  # scripts/check-links checks links
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "member-order": "bysource"}
napoleon_google_docstring = False
warnings.filterwarnings("ignore", module="partita")


def prose_in_rst(text):
    """Outside of code, `|` and a trailing `_` mean nothing in docstrings."""
    text = re.sub(r"(?<![`:\w])`([^`]+)`(?!`)", r"``\1``", text)
    parts = text.split("``")
    return "``".join(part if number % 2 else re.sub(r"(?<=\w)_(?!\w)|\|", r"\\\g<0>", part) for number, part in enumerate(parts))


def as_markdown(app, what, name, obj, options, lines):
    """Docstrings quote code with single backticks; those of modules indent it, without further marks."""
    result = []
    for line in lines:
        is_code = what == "module" and line.startswith("    ")
        if is_code and result and result[-1].strip() and not result[-1].startswith("    "):
            result += ["", "::", ""]
        elif is_code and (not result or not result[-1].strip()) and "::" not in result[-2:]:
            before = next((one for one in reversed(result) if one.strip()), "")
            result += [] if before.startswith("    ") else ["::", ""]
        elif what == "module" and not is_code and line.strip() and result and result[-1].startswith("    "):
            result.append("")
        result.append(line if is_code else prose_in_rst(line))
    lines[:] = result


def setup(app):
    # Napoleon takes what precedes a colon in the docstring of a property for its type.
    NumpyDocstring._parse_attribute_docstring = lambda self: self._consume_to_end()
    app.connect("autodoc-process-docstring", as_markdown)
