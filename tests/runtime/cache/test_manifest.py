"""bcastgen/runtime/cache/manifest.py: which texts are an entry's manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from bcastgen.runtime.cache.manifest import MANIFEST, header, read_manifest

KEY, ORIGIN = "0123456789abcdef" * 4, "f" * 64


def entry(directory: Path, text: str) -> Path:
    made = directory / KEY
    made.mkdir(mode=0o700)
    (made / MANIFEST).write_text(text)
    return made


def test_what_is_written_is_read(tmp_path: Path) -> None:
    said = header(KEY, ORIGIN, "a + b\n of  f32")
    found = read_manifest(entry(tmp_path, f"{said}{'a' * 64}  kernel.so\n"))
    assert found is not None
    assert (found.origin, found.about, found.header) == (ORIGIN, "a + b of f32", said)
    assert found.lines == f"{'a' * 64}  kernel.so\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        header(ORIGIN, ORIGIN, "of another entry"),
        header(KEY, "no digest", "a + b"),
        header(KEY, "", "a + b"),
        header(KEY, ORIGIN[1:], "a + b"),
        header("no digest", "no digest", "a + b"),
        header(KEY, ORIGIN, "a + b").replace("# about", "# for"),
        header(KEY, ORIGIN, "a + b").replace("# origin", "#  origin"),
        f"\n{header(KEY, ORIGIN, 'a + b')}",
    ],
)
def test_every_part_of_it_has_to_be_right(text: str, tmp_path: Path) -> None:
    assert read_manifest(entry(tmp_path, text)) is None
