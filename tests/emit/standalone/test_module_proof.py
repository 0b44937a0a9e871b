"""The checks of standalone C read and write in bounds for every descriptor there is (tests/support/prove_checks.py)."""

from __future__ import annotations

import shutil

import pytest

from prove_checks import ARGUMENTS, KERNELS, alarms, argued, checks, proved

# Each line keeps a read in bounds: without it there is an alarm that no argument meets.
KEPT = (
    "if (x->rank != 2) return bias_fail_array(why, BCASTGEN_RANK, BIAS_X, 2, x->rank);",
    "if (b->extents == NULL) return bias_fail_array(why, BCASTGEN_NULL_EXTENTS, BIAS_B, 0, b->rank);",
    "if (result->rank != rank) return bias_fail_array(why, BCASTGEN_RESULT_RANK, position, rank, result->rank);",
    "if (array->byte_strides == NULL) return bias_fail_dim(why, BCASTGEN_NULL_STRIDES, position, dim, 0, extent);",
)
needs_frama_c = pytest.mark.skipif(shutil.which("frama-c") is None, reason="Frama-C is not installed")


@pytest.mark.parametrize("argument", [argument for _, argument, _ in ARGUMENTS], ids=lambda argument: argument.__name__)
def test_no_numbers_contradict_an_argument(argument) -> None:
    assert proved(argument) is True


@pytest.mark.slow
@needs_frama_c
@pytest.mark.parametrize("name", KERNELS)
def test_every_alarm_has_an_argument(name, tmp_path) -> None:
    files = checks(name)
    found = alarms(name, files, tmp_path)
    assert len(found) == len(ARGUMENTS)
    assert [alarm for alarm in found if not argued(name, files[f"{name}.c"], alarm)] == []


@pytest.mark.slow
@needs_frama_c
@pytest.mark.parametrize("line", KEPT)
def test_a_check_that_is_left_out_is_an_alarm(line, tmp_path) -> None:
    files = checks("bias")
    assert files["bias.c"].count(line) == 1
    files["bias.c"] = files["bias.c"].replace(line, "")
    assert [alarm for alarm in alarms("bias", files, tmp_path) if not argued("bias", files["bias.c"], alarm)]
