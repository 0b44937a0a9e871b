"""Where tests find the sources that they are about: beside themselves, but not where a wheel is tested.

In: a test that reads a checkout.  Out: its mark, which says why it is skipped beside an installed wheel.

    pytestmark = of_the_sources
"""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["LACKING", "ROOT", "of_the_sources"]

ROOT = Path(__file__).resolve().parents[2]
# Why a test is skipped that the sources are not there for; empty where they are.
LACKING = "" if (ROOT / "bcastgen").is_dir() else "these tests lie beside an installed wheel, not beside the sources"
of_the_sources = pytest.mark.skipif(bool(LACKING), reason=LACKING)
