"""Long lines of comments: they are broken, in a form that stays a comment, and no word is lost."""

from __future__ import annotations

import random

import pytest

from bcastgen.emit.c_text.wrap import NO_BREAK, lay_out, lay_out_comment

WORDS = " ".join(f"word{at}" for at in range(40))


@pytest.mark.parametrize(
    ("text", "laid_out"),
    [
        (
            f"    /* {WORDS[:100]} and some words more. */\n    int a;\n",
            f"    /* {WORDS[:100]} and some\n     * words more. */\n    int a;\n",
        ),
        (f"/* {WORDS[:110]} end. */\n", f"/* {WORDS[:110]}\n * end. */\n"),
        (f"/* {WORDS[:110]} long\n * next. */\n", f"/* {WORDS[:110]} long\n * next. */\n"),
        (f"/* {WORDS[:110]} longest\n * next. */\n", f"/* {WORDS[:110]}\n * longest next. */\n"),
        (f"/* {WORDS[:110]} longest\n *   a = b\n */\n", f"/* {WORDS[:110]}\n * longest\n *   a = b\n */\n"),
        (f"/* {WORDS[:110]} longest\n */\n", f"/* {WORDS[:110]}\n * longest\n */\n"),
        # A word that no line holds stays whole, and the comment is one.
        (f"    /* {'x' * 130}.0 is 1 */\n", f"    /* {'x' * 130}.0 is 1 */\n"),
        (f"    /* {'x' * 130}\n     * next */\n", f"    /* {'x' * 130}\n     * next */\n"),
    ],
)
def test_what_is_too_long_goes_on_below(text, laid_out):
    assert lay_out(text) == laid_out


@pytest.mark.parametrize("before", ["", "/* of two\n * lines\n"])
def test_code_behind_a_comment_is_code(before):
    end = " * */" if before else "/* op */"
    text = f"{before}{end} ({' + '.join(f'x{at}' for at in range(60))});\n"
    assert lay_out(text) == text


def test_words_and_code_stay():
    """Of random comments between statements, some of which begin with a star, as pointers do."""
    chance = random.Random(7)
    for _ in range(200):
        lines, words = [], []
        for _ in range(chance.randrange(1, 4)):
            lines.append("    *(float *)(void *)r = *x;")
            own = [f"w{chance.randrange(1000)}" for _ in range(chance.randrange(1, 90))]
            words += own
            cuts = sorted(chance.sample(range(1, len(own) + 1), min(chance.randrange(1, 4), len(own))))
            parts = [" ".join(own[low:high]) for low, high in zip((0, *cuts), (*cuts, len(own)), strict=True)]
            lines.append("    /* " + "\n     * ".join(part for part in parts if part) + " */")
        made = lay_out("\n".join(lines))
        assert max(map(len, made.splitlines())) <= 120
        assert made.count("*(float *)(void *)r = *x;") == len(lines) // 2
        said = [word for line in made.splitlines() if "float" not in line for word in line.split()]
        assert [word for word in said if word not in ("/*", "*", "*/")] == words
        assert made.count("/*") == made.count("*/") == len(lines) // 2


def test_a_declaration_stays_on_one_line():
    text = lay_out_comment("x" * 110 + f" float{NO_BREAK}a[3]")
    assert text.splitlines()[1] == " *     float a[3]"


def test_a_line_may_have_any_number_of_pieces():
    words = [f"extent_{at}" for at in range(20_000)]
    laid_out = lay_out(f"    check({', '.join(words)});\n")
    assert laid_out.replace(",", "").split() == ["check(extent_0", *words[1:-1], f"{words[-1]});"]
    assert max(map(len, laid_out.splitlines())) <= 120
