"""How the pages are built: ``python -m sphinx -n -W --keep-going -b html docs build/docs/html``.

The build reads this package and these pages and nothing else: no network, no inventories of other projects.  It must never hide a warning about a
name of ours; what is ignored below belongs to others.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from sphinx.ext.autosummary import import_by_name
from sphinx.ext.napoleon import Config, NumpyDocstring

import pandas_dp

if TYPE_CHECKING:
    from pathlib import Path

    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

project = "pandas_dp"
author = "The pandas_dp authors"
copyright = "The pandas_dp authors"  # noqa: A001  (Sphinx reads this name)
version = release = pandas_dp.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = [
    "**/.ipynb_checkpoints",
]
default_role = "code"
nitpicky = True
nitpick_ignore: list[tuple[str, str]] = []

html_theme = "furo"
html_title = f"pandas_dp {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

autosummary_generate = False
autodoc_typehints = "none"  # the docstrings say the types, with shapes and units
autodoc_member_order = "bysource"

# Types are prose ("number, optional"): one field list, in which nothing is taken for a class.
_DOCSTRINGS = Config(
    napoleon_use_param=False,
    napoleon_use_rtype=False,
    napoleon_use_ivar=True,
    napoleon_custom_sections=["Privacy", "Accuracy", ("Attributes", "params_style")],
)
# A list of sources; "A. Author" at its beginning would be read as another.
_REFERENCE = re.compile(r"^\.\. \[(?:(\d+)|(\w+))\] ")
_CITED = re.compile(r"\[(\w+)\]_")

# Files beside the package that have a page here, too.
_ROOT = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing/index.md", "SECURITY.md": "contributing/security.md"}
_LINK = re.compile(r"(?<=\]\()(docs/)?([\w/.-]+\.md)(?=[)#])")


def own_lines(app: Sphinx, what: str, name: str, subject: object, options: object, lines: list[str]) -> None:
    """Read a docstring in NumPy's style, also that of a property; list its sources for itself, so that many of them can stand on one page."""
    kind = "method" if what == "property" else what
    parsed = NumpyDocstring(lines, _DOCSTRINGS, app, kind, name, subject, options).lines()
    lines[:] = [_CITED.sub(r"[\1]", _REFERENCE.sub(_reference, line)) for line in parsed]


def _reference(found: re.Match[str]) -> str:
    return f"{found[1]}. \\" if found[1] else f"*  [{found[2]}] "


def own_links(app: Sphinx, path: Path, parent: str, content: list[str]) -> None:
    """Turn links of a file beside the package, which work on a code host, into links of the page that shows it."""
    del app, path, parent
    content[0] = _LINK.sub(lambda found: "/" + (found[2] if found[1] else _ROOT[found[2]]), content[0])


def own_names(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node) -> Any:
    """Find what is written by another name: without its package or module, or as a method that several classes share.  Inner modules have no entry."""
    target = node.get("reftarget", "")
    found = _find(target)
    if inspect.ismodule(found):
        return content
    domain = env.domains["py"]
    namesakes = [known for known in domain.objects if known.endswith("." + target.rpartition(".")[2])]
    if "." in target:
        names = [known for known in namesakes if found is not None and _find(known) is found]
    else:
        names = [f"pandas_dp.{target}", *(namesakes if len(namesakes) == 1 else [])]
    for name in names:
        if name in domain.objects:
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
    return None


def _find(name: str) -> object:
    """Return what a dotted name of this package stands for, if anything."""
    try:
        return import_by_name(name)[1] if name.startswith("pandas_dp.") else None
    except ImportError:
        return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the helpers."""
    app.connect("autodoc-process-docstring", own_lines)
    app.connect("include-read", own_links)
    app.connect("missing-reference", own_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
