"""The polynomials in the headers are those that the fitting script finds."""

from __future__ import annotations

import importlib.util
import re
import sys

import mpmath
import pytest

from bcastgen.core.resources import csrc_file, folder
from sources import LACKING

if LACKING:
    # The script is for those who change the headers; a wheel holds the headers alone.
    pytest.skip(LACKING, allow_module_level=True)

_SPEC = importlib.util.spec_from_file_location("fit", csrc_file("fit.py"))
fit = importlib.util.module_from_spec(_SPEC)
sys.modules["fit"] = fit
_SPEC.loader.exec_module(fit)

HEADERS = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((folder("csrc") / "vmath").glob("bcg_vmath*.h"))
)
QUICK = ("exp_f32", "log_f32", "cbrt_f64")
_HEX = re.compile(r"-?0x[0-9a-f.]+p[+-]?\d+")


# A comment may run over lines.
ERRORS = dict(re.findall(r"(\w+): (?:error )?(2\^-[\d.]+)", re.sub(r"\s+(?:\* )?", " ", HEADERS)))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in fit.FITS]
)
def test_headers_hold_what_the_script_prints(name):
    comment, numbers = fit.as_c(name).split("\n")
    written = {abs(float.fromhex(text)) for text in _HEX.findall(HEADERS)}
    assert [text for text in _HEX.findall(numbers) if abs(float.fromhex(text)) not in written] == []
    assert re.search(r"\w+: error (\S+)", comment)[1] == ERRORS[name]


def test_headers_name_no_other_entries():
    assert set(ERRORS) == set(fit.FITS)


def test_a_fit_has_the_least_error():
    """That of a line to e^x on [0, 1] is known: e^x - (a + b x) is largest at both ends and once between."""
    found = fit.fitted(fit.Fit("f64", mpmath.exp, 0, 1, 1, lambda x: mpmath.mpf(1)))
    assert found.error == pytest.approx(0.1059, abs=1e-4)


def test_coefficients_are_rounded_once_to_the_dtype():
    third = fit.Fit("f32", lambda x: mpmath.mpf(1) / 3, 1, 2, 0, lambda x: mpmath.mpf(1), pairs=1)
    ((first, second),) = fit.fitted(third).coefficients
    assert first.hex() == "0x1.5555560000000p-2"
    assert first + second == pytest.approx(1 / 3, rel=2**-48)
