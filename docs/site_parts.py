"""What the site has beside the pages' own text: an extension of Sphinx.

In: ``bcastgen.__all__``; paths of pages in the text.  Out: the directive ``public-names``, which has the docstring of
each function, class or error, so that no page lists them; links where a text names a page by its path.

    .. public-names:: errors
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

import bcastgen as bg

_KINDS: dict[str, Callable[[Any], bool]] = {
    "functions": lambda value: not inspect.isclass(value),
    "classes": lambda value: inspect.isclass(value) and not issubclass(value, BaseException),
    "errors": lambda value: inspect.isclass(value) and issubclass(value, BaseException),
}
_DIRECTIVE = {"functions": "autofunction", "classes": "autoclass", "errors": "autoexception"}


class PublicNames(SphinxDirective):
    """The docstrings of all public names of one kind."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what Sphinx's own directives make of them."""
        kind = self.arguments[0]
        lines: list[str] = []
        for name in sorted(name for name in bg.__all__ if not name.startswith("_")):
            if _KINDS[kind](getattr(bg, name)):
                lines += [f".. {_DIRECTIVE[kind]}:: bcastgen.{name}", *(["   :members:"] * (kind == "classes")), ""]
        return self.parse_text_to_nodes(StringList(lines, source=self.env.docname), allow_section_headings=False)


class PagesNamed(SphinxTransform):
    """Makes a link of each page that a text names by its path, as in ``docs/shapes.md``."""

    default_priority = 400

    def apply(self, **_options: object) -> None:
        """Put a reference around each such piece of code."""
        for literal in list(self.document.findall(nodes.literal)):
            path = Path(literal.astext())
            if path.parent.as_posix() == "docs" and path.suffix == ".md" and path.stem in self.env.found_docs:
                attributes = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{path.stem}", "refexplicit": True}
                link = pending_xref(
                    "", nodes.inline("", path.stem), refdoc=self.env.docname, refwarn=True, **attributes
                )
                literal.replace_self(link)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both."""
    app.add_directive("public-names", PublicNames)
    app.add_transform(PagesNamed)
    return {"parallel_read_safe": True}
