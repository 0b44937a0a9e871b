"""Hostile text, at every public way in: nothing is executed or written elsewhere, and what is refused is our error.

SECURITY.md says who is trusted. Texts are those of `hostile`: some are what attackers write, the others mix pieces of
valid text. A text that is accepted is emitted as C, in which it may stand in comments and strings only.
"""

from __future__ import annotations

import importlib
import inspect
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bcastgen as bg
import bcastgen.numexpr as ne
import hostile
from bcastgen.cli.main import main
from bcastgen.core.errors import BcastgenError
from bcastgen.runtime import settings

SECONDS = 5.0
LONGEST_MESSAGE = 4_000
COUNT = 150  # texts for each way in, at least

COMMENT_OR_STRING = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
ARRAYS = {"a": np.ones(3), "b": np.full(3, 2.0), "c": np.zeros(3)}
CONSTANT = (
    'func.func @f() -> tensor<4xi32> {{ %0 = "tosa.const"() <{{values = dense<{}> : tensor<4xi32>}}> : () -> '
    "tensor<4xi32> return %0 : tensor<4xi32> }}"
)


def emitted(*kernels: Any, name: str = "k") -> None:
    """Emit kernels, and look whether text of theirs has become code."""
    for kernel in kernels:
        for path in bg.emit_c({name: kernel}, Path("out"), "m"):
            code = COMMENT_OR_STRING.sub(" ", path.read_text())
            assert hostile.MARK not in code and not re.search(r"\bsystem\b", code) and "??/" not in code


def of_numexpr(text: str) -> None:
    found = ne.validate(text, ARRAYS)  # what NumExpr raises is of Python's classes, and validate returns it
    assert not isinstance(found, RecursionError | MemoryError | SystemError)


def from_mlir(text: str) -> Any:
    found = bg.from_mlir(text)
    return found.values() if isinstance(found, dict) else (found,)


def typed(text: str) -> Any:
    return bg.from_text(
        text if text.lstrip().startswith("(") and "->" in text else f"(f32[?] a, f32[?] b, f32[?] c) -> {text}"
    )


def command_line(*words: str) -> Callable[[str], None]:
    def call(text: str) -> None:
        if "\0" in text or "\ud800" in text:
            return  # the system hands over no such argument
        try:
            main([word.replace("{}", text) for word in words])
        except SystemExit as left:
            assert left.code in (0, 1, 2)

    return call


def variable(name: str, use: Callable[[], object]) -> Callable[[str], None]:
    def call(text: str) -> None:
        if "\0" in text or "\ud800" in text:
            return  # no variable of the environment has such a value
        before = os.environ.get(name)
        os.environ[name] = text
        try:
            use()
        finally:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before

    return call


# Each way in: the kind of text that it reads, and what is done with it.
WAYS: dict[str, tuple[str, Callable[[str], object]]] = {
    "from_text": ("text", bg.from_text),
    "from_text, emitted": ("text", lambda text: emitted(typed(text))),
    "from_text, its name": ("name", lambda text: bg.from_text("a + 1", name=text)),
    "evaluate, told of no variables": ("text", lambda text: bg.evaluate(text, {}, {})),
    "signature=": ("text", lambda text: bg.jit(lambda a: a + 1, signature=text)),
    "signature=, a type": ("types", lambda text: emitted(bg.jit(lambda a: a + 1, signature=f"({text} a)"))),
    "infer_broadcast": ("types", lambda text: bg.infer_broadcast(text, "f32[4]")),
    "verify_broadcast": ("types", lambda text: bg.verify_broadcast([text, "f32[?]"], text)),
    "broadcast_to": ("types", lambda text: bg.from_text(f"broadcast_to(a, {text[text.find('[') :]})")),
    "from_mlir": ("mlir", lambda text: emitted(*from_mlir(text))),
    "from_mlir, an element": ("dense", lambda text: emitted(*from_mlir(CONSTANT.format(text)))),
    "shape_from_mlir": ("shape", bg.shape_from_mlir),
    "numexpr": ("numexpr", of_numexpr),
    "emit_c, a kernel's name": ("name", lambda text: emitted(bg.from_text("(f32[?] a) -> a + 1"), name=text)),
    "define_op, its name": ("name", lambda text: bg.define_op(text, "x", c="x + 1", doc="y")),
    "bcastgen explain": ("text", command_line("explain", "{}")),
    "bcastgen run --in": ("name", command_line("run", "a + 1", "--in", "{}")),
    "bcastgen run --extent": ("dense", command_line("run", "(f32[?] a) -> a + 1", "--extent", "{}")),
    "bcastgen emit --name": ("name", command_line("emit", "(f32[?] a) -> a", "-o", "out", "--name", "{}")),
    "BCASTGEN_NUM_THREADS": ("dense", variable("BCASTGEN_NUM_THREADS", settings._usual_threads.__wrapped__)),
    "BCASTGEN_MEMORY_POOL": ("dense", variable("BCASTGEN_MEMORY_POOL", settings._memory_bound)),
    "BCASTGEN_CACHE_SIZE": ("dense", variable("BCASTGEN_CACHE_SIZE", lambda: main(["cache", "info"]))),
    "BCASTGEN_DUMP": ("name", variable("BCASTGEN_DUMP", lambda: main(["explain", "a + 1"]))),
}
# Ways that take tens of milliseconds, most of which compute what texts do not change.
COSTLY = {"bcastgen emit --name", "emit_c, a kernel's name", "BCASTGEN_DUMP", "signature=, a type", "bcastgen explain"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory to be in, whose parent has it alone."""
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    yield inside
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert {path.name for path in inside.iterdir()} <= {"out"}


def outcome(call: Callable[[str], object], text: str) -> str:
    """Say what is wrong with how a text ends; "" if nothing is."""
    began = time.process_time()
    try:
        call(text)
    except BcastgenError as error:
        if len(str(error)) > LONGEST_MESSAGE:
            return f"a message of {len(str(error))} characters"
    except (Exception, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    took = time.process_time() - began
    return f"{took:.1f} s" if took > SECONDS else ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_text_is_read_or_refused(way: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind, call = WAYS[way]
    texts = list(hostile.attempts(kind, random.Random(way), COUNT))[:: 5 if way in COSTLY else 1]
    ends = [(text[:200], outcome(call, text)) for text in texts]
    assert [end for end in ends if end[1]] == []
    assert len(set(texts)) > 0.9 * len(texts)
    assert not any(here.rglob(hostile.MARK))
    assert "Traceback" not in capsys.readouterr().err


def test_the_page_has_the_bounds_of_the_code() -> None:
    page = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| ([\d,]+) \| `([\w.]+):(\w+)` \|$", page, re.MULTILINE)
    assert len(rows) > 10
    for number, module, name in rows:
        assert int(number.replace(",", "")) == getattr(importlib.import_module(f"bcastgen.{module}"), name), name


def test_there_are_a_thousand() -> None:
    assert WAYS.keys() > COSTLY
    assert (len(WAYS) - len(COSTLY)) * COUNT > 1_000


def test_every_public_function_that_reads_text_is_among_them() -> None:
    named = " ".join(WAYS)
    # These read no text; kernels of ops take arrays.
    other = {
        "array_namespace",
        "broadcast_in_dim",
        "transpose",
        "clear_memory",
        "get_num_threads",
        "set_num_threads",
        "jit",
        "strict",
        "vectorize",
    }
    other |= {"fuse", "emit_shape"}  # the second takes a program that shape_from_mlir has read
    public = {name for name in bg.__all__ if name.islower() and inspect.isroutine(getattr(bg, name))}
    assert {name for name in public - other if name not in named} == set()


@pytest.mark.parametrize(
    "call",
    [
        lambda: bg.from_text("round(a, 2**63)"),
        lambda: bg.from_text("round(a, 2.5)"),
        lambda: bg.from_text(",".join("a" * 501)),
        lambda: bg.from_text("a + 1", name="\ud800"),
        lambda: bg.emit_c({None: bg.from_text("(f32[?] a) -> a")}, "out", "m"),  # type: ignore[dict-item]
        lambda: bg.verify_broadcast(range(10**9), "f32[?]"),  # type: ignore[arg-type]
    ],
)
def test_what_attacks_found_is_refused(call: Callable[[], object], here: Path) -> None:
    assert here.is_dir()
    with pytest.raises(BcastgenError):
        call()
