"""The instructions that compilers make of kernels' loops: those that a loop is written for, and none that waits."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.runtime.toolchain import cpu_features

FEATURES = cpu_features().split()


def listing_of(text, given, cache, monkeypatch):
    """The instructions of a kernel that gcc compiles for this machine."""
    monkeypatch.setenv("BCASTGEN_CC", "gcc")
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(cache))
    from_text(text)(*given)
    (made,) = cache.rglob("kernel.so")
    return subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", made], capture_output=True, text=True, check=True
    ).stdout


def inner_loops(listing):
    """The instructions of each loop without another jump in it: from where its last one jumps to."""
    lines = [re.match(r"\s*([0-9a-f]+):\s*(.*)", line) for line in listing.splitlines()]
    code = [(int(match[1], 16), match[2]) for match in lines if match]
    places = {address: at for at, (address, _) in enumerate(code)}
    for at, (address, text) in enumerate(code):
        jump = re.match(r"j\w+\s+([0-9a-f]+)\b", text)
        if jump and int(jump[1], 16) <= address:
            body = [one for _, one in code[places[int(jump[1], 16)] : at]]
            if not any(one.startswith(("j", "call", "ret")) for one in body):
                yield body


@pytest.mark.skipif("f16c" not in FEATURES, reason="this processor converts no halves")
def test_halves_are_loaded_and_stored_as_whole_vectors(tmp_path, monkeypatch):
    """A vector that is loaded from where its parts were just stored waits for them: ten times the time."""
    given = np.ones((2, 1000), np.float16)
    loops = [*inner_loops(listing_of("a + b", given, tmp_path, monkeypatch))]
    converting = [body for body in loops if any("vcvtph2ps" in one or "vcvtps2ph" in one for one in body)]
    assert len(converting) >= 3
    for body in converting:
        data = [one for one in body if re.match(r"mov[a-z]*\s.*\(", one)]
        assert not data, body


@pytest.mark.skipif("avx2" not in FEATURES, reason="this processor has no vectors of four doubles")
@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("a * 0.5", np.int64),
        ("a * 0.5", np.uint64),
        ("a.astype(int64)", np.float64),
        ("a.astype(uint64)", np.float64),
        ("a.astype(int64)", np.float32),
    ],
)
def test_integers_of_64_bits_become_doubles_in_vectors(text, given, tmp_path, monkeypatch):
    listing = listing_of(text, [np.ones(1000, given)], tmp_path, monkeypatch)
    wide = [body for body in inner_loops(listing) if any(re.search(r"%[yz]mm", one) for one in body)]
    # With AVX-512 a float becomes an integer of 64 bits by one instruction, without a double.
    assert any("pd" in one or "ps2qq" in one for body in wide for one in body)
    for body in wide:
        assert not any(re.match(r"v?cvt(t?s[sd]2u?si|u?si2s[sd])", one) for one in body), body


@pytest.mark.skipif("avx2" not in FEATURES, reason="this processor has no instruction that widens into 32 bytes")
@pytest.mark.parametrize(
    ("text", "kinds", "instruction", "variants"),
    [
        ("(u8[*] a, f32[*] b) -> a * b", ("u1", "f4"), "vpmovzxbd", 2),
        ("(i8[*] a, i8[*] b) -> (f32(a) - f32(b)) * f32(0.5)", ("i1", "i1"), "vpmovsxbd", 3),
        ("(u16[*] a) -> a.astype(f32) * f32(2)", ("u2",), "vpmovzxwd", 1),
        ("(i16[*] a, i16[*] b) -> a.astype(f32) * b.astype(f32)", ("i2", "i2"), "vpmovsxwd", 3),
        ("(i32[*] a, f32[*] b) -> a * b", ("i4", "f4"), "vcvtdq2pd", 2),
        ("(f32[*] a, f64[*] b) -> a * b", ("f4", "f8"), "vcvtps2pd", 2),
    ],
)
def test_narrow_numbers_are_widened_as_they_are_loaded(text, kinds, instruction, variants, tmp_path, monkeypatch):
    """By one instruction that reads memory, in each variant; nothing is shuffled, and lanes stay in registers."""
    listing = listing_of(text, [np.ones(1000, kind) for kind in kinds], tmp_path, monkeypatch)
    wide = [body for body in inner_loops(listing) if any(re.match(rf"{instruction}\s+.*\(", one) for one in body)]
    vectors = [body for body in wide if any(re.match(r"vmovup[sd]\s+%[yz]mm\d+,", one) for one in body)]
    short = [body for body in vectors if not any(re.match("v(extract|p?unpck|pshuf)", one) for one in body)]
    assert len(short) >= variants
    for body in short:
        assert not any(re.search(r"\(%[re][sb]p", one) for one in body), body


@pytest.mark.skipif("avx512_fp16" not in FEATURES, reason="gcc 12 knows this processor, and tunes for it by itself")
@pytest.mark.parametrize("text", ["maximum(a, b)", "where(a < b, a * b, b - a)", "a + float32(0.25) * (b - a)"])
def test_an_operand_of_two_uses_is_read_once(text, tmp_path, monkeypatch):
    """Tuned for any processor, gcc reads it again from memory: each read of 64 bytes across lines is two."""
    given = np.ones((2, 1000), np.float32)
    loops = [*inner_loops(listing_of(text, given, tmp_path, monkeypatch))]
    wide = [body for body in loops if any(re.search(r"%[yz]mm", one) for one in body)]
    assert wide
    for body in wide:
        # The destination stands last: a place in memory that is not last, or is all there is, is read.
        reads = [one for one in body if re.search(r"\(%\w+[^)]*\)(\{[^}]*\})*,", one) and re.match("v", one)]
        assert len(reads) <= 2, body
