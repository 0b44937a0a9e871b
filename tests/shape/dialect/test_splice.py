"""bcastgen/shape/dialect/splice.py: a program inside another one is the program itself."""

from __future__ import annotations

import random
import re

from bcastgen import shape as s
from bcastgen.shape.dialect.printer import print_program
from bcastgen.shape.dialect.splice import spliced
from bcastgen.shape.dialect.trace import program
from shape_programs import make_program


def numbered(made):
    """The text of a program whose values have numbers in the order in which they come."""
    names = {}
    return re.sub(r"%(static\.)?\d+", lambda found: names.setdefault(found[0], f"%{len(names)}"), print_program(made))


def test_a_program_that_is_only_a_copy_prints_as_the_one_it_copies():
    chance = random.Random(16)
    nested = 0
    for _ in range(150):
        made = make_program(chance)
        types = {value.name: value.type for value in made.operands}
        copy = program("random", lambda made=made, **values: list(spliced(made, tuple(values.values()))), **types)
        assert numbered(copy) == numbered(made)
        assert [one.location for one in copy.body.walk()] == [one.location for one in made.body.walk()]
        nested += any(one.regions for one in made.body.walk())
    assert nested > 20


def test_a_program_may_be_spliced_twice():
    def asked(a, b):
        return s.assuming(s.cstr_broadcastable(a, b), lambda: s.broadcast(a, b))

    one = s.program("one", asked, a="!shape.shape", b="!shape.shape")

    def body(a, b):
        (first,) = spliced(one, (a, b))
        (second,) = spliced(one, (first, s.concat(b, a)))
        return second

    two = s.program("two", body, a="!shape.shape", b="!shape.shape")
    assert str(two.run((3,), (1,))) == "[1, 3]"
    assert two.check((3,), (2,)) is False
