"""The shape dialect: programs that compute shapes, as values that are verified, printed, evaluated, folded and run.

In: a Python function over symbolic shapes, or operations built one by one.  Out: a :class:`~.program.Program`.

    program("outer", lambda a, b: concat(a, b), a="!shape.shape", b="!shape.shape").run((2, 3), (4,)) -> [2, 3, 4]

`bcastgen.shape` has the public names; docs/shape-dialect.md says where this differs from LLVM's dialect, and why.
"""
