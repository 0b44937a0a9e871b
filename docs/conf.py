"""Builds the pages of this folder as HTML: ``sphinx-build -W -b html docs build/docs``.

In: the pages, and the docstrings of the public names.  Out: a site; the README of the checkout is its front page.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bcastgen.core.version import __version__

project = "bcastgen"
author = "The authors of bcastgen"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "site_parts"]
myst_heading_anchors = 3
# Pages are also read where they lie; what they name by a path is no page of the site.
suppress_warnings = ["misc.highlighting_failure"]
exclude_patterns = ["speed.svg"]
root_doc = "index"

napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"

html_theme = "furo"
html_title = f"bcastgen {release}"
html_theme_options = {"navigation_with_keys": True}
