"""Operands are read from .npy, .npz, .csv and .parquet files and from stdin; a result goes to stdout."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from bcastgen.cli import run_files
from bcastgen.cli.main import main
from bcastgen.cli.run_files import load_array
from bcastgen.core.errors import ParseError


def test_an_archive_gives_the_array_of_the_operand_s_name_or_its_only_one(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.arange(2), b=np.arange(3))
    np.savez(tmp_path / "one.npz", x=np.arange(4))
    assert load_array(str(tmp_path / "two.npz"), "b").tolist() == [0, 1, 2]
    assert load_array(str(tmp_path / "one.npz"), "b").tolist() == [0, 1, 2, 3]
    with pytest.raises(ParseError, match=r"is an archive without an array 'c'; it has 'a, b'"):
        load_array(str(tmp_path / "two.npz"), "c")


@pytest.mark.parametrize("heading", ["", "x,y\n"])
def test_a_table_may_have_a_heading(tmp_path, heading):
    file = tmp_path / "t.csv"
    file.write_text(f"{heading}1,2\n3,4.5\n")
    assert load_array(str(file)).tolist() == [[1, 2], [3, 4.5]]


@pytest.mark.parametrize("text", ["x,y\nz,1\n", "1,2\n3\n", ""])
def test_what_is_no_table_of_numbers_is_refused(tmp_path, text):
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(ParseError, match="is not a table of numbers"):
        load_array(str(file))


def test_a_table_gives_the_column_with_the_operands_name_as_heading(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('when, "p",q\n"1 May, noon",1.5,2\n"2 May, noon",3,4\n')
    assert load_array(str(file), "p").tolist() == [1.5, 3] and load_array(str(file), "q").tolist() == [2, 4]
    with pytest.raises(ParseError, match="has no column 'x'; it has 'when, p, q'"):
        load_array(str(file), "x")


@pytest.mark.parametrize(
    ("begins", "told"),
    [
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file; read the array, write it by numpy.save"),
        (b"\x80\x04\x95", "is a pickle, which may run programs"),
        (b"\x7fELF", "is not a .npy file of numbers"),
    ],
)
def test_files_of_other_kinds_are_refused_without_unsafe_advice(begins, told, tmp_path):
    file = tmp_path / "data"
    file.write_bytes(begins + bytes(100))
    with pytest.raises(ParseError, match=f"data {told}") as caught:
        load_array(str(file))
    assert "allow_pickle" not in str(caught.value)
    np.save(file, np.array([None]), allow_pickle=True)
    with pytest.raises(ParseError, match=r"not a \.npy file of numbers \(it has Python objects\)"):
        load_array(f"{file}.npy")


def test_a_parquet_file_gives_the_column_of_the_operands_name(tmp_path, capsys):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install -e .[arrays])")
    parquet = pytest.importorskip("pyarrow.parquet")
    file, one, holed, broken = (str(tmp_path / f"{name}.parquet") for name in ("t", "one", "holed", "broken"))
    parquet.write_table(pa.table({"a": [1.5, 2.0, 3.0], "n": pa.array([1, 2, 3], pa.int16())}), file)
    parquet.write_table(pa.table({"only": [4.0]}), one)
    parquet.write_table(pa.table({"a": [1.0, None]}), holed)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    out = tmp_path / "r.npy"
    assert main(["run", "a * n", "--in", f"a={file}", f"n={file}", "--out", str(out)]) == 0
    np.testing.assert_array_equal(np.load(out), [1.5, 4.0, 9.0])
    assert main(["run", "n + n", "--in", f"n={file}", "--out", str(out)]) == 0 and np.load(out).dtype == np.int16
    capsys.readouterr()
    assert main(["run", "x + 1", "--in", f"x={one}"]) == 0 and capsys.readouterr().out == "[5.]\n"
    for given, told in (
        (file, "has no column 'x'; it has 'a, n'"),
        (holed, "1 nulls"),
        (broken, "is not a .parquet file"),
    ):
        assert main(["run", "x + 1", "--in", f"x={given}"]) == 1
        assert told in capsys.readouterr().err


def test_stdin_and_stdout_are_npy_files():
    given = io.BytesIO()
    np.save(given, np.arange(3))
    command = [sys.executable, "-m", "bcastgen", "run", "a * 2", "--in", "a=-", "--out", "-"]
    made = subprocess.run(command, input=given.getvalue(), capture_output=True, check=True)
    assert np.load(io.BytesIO(made.stdout)).tolist() == [0, 2, 4] and made.stderr == b""
    for text in ("größe,a\nx,1\ny,2\n".encode(), b"\xef\xbb\xbf1\n2\n"):
        made = subprocess.run(command, input=text, capture_output=True, check=True)
        assert np.load(io.BytesIO(made.stdout)).tolist() == [2, 4]
    empty = subprocess.run(command, input=b"", capture_output=True)
    assert empty.returncode == 1 and b"what is on stdin is not a .npy file of numbers" in empty.stderr


def test_a_path_may_lead_to_a_pipe():
    """As `--in a=<(command)` of shells gives one, which has no position."""
    held = io.BytesIO()
    np.savez(held, a=np.arange(3))
    for text in (held.getvalue(), b"a,b\n0,3\n1,4\n2,5\n"):
        reads, writes = os.pipe()
        os.write(writes, text)
        os.close(writes)
        with open(reads, "rb"):
            assert load_array(f"/dev/fd/{reads}", "a").tolist() == [0, 1, 2]


def test_links_lead_to_what_is_written_and_devices_are_not_replaced(tmp_path, capsys):
    target, link, pipe = tmp_path / "target.npy", tmp_path / "link.npy", tmp_path / "pipe"
    target.write_bytes(b"old")
    link.symlink_to(target)
    np.save(tmp_path / "a.npy", [1, 2])
    run = ["run", "a * 2", "--in", f"a={tmp_path / 'a.npy'}", "--out"]
    assert main([*run, str(link)]) == 0
    assert link.is_symlink() and np.load(target).tolist() == [2, 4]
    dangling = tmp_path / "dangling.npy"
    dangling.symlink_to(tmp_path / "new.npy")
    assert main([*run, str(dangling)]) == 0 and np.load(tmp_path / "new.npy").tolist() == [2, 4]
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert main([*run, str(pipe)]) == 0
        assert np.load(io.BytesIO(reader.communicate()[0])).tolist() == [2, 4]
    assert pipe.is_fifo() and sorted(path.name for path in tmp_path.iterdir()) == [
        *("a.npy", "dangling.npy", "link.npy", "new.npy", "pipe", "target.npy")
    ]
    if os.path.exists("/dev/full"):
        assert main([*run, "/dev/full"]) != 0 and os.path.exists("/dev/full")
        assert "/dev/full" in capsys.readouterr().err


def test_a_text_that_leaves_elements_out_says_how_all_are_written(capsys):
    run = ["run", "broadcast_to(a, (k,)) + 0", "--in", "a=1", "--extent"]
    assert main([*run, "k=1000"]) == 0 and capsys.readouterr().err == ""
    assert main([*run, "k=1001"]) == 0
    said = capsys.readouterr()
    assert said.out == "[1 1 1 ... 1 1 1]\n"
    assert (
        said.err == "bcastgen: NumPy leaves elements out of a long text; --out r.npy writes all, or --out - to stdout\n"
    )
    pair = ["run", "(a, broadcast_to(a, (k,)))", "--in", "a=1", "--extent", "k=2000"]
    assert main(pair) == 0 and "--out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "a", "--stage", "nst"], "no stage 'nst'; did you mean nest?"),
        (["ops", "tanhh"], "did you mean tanh"),
        (["run", "a", "--in", "a=1", "--out", "r.csv"], "results are written as .npy or .npz; write r.npy"),
        (["run", "a + b", "--in", "a=-", "b=-"], "--in gives stdin to several operands"),
    ],
)
def test_what_is_misspelt_is_refused_with_a_cure(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err and list(tmp_path.iterdir()) == []


def test_pages_are_written_to_files_or_stdout(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CC", "no-such-compiler")
    file = tmp_path / "page.html"
    assert main(["explain", "(f32[?] a) -> a + 1", "--html", "-o", str(file)]) == 0
    assert capsys.readouterr().out == f"wrote {file}\n"
    assert main(["explain", "(f32[?] a) -> a + 1", "--html"]) == 0
    assert capsys.readouterr().out == file.read_text()


def test_explain_measures_calls_on_the_operands_that_are_given(capsys):
    measured = ["explain", "(f32[?] a) -> a + 1", "--shape", "a=40"]
    assert main(measured) == 0 and "a float32[40]: a call reads 0.00016 MB" in capsys.readouterr().out
    assert main([*measured, "--stage", "nest"]) == 1 and "leave --stage out" in capsys.readouterr().err


def test_a_member_of_an_archive_that_is_no_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "z.npz", "w") as archive:
        archive.writestr("a", b"hello, world")
    with pytest.raises(ParseError, match=r"'a' in .*z.npz is no array; give an archive that numpy.savez wrote"):
        load_array(str(tmp_path / "z.npz"), "a")


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("version", [1, 2])
def test_a_header_is_not_read_before_its_length_is_known(tmp_path, inside, version):
    length = 60_000 if version == 1 else 2**30
    head = b"\x93NUMPY" + bytes([version, 0]) + length.to_bytes(2 * version, "little")
    path = tmp_path / ("a.npz" if inside else "a.npy")
    if inside:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", head + bytes(100))
    else:
        path.write_bytes(head + bytes(100))
    with pytest.raises(ParseError, match=rf"its header has {length} bytes"):
        load_array(str(path), "a")


def test_a_table_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(run_files, "_MOST_TEXT", 1 << 20)
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    with pytest.raises(ParseError, match=r"zeros.csv has more than 1048576 bytes; write the numbers by numpy.save"):
        load_array(str(tmp_path / "zeros.csv"))
