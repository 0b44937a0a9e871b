"""Shape programs read from text, and the names of their values made alike for comparisons.

In: the text of a module.  Out: a program for each function.

    read("func.func @same(%a: !shape.shape) -> ...") -> [Program("same", ...)]
"""

from __future__ import annotations

from dataclasses import replace

from bcastgen.mlir.read.parser import parse_module
from bcastgen.mlir.shape.read_program import read_program
from bcastgen.shape.dialect.program import Block, Program


def read(text):
    """The programs of a text's functions."""
    module = parse_module(text, "m.mlir")
    return [read_program(function, module.source) for function in module.functions]


def renamed(built):
    """The program with its values called after the order in which they are defined."""
    names = {}

    def value(one):
        return replace(one, name=names.setdefault(one, str(len(names))))

    def block(one):
        return Block(tuple(map(value, one.arguments)), tuple(map(operation, one.operations)))

    def operation(one):
        operands = tuple(map(value, one.operands))
        regions = tuple(map(block, one.regions))
        return replace(one, operands=operands, results=tuple(map(value, one.results)), regions=regions)

    body = block(built.body)
    return Program(built.name, body, tuple(map(value, built.results)))
