"""Kernels that went wrong once, and what they have to give: of each class the smallest, as the random test prints them.

`CASES`: the kernel as `shape_model_text` reads it, the operands' extents (and those the caller gives), and the results'
extents, or "refused" with the array and dim that are named where only one is right.
"""

from __future__ import annotations

CASES = (
    # An explicit broadcast to a name puts a constraint on an operand's dim at another place: read out of bounds.
    ("(f64[n, m] x, f64[?] b) -> x + broadcast_to(b, (n,))", "(2, 6), (2,)", "refused"),
    ("(f64[n, m] x, f64[?] b) -> x + broadcast_to(b, (n,))", "(2, 2), (2,)", "(2, 2)"),
    ("(f64[n, m] x, f64[?] b) -> x + broadcast_to(b, (n,))", "(2, 1), (2,)", "(2, 2)"),
    ("(f64[n, m] b, f64[?, ?] c) -> b + broadcast_to(c, (m, n))", "(2, 5), (5, 2)", "refused"),
    ("(f64[m, n] a) -> broadcast_to(broadcast_to(a[None], (n, m, n)), (7, m, n))", "(2, 3)", "refused"),
    ("(f64[m, n] a) -> broadcast_to(broadcast_to(a[None], (n, m, n)), (7, m, n))", "(2, 1)", "(7, 2, 1)"),
    # A target's name is exactly its extent, also where the operand's own dim is 1 there.
    ("(f64[?, n] a) -> broadcast_to(a, (n, n))", "(1, 2)", "(2, 2)"),
    ("(f64[?, n] a) -> f64[n, n] : broadcast_to(a, (n, n))", "(1, 2)", "(2, 2)"),
    ("(f64[?, n] a) -> broadcast_to(a, (n, n))", "(3, 2)", "refused"),
    ("(f64[?] a, f64[n] b) -> broadcast_to(a[:, None], (n, n)) + b", "(1,), (3,)", "(3, 3)"),
    ("(f64[n, m] b) -> b + broadcast_to(1.0, (n,))", "(3, 1)", "(3, 3)"),
    ("(f64[n, m] b) -> b + broadcast_to(1.0, (n,))", "(3, 2)", "refused"),
    ("(f64[n, m] b) -> b + broadcast_to(1.0, (n,))", "(3, 3)", "(3, 3)"),
    ("(f64[m, n] a) -> broadcast_to(broadcast_to(a[:, None], (m, n, n)), (m, m, n))", "(2, 2)", "(2, 2, 2)"),
    ("(f64[m, n] a) -> broadcast_to(broadcast_to(a[:, None], (m, n, n)), (m, m, n))", "(2, 3)", "refused"),
    # A name that only the caller gives is one extent.
    ("(f64[?, ?] a) -> broadcast_to(a, (p, p))", "(2, 3)", "refused"),
    ("(f64[?, ?] a) -> broadcast_to(a, (p, p))", "(1, 3)", "(3, 3)"),
    ("(f64[?, ?] a) -> broadcast_to(a, (p, p))", "(2, 3), p=3", "refused"),
    ("(f64[?] a) -> broadcast_in_dim(a, (p, q), (0,))", "(3,), p=1, q=2", "refused"),
    ("(f64[?] a) -> broadcast_in_dim(a, (p, q), (0,))", "(1,), p=3, q=2", "(3, 2)"),
    (
        "(f64[?] a, f64[?, ?] b, f64[?, ?] d)"
        " -> (broadcast_in_dim(a, (None, k), (0,)) + b, broadcast_in_dim(a, (None, k), (0,)) + d)",
        "(2,), (2, 3), (2, 4)",
        "refused",
    ),
    ("(f64[?] a, f64[?] b) -> (broadcast_to(a, (k,)), broadcast_to(b, (k,)))", "(4,), (3,)", "refused"),
    ("(f64[?] a, f64[?] b) -> (broadcast_to(a, (k,)), broadcast_to(b, (k,)))", "(1,), (3,)", "(3,), (3,)"),
    # An extent of the caller's behind an explicit broadcast to a known one.
    ("(f64[?] b) -> broadcast_to(broadcast_in_dim(b, (2, q), (0,)), (p, q))", "(2,), q=2, p=2", "(2, 2)"),
    ("(f64[?] b) -> broadcast_to(broadcast_in_dim(b, (2, q), (0,)), (p, q))", "(1,), q=3, p=2", "(2, 3)"),
    ("(f64[?] b) -> broadcast_to(broadcast_in_dim(b, (2, q), (0,)), (p, q))", "(2,), q=2, p=3", "refused"),
    ("(f64[?] b) -> broadcast_to(broadcast_in_dim(b, (2, q), (0,)), (p, q))", "(3,), q=2, p=2", "refused"),
    ("(f64[?] a) -> broadcast_in_dim(broadcast_to(a, (2,)), (p, q), (0,))", "(2,), p=2, q=3", "(2, 3)"),
    ("(f64[?] a) -> broadcast_in_dim(broadcast_to(a, (1,)), (p, q), (0,))", "(1,), p=2, q=3", "(2, 3)"),
    (
        "(f64[*, ?] a, f64[*] b) -> broadcast_in_dim(broadcast_to(a, (0,)), (p, q), (0,)) + b",
        "(0,), (0,), p=0, q=0",
        "(0, 0)",
    ),
    # `!` never stretches, and facts hold, whatever the other operands are.
    ("(f64[*] a, f64[m!] b) -> a + b", "(3,), (1,)", "refused"),
    ("(f64[*] a, f64[m!] b) -> f64[m] : a + b", "(3,), (1,)", "refused"),
    ("(f64[*, ?] a, f64[m!] b) -> a + b", "(3,), (1,)", "refused"),
    ("(f64[?] a, f64[?!] b, f64[*, ?, 1] c) -> (b + c) + a", "(8,), (1,), (8, 1)", "refused"),
    ("(f64[*, k!] a, f64[*, k, 1] b, f64[n>=2, 3] c) -> a + b + c", "(3, 3), (3, 1), (1, 3)", "refused c 0"),
    # Strict mode beside unknown ranks.
    ('(f64[*, 1] a, f64[*] b) -> a + b; dynamic="strict"', "(2, 1), (2,)", "(2, 2)"),
    ('(f64[*, ?~] a, f64[?] b) -> a + b; dynamic="strict"', "(2, 1), (3,)", "(2, 3)"),
    ("(f64[?] b, f64[*, ?~] c) -> b + c; stretch=False", "(2,), (1,)", "(2,)"),
    ('(f64[*] a, f64[?~, ?] b) -> b + a; dynamic="strict"', "(1, 2), (2, 2)", "refused"),
    # `~` may stretch from 1, not from anything: read out of bounds.
    ('(f64[*] a, f64[*, k~] b) -> b + a; dynamic="strict"', "(2,), (8,)", "refused"),
    ('(f64[*, ?~] a, f64[1, m!] b) -> a * b; dynamic="strict"', "(2, 2), (1, 8)", "refused"),
    ("(f64[?] b, f64[*, ?~] c) -> b + c; stretch=False", "(2,), (0,)", "refused"),
    ('(f64[*, ?~] a, f64[?] b) -> b + a; dynamic="strict"', "(0,), (1,)", "refused"),
    # A broadcast to an extent of 1, which then meets others like any value.
    ("(f64[?] a, f64[?] b) -> broadcast_to(a, (1,)) + b", "(1,), (3,)", "(3,)"),
    ("(f64[?] a, f64[?] b) -> broadcast_to(a, (1,)) + b", "(3,), (3,)", "refused"),
    ("(f64[?!] a, f64[?] b) -> broadcast_to(a, (1,)) + b", "(1,), (3,)", "refused"),
    ("(f64[?] a, f64[?] b, f64[1] c) -> broadcast_to(a, c) + b", "(1,), (3,), (1,)", "(3,)"),
    # `!` beside a static extent of 1.
    ("(f64[1!] a, f64[?] b) -> a + b", "(1,), (3,)", "refused"),
    # A name that an operand of another result, or of none, declares.
    ("(f64[?] a, f64[n] b) -> (broadcast_to(a, (n,)), b)", "(1,), (3,)", "(3,), (3,)"),
    ("(f64[?] a, f64[n] b) -> broadcast_to(a, (n,))", "(1,), (3,)", "(3,)"),
    ("(f64[n] a) -> broadcast_to(3.0, (n,))", "(2,)", "(2,)"),
    # Declarations of an operand that is not read.
    ("(f64[n] a, f64[n] b, f64[?] c) -> a + c", "(2,), (1,), (2,)", "refused b 0"),
    ("(f64[n] a, f64[n%2] b, f64[?] c) -> a + c", "(3,), (3,), (3,)", "refused a 0"),
    ("(f64[n] a, f64[3] b, f64[?] c) -> a + c", "(2,), (1,), (2,)", "refused"),
    ("(f64[] a, f64[?] c) -> a", "(), ()", "refused c"),
    # In strict mode an explicit broadcast is how a dim of unknown extent is stretched, by number and by name.
    ('(f64[?] a) -> broadcast_to(a, (3,)); dynamic="strict"', "(1,)", "(3,)"),
    ('(f64[?] a, f64[?] b) -> broadcast_to(a, (k,)) + b; dynamic="strict"', "(1,), (3,), k=3", "(3,)"),
    ('(f64[?] a, f64[?] b) -> broadcast_to(a, (k,)) + b; dynamic="strict"', "(1,), (3,), k=1", "refused"),
    ('(f64[?] a) -> broadcast_to(a, (q,)); dynamic="strict"', "(2,)", "(2,)"),
    ('(f64[?] a) -> broadcast_to(a, (q,)); dynamic="strict"', "(1,), q=2", "(2,)"),
    # Values that do not stretch are held to each other also where an explicit broadcast is around them.
    ('(f64[?] a, f64[?] b) -> broadcast_to(a + b, (3,)); dynamic="strict"', "(3,), (1,)", "refused"),
    ('(f64[?] a, f64[?] b) -> broadcast_to(a + b, (3,)); dynamic="strict"', "(1,), (1,)", "(3,)"),
    ('(f64[?] a, f64[?~] b) -> broadcast_to(a + b, (3,)); dynamic="strict"', "(3,), (1,)", "(3,)"),
    ('(f64[?] a, f64[?~] b) -> broadcast_to(a + b, (3,)); dynamic="strict"', "(1,), (3,)", "refused"),
    ("(f64[?] a, f64[?] b, f64[?, ?] c) -> broadcast_to(a * b, c); stretch=False", "(1,), (3,), (2, 3)", "refused"),
    ("(f64[?, n] a, f64[n] b) -> broadcast_to(a.T + b, (4, n, n)); stretch=False", "(1, 3), (3,)", "refused"),
    # A result's dim is named after an operand that no result reads.
    ("(f64[n] a, f64[?] b) -> f64[n] : b + 1.0", "(3,), (2,)", "refused r 0"),
    ("(f64[n] a, f64[?] b, f64[?] c) -> f64[m], f64[n] : (b + 1.0, c + 1.0)", "(3,), (2,), (2,)", "refused"),
    ("(f64[n] a, f64[?] b, f64[?] c) -> f64[m], f64[n] : (b + 1.0, c + 1.0)", "(3,), (2,), (3,)", "(2,), (3,)"),
    # Of several faults the first is named, whoever is read, and whoever sets the domain's extent.
    ("(f64[n] a, f64[n] b, f64[m] c, f64[m] d) -> b + d", "(2,), (3,), (5,), (7,)", "refused b 0"),
    ("(f64[m%2] a, f64[k>=2] b) -> a + b", "(3,), (1,)", "refused a 0"),
    ("(f64[m%2, ?] a, f64[?, k>=2] b) -> a + b", "(2, 5), (2, 1)", "refused b 1"),
    # A scalar that no result reads, beside operands of any rank: the shape function had no end.
    ("(f64[] a, f64[*] c, f64[?] d) -> c + d", "(), (2, 1), (3,)", "(2, 3)"),
    ("(f64[] a, f64[*] c, f64[?] d) -> c + d", "(), (2,), (3,)", "refused"),
    # A name of a target is bound where it occurs first, also in an operand that no result reads.
    ("(f64[n] a, f64[?, n] b) -> broadcast_to(b, (n, 2))", "(2,), (2, 1)", "refused b 1"),
    ("(f64[n] a, f64[?, n] b) -> broadcast_to(b, (n, 2))", "(2,), (2, 2)", "(2, 2)"),
    ("(f64[n] a, f64[?, n] b) -> broadcast_to(b, (n, 2))", "(1,), (2, 1)", "refused b 0"),
    # Dims that `bg.strict` names, of an operand of unknown rank that no result reads.
    ("(f64[*, ?] a, f64[] b) -> b", "(3, 1), (), strict 0.0, strict 0.1", "()"),
    ("(f64[*] a, f64[] b, f64[?] c) -> b + c", "(3, 1), (), (2,), strict 0.0, strict 0.1, strict 2.0", "(2,)"),
    ("(f64[?] a, f64[?] b) -> a + b", "(1,), (3,), strict 0.0", "refused"),
    ("(f64[?] a, f64[?] b) -> a + b", "(1,), (3,), strict 1.0", "(3,)"),
    # Where dims do not stretch, one of extent 1 that does may come before those of unknown number that set the extent.
    ("(f64[k~, ?, 1, k~] a, f64[*, n~, 1] b) -> b - a; stretch=False", "(1, 3, 1, 1), (3, 3, 1, 1)", "(3, 3, 1, 1)"),
    ("(f64[k~, ?, 1, k~] a, f64[*, n~, 1] b) -> b - a; stretch=False", "(1, 3, 1, 1), (3, 1, 1, 1)", "refused"),
    # A name that two operands bear, and an error names either of them for it.
    ("(f64[n] a, f64[n, ?] b) -> (broadcast_in_dim(3.0, (n,), ()) + b)", "(0,), (0, 2)", "refused"),
    ("(f64[n] a, f64[n<=1] b, f64[n>=1, ?] c) -> (b + c)", "(2,), (2,), (2, 1)", "refused"),
    # Two results, of which each is wrong: of one an operand's dim, of the other an extent of the caller's.
    (
        "(f64[] a, f64[n, ?] b, f64[n] c) -> (broadcast_to(broadcast_to(a, (q,)), (1,)), c)",
        "(), (1, 1), (2,), q=2",
        "refused",
    ),
)
