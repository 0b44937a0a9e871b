"""Random programs: compile time promises only what every run keeps, and folding changes no run."""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shape_programs
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.interpret import Machine
from bcastgen.shape.dialect.ops import find_row
from bcastgen.shape.dialect.row import lift
from bcastgen.shape.dialect.values import Witness, instance_of, show
from long_runs import many
from shape_programs import bound, has_names

RELAXED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
)


def ran(program, concrete):
    """The machine after a run, its results, and the error that ended it, or None."""
    machine = Machine(running=True)
    try:
        # Not what `debug_print` prints, which is tested elsewhere.
        with redirect_stderr(StringIO()):
            return machine, tuple(known.value for known in machine.execute(program, concrete)), None
    except BroadcastError as error:
        return machine, (), error


def undefined(machine):
    """Whether an `any` met operands that contradict each other: the text leaves open what it returns then."""
    for operation, operands, _ in machine.trace:
        if operation.name == "shape.any":
            shapes = lift(operation, operands)
            if not any(shape.is_invalid for shape in shapes) and len(set(shapes)) > 1:
                return True
    return False


def work(program):
    """How many operations a program has beside constants: what a run can tell stays although its result is known."""
    return sum(bool(operation.operands) for operation in program.body.walk())


def wrong(value):
    return getattr(value, "is_invalid", False) or (isinstance(value, Witness) and value.passing is False)


def verify_one(program, concrete, promises):
    machine, results, error = ran(program, concrete)
    promised = program.evaluate(*promises)
    promised = promised if len(program.results) != 1 else (promised,)
    verdict = program.check(*promises)
    folded = program.fold()
    folded.verify()

    # Folding: the same results, the same end, in no more operations; what is known stays known.
    _, again, fault = ran(folded, concrete)
    if undecided_witness(error):
        return
    assert same_end(error, fault), (str(program), str(folded), error, fault)
    assert results == again, (str(program), str(folded))
    assert work(folded) <= work(program)
    kept = folded.evaluate(*promises)
    kept = kept if len(program.results) != 1 else (kept,)
    if undefined(machine):
        return
    verify_undecided(program, folded, promises)
    if error is not None and "is not decided" in str(error):
        return  # The elements of a value_shape, which types do not promise.
    # A fold may prove more, where it inlines: never less.
    if error is None:
        exact = program.evaluate(*concrete)
        exact = exact if len(program.results) != 1 else (exact,)
        assert exact == results, str(program)
        for value, promise, still in zip(results, map(bound, promised), map(bound, kept), strict=True):
            assert instance_of(value, promise), (str(program), show(value), show(promise))
            assert instance_of(value, still), (str(folded), show(value), show(still))
    broken = error is not None or any(wrong(value) for value in results)
    failing = any(find_row(step[0].name).constraint and wrong(step[2][0]) for step in machine.trace)
    assert verdict is not True or not (broken or failing), (str(program), error)
    assert verdict is not False or broken or failing, str(program)


def undecided_witness(error):
    """Whether a run ended at a witness that it did not decide; a fold may know that it passes for every shape."""
    return error is not None and str(error).startswith("shape.assuming of") and "is not decided" in str(error)


def same_end(error, fault):
    return (error is None) == (fault is None) and str(error).count("is not decided") == str(fault).count(
        "is not decided"
    )


def verify_undecided(program, folded, operands):
    """Run both on operands that are not known: beyond undecided witnesses both end alike, and with the same results."""
    _, before, error = ran(program, operands)
    _, after, fault = ran(folded, operands)
    if undecided_witness(error):
        return
    assert same_end(error, fault), (str(program), str(folded), error, fault)
    for value, still in zip(map(bound, before), map(bound, after), strict=True):
        assert instance_of(still, value), (str(program), str(folded), show(value), show(still))


def test_names_reach_results_and_decide():
    """The programs of the other tests compute with names, and with sums and products of them."""
    seen = []
    for seed in range(500):
        chance = Random(seed)
        program = shape_programs.make_program(chance)
        _, promises = shape_programs.make_operands(chance, program)
        results = program.evaluate(*promises)
        results = results if len(program.results) != 1 else (results,)
        seen += [show(result) for result in results if has_names(result)]
    assert len(seen) > 50, seen
    assert sum("+" in text or "*" in text or "broadcast" in text for text in seen) > 10, seen


def verify_random(chance):
    program = shape_programs.make_program(chance)
    concrete, promises = shape_programs.make_operands(chance, program)
    verify_one(program, concrete, promises)


@RELAXED
@given(chance=st.randoms(use_true_random=False))
def test_compile_time_promises_what_runs_keep(chance):
    verify_random(chance)


@pytest.mark.slow
@settings(RELAXED, max_examples=many(800, 10_000))
@given(chance=st.randoms(use_true_random=True))
def test_compile_time_promises_what_runs_keep_in_thousands_of_programs(chance):
    verify_random(chance)
