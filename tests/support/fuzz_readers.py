"""Coverage-guided fuzzing of what reads text: expressions, types, signatures, MLIR, dense literals, shape programs.

In: readers, a number of executions.  Out: a line a reader, and exit status 1 if a text ends in another error than ours.

    python tests/support/fuzz_readers.py --runs 10000000 --corpus fuzz     # all; a second command goes on to it
    python tests/support/fuzz_readers.py --reader mlir --runs 100000 --seed 7
    python tests/support/fuzz_readers.py --reader mlir --text crash-1234   # one text again

Atheris (`.[fuzz]`) keeps each text that reaches a line of bcastgen by another way than those before, and makes the next
ones of these. Valid texts and pieces of text come from `hostile`. A text is accepted or refused by a BcastgenError in
5 s; where it is accepted, what is read, written and read again is the same.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hostile

__all__ = ["READERS", "Result", "attempt", "available", "play", "seeds"]

SECONDS, LONGEST, LONGEST_MESSAGE = 5, 2_000, 4_000
# A process reads so many; what one that is stopped has read is not counted.
AT_A_TIME = 200_000


def available() -> bool:
    """Whether Atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def _expression(text: str) -> None:
    from bcastgen import from_text

    from_text(text)


def _type(text: str) -> None:
    from bcastgen.shape.types.tensor_type import parse_type

    found = parse_type(text)
    assert parse_type(str(found)) == found, f"{found} is read as another type"


def _signature(text: str) -> None:
    from bcastgen.shape.types.tensor_type import parse_signature

    parse_signature(text)


def _mlir(text: str) -> None:
    from bcastgen.api.mlir_module import read_module, verify_module
    from bcastgen.mlir.options import ReadOptions

    verify_module(read_module(text), ReadOptions())


def _dense(text: str) -> None:
    from bcastgen.mlir.ir import Source
    from bcastgen.mlir.read.dense import parse_dense
    from bcastgen.mlir.read.lexer import Lexer
    from bcastgen.mlir.read.types import Types

    lexer = Lexer(Source("<mlir>", text))
    values = parse_dense(lexer, Types(lexer)).values
    plain = re.match(r"\s*dense\s*<([-\d\s,\[\]]+)>\s*:\s*tensor<[x\d]*xi32>", text, re.ASCII)
    if plain is not None and not plain[1].isspace():
        # JSON knows no space behind a sign, and no zeros in front of a number.
        as_json = re.sub(r"(?<=-)\s+|(?<!\d)0+(?=\d)", "", plain[1])
        listed = np.array(json.loads(as_json), np.int64).astype(np.int32)
        assert (listed == values).all() and values.shape in ((), listed.shape), f"{values} of {text}"


def _shape(text: str) -> None:
    from bcastgen import shape_from_mlir

    found = shape_from_mlir(text)
    assert str(shape_from_mlir(str(found))) == str(found), f"{found} is read as another program"


# A reader: the kind of text in `hostile`, and what reads it.
READERS: dict[str, tuple[str, Callable[[str], None]]] = {
    "expression": ("text", _expression),
    "type": ("types", _type),
    "signature": ("signature", _signature),
    "mlir": ("mlir", _mlir),
    "dense": ("dense", _dense),
    "shape": ("shape", _shape),
}


def seeds(reader: str) -> list[str]:
    """Return the texts that a reader begins with."""
    texts = hostile.VALID[READERS[reader][0]]
    if reader != "dense":
        return list(texts)
    types = ("4xi32", "2x2xi32", "4xf32", "1x1x1xi8", "4xi1", "0x3xf64", "i64", "2xbf16", "16xui4", "2xindex")
    return [f"dense<{text}> : tensor<{type_}>" for text in texts for type_ in types]


def attempt(read: Callable[[str], None], text: str) -> None:
    """Read one text; raise whatever is no refusal of ours."""
    from bcastgen.core.errors import BcastgenError

    try:
        read(text)
    except BcastgenError as error:
        assert len(str(error)) <= LONGEST_MESSAGE, f"a message of {len(str(error))} characters"


class Result:
    """What a run has shown: how many texts were read, how many edges they reached, and what went wrong."""

    def __init__(self, printed: str, status: int) -> None:
        self.printed, self.status = printed, status
        done = re.search(r"^#(\d+)\s+DONE\s+cov: (\d+)", printed, re.MULTILINE)
        begun = re.search(r"INITED cov: (\d+)", printed)
        self.runs, self.edges = map(int, done.groups()) if done else (0, 0)
        self.first_edges = int(begun.group(1)) if begun else 0
        self.is_right = status == 0 and self.runs > 0

    def __str__(self) -> str:
        if self.is_right:
            return f"{self.runs:,} texts, {self.first_edges} -> {self.edges} edges, all read or refused"
        return "WRONG:\n" + "\n".join(self.printed.splitlines()[-40:])


def play(reader: str, runs: int, seed: int, corpus: Path) -> Result:
    """Run one reader in a process of its own; the corpus is read, and what is new is added to it."""
    corpus.mkdir(parents=True, exist_ok=True)
    for at, text in enumerate(seeds(reader)):
        (corpus / f"valid-{at}").write_bytes(text.encode("utf-8", "surrogatepass"))
    with tempfile.TemporaryDirectory() as aside:
        words = Path(aside, "words")
        pieces = {piece for text in seeds(reader) for piece in re.findall(r"\w{2,}|[^\w\s]{1,2}", text)}
        words.write_text("".join('"' + re.sub(r'["\\]', r"\\\g<0>", piece) + '"\n' for piece in sorted(pieces)))
        options = [f"-runs={runs}", f"-seed={seed}", f"-timeout={SECONDS}", f"-max_len={LONGEST}", f"-dict={words}"]
        command = [sys.executable, __file__, "--inside", "--reader", reader, "--"]
        more = [f"-artifact_prefix={corpus.parent}/{reader}-", "-rss_limit_mb=4096", str(corpus)]
        done = subprocess.run([*command, *options, *more], capture_output=True, text=True, errors="replace")
    return Result(done.stdout + done.stderr, done.returncode)


def _inside(reader: str, options: list[str]) -> None:
    """Be the process that reads: Atheris ends it."""
    import atheris

    _, read = READERS[reader]
    with atheris.instrument_imports(include=["bcastgen"]):
        attempt(read, seeds(reader)[0])

    def one(data: bytes) -> None:
        attempt(read, data.decode("utf-8", "surrogateescape"))

    atheris.Setup([sys.argv[0], *options], one)
    atheris.Fuzz()


def _go_on(reader: str, runs: int, seed: int, corpus: Path) -> bool:
    """Read so many texts, with those that were read before; whether all ended as they should."""
    counts, found = corpus / "runs.json", None
    while (read := json.loads(counts.read_text()) if counts.exists() else {}).get(reader, 0) < runs:
        before = read.get(reader, 0)
        found = play(reader, min(AT_A_TIME, runs - before), seed + before, corpus / reader)
        if not found.is_right:
            break
        counts.write_text(json.dumps({**read, reader: before + found.runs}))
    print(f"{reader}, seed {seed}, {read.get(reader, 0):,} texts in all: {found or 'nothing left to do'}", flush=True)
    return found is None or found.is_right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", action="append", choices=READERS, help="all by default; may be given again")
    parser.add_argument("--runs", type=int, default=100_000, help="texts for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="a directory that keeps what is found, for the next run")
    parser.add_argument("--text", type=Path, help="read the text of this file alone")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("options", nargs="*", help=argparse.SUPPRESS)
    given: Any = parser.parse_args()
    readers = given.reader or [*READERS]
    if given.inside:
        _inside(readers[0], given.options)
    if given.text is not None:
        attempt(READERS[readers[0]][1], given.text.read_bytes().decode("utf-8", "surrogateescape"))
        return 0
    with tempfile.TemporaryDirectory() as aside:
        return int(not all([_go_on(one, given.runs, given.seed, given.corpus or Path(aside)) for one in readers]))


if __name__ == "__main__":
    sys.exit(main())
