"""Functions of scalars, read from their source: branches become selections, loops are unrolled.

`function_text` finds a function's source and says where an error is; `values` holds what a name may stand for while a
function is read; `reader` follows statements, `expressions` reads what they compute, `calls` what they call.
`frames` holds the functions that are being read, one calling the other; `numba_signatures` reads the signatures that
Numba's decorator takes.
"""
