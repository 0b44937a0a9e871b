"""The command line: every command, its exit codes, and errors as one line."""

from __future__ import annotations

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import bcastgen
from bcastgen.cli.main import main
from bcastgen.ops.table import known_ops


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def arrays(tmp_path):
    made = {"a": np.arange(3.0), "b": np.ones((2, 1)), "c": np.float32([1, 2, 3])}
    for name, array in made.items():
        np.save(tmp_path / f"{name}.npy", array)
    return made


def test_run_writes_what_numpy_would(tmp_path, arrays, capsys):
    files = [f"{name}={tmp_path / name}.npy" for name in "abc"]
    assert main(["run", "a*b + c", "--in", *files, "--out", str(tmp_path / "r.npy")]) == 0
    assert np.array_equal(np.load(tmp_path / "r.npy"), arrays["a"] * arrays["b"] + arrays["c"])
    assert sorted(p.name for p in tmp_path.glob(".*")) == []


def test_run_takes_numbers_and_prints(tmp_path, arrays, capsys):
    assert main(["run", "c * n + x", "--in", f"c={tmp_path / 'c.npy'}", "n=2", "x=0.5"]) == 0
    assert capsys.readouterr().out == "[2.5 4.5 6.5]\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "a + b", "--in", "a=1"], "no value for 'b'; the operands are a, b"),
        (["run", "a", "--in", "a=1", "z=2"], "--in gives 'z'"),
        (["run", "a", "--in", "a"], "not NAME=FILE"),
        (["run", "a", "--in", "a=1", "a=2"], "--in gives 'a' twice"),
        (["run", "a", "--in", "a=1", "--in", "a=2"], "--in gives 'a' twice"),
        (["run", "a", "--in", f"a={'9' * 5000}"], "the integer is beyond 64 bits; write a float"),
        (["run", "out + 1", "--in", "out=1"], "no operand can be called 'out'"),
        (["run", "broadcast_to(a, (k,))", "--in", "a=1", "--extent", "k=2", "k=3"], "--extent gives 'k' twice"),
        (["emit", "a + 1", "--name", "axpb-1"], "--name 'axpb-1' is no name in C; write axpb_1"),
        (["emit", "a + 1", "-o", "-"], "stdout does not take; give a directory"),
        (["cache", "export", "-"], "takes no stream; give a file (./- is one named -)"),
        (["explorer", "--port", "70000"], "--port 70000 is no port; give one below 65536"),
        (["emit", "a + 1", "--variants=-1"], "variants is -1, expected 0 or more"),
        (["run", "a +", "--in", "a=1"], "invalid syntax"),
        (["run", "foo(a)", "--in", "a=1"], "unknown function 'foo'"),
        (["run", "a", "--in", "a=/nonexistent.npy"], "No such file"),
        (["emit", "(f33[?] a) -> a"], "f33"),
        (["emit", "(f32[3] a, f32[2] b) -> a + b"], "operand 'b' dim 0 has extent 2, expected 1 or 3 (from 'a')"),
        (
            ["explain", "a", "--stage", "none"],
            "the stages are expression, typed, nest, constraints, shape, other_rewrites, schedule, c",
        ),
    ],
)
def test_errors_are_one_line_and_exit_code_1(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("bcastgen: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["export"], "export needs a FILE"), (["import"], "import needs a FILE"), (["clear", "f"], "clear takes no FILE")],
)
def test_a_missing_file_of_the_cache_s_actions_is_a_command_line_that_cannot_be_read(arguments, told, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["cache", *arguments])
    assert caught.value.code == 2 and capsys.readouterr().err.endswith(f"bcastgen cache: error: {told}\n")


def test_the_help_of_explain_names_the_stages(capsys):
    with pytest.raises(SystemExit):
        main(["explain", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    named = said.partition("one stage only: ")[2].partition(", or a rewrite")[0].split(", ")
    assert {"nest", "c"} <= {*named} <= {*bcastgen.from_text("a + 1").stages}


def test_run_reads_and_writes_16_bit_floats(tmp_path, capsys):
    a, b = np.array([1.5, -2, 0.1], np.float16), np.array([3, 0.1, 7], ml_dtypes.bfloat16)
    for name, array in (("a", a), ("b", b)):
        np.save(tmp_path / f"{name}.npy", array)
    files = [f"{name}={tmp_path / name}.npy" for name in "ab"]
    assert main(["run", "a * 2", "--in", files[0], "--out", str(tmp_path / "r.npy")]) == 0
    assert np.array_equal(np.load(tmp_path / "r.npy"), a * 2)
    assert main(["run", "(bf16[n] b, f16[n] a) -> b + bf16(a)", "--in", *files, "--out", str(tmp_path / "s.npy")]) == 0
    # numpy.save writes of bf16 how many bytes it has only.
    assert (np.load(tmp_path / "s.npy").view(b.dtype) == b + a.astype(b.dtype)).all()
    assert "bfloat16[3]" in capsys.readouterr().out


def test_every_result_has_its_file_and_keeps_its_dtype_and_shape(tmp_path, capsys):
    i, b = np.array([2**53, 1]), np.ones((2, 1), np.float32)
    np.save(tmp_path / "i.npy", i)
    np.save(tmp_path / "b.npy", b)
    run = ["run", "(i + 1, b, b > 1)", "--in", f"i={tmp_path / 'i.npy'}", "--in", f"b={tmp_path / 'b.npy'}", "--out"]
    wanted = (i + 1, b, b > 1)
    assert main([*run, *(str(tmp_path / f"{at}.npy") for at in range(3))]) == 0
    assert main([*run, str(tmp_path / "all.npz")]) == 0
    assert "all.npz: r0 int64[2], r1 float32[2, 1], r2 bool[2, 1]\n" in capsys.readouterr().out
    with np.load(tmp_path / "all.npz") as archive:
        for at, value in enumerate(wanted):
            for got in (np.load(tmp_path / f"{at}.npy"), archive[f"r{at}"]):
                assert (got.dtype, got.tolist()) == (value.dtype, value.tolist())
    for files in (["r.npy"], ["r.npy", "s.npy"], ["r.npy", "s.npy", "r.npy"], ["r.npy", "missing/s.npy", "t.npy"]):
        assert main([*run, *(str(tmp_path / name) for name in files)]) == 1
        error = capsys.readouterr().err
        assert "one .npy for each, or one .npz" in error or "a file twice" in error or "missing/s.npy: No such" in error
    assert not [path for path in tmp_path.iterdir() if path.stem in "rst" or path.name.startswith(".")]


def header(text):
    """A .npy file with this header and no data."""
    return b"\x93NUMPY\x01\x00" + (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"


def of_shape(extent):
    return header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({extent},), }}")


REFUSED = np.lib.NumpyVersion(np.__version__) >= "2.4.0"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"PK\x03\x04",
        b"PK\x05\x06" + b"\0" * 18,
        header("{{{('("),
        header("(" * 9000),
        header("1"),
        of_shape(3),
        pytest.param(of_shape(-3), marks=pytest.mark.skipif(not REFUSED, reason="this NumPy reads an empty array")),
        of_shape(10**14),
        of_shape(2**63),
        of_shape("'x'"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"),
        header("{'descr': 'nothing', 'fortran_order': False, 'shape': (1,), }"),
    ],
    ids=lambda content: repr(content[:24]),
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_files_that_are_no_arrays_are_errors_of_one_line(content, tmp_path, capsys):
    (tmp_path / "a.npy").write_bytes(content)
    assert main(["run", "a + 1", "--in", f"a={tmp_path / 'a.npy'}"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"bcastgen: {tmp_path / 'a.npy'} is ") and error.count("\n") == 1


@pytest.mark.parametrize("extent", ["²", "", "-1", "1_0", "1.5", "x", str(2**63), "9" * 5000, "٣"])
def test_extents_that_are_none(extent, capsys):
    assert main(["run", "broadcast_to(a, (k,))", "--in", "a=1", "--extent", f"k={extent}"]) == 1
    assert "is not NAME=N; write --extent n=3" in capsys.readouterr().err


@pytest.mark.parametrize("extent", [10**14, 2**62, 2**63 - 1])
def test_extents_that_no_memory_holds(extent, capsys):
    assert main(["run", "broadcast_to(a, (k,))", "--in", "a=1.5", "--extent", f"k={extent}"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_failed_run_leaves_no_file(tmp_path, arrays):
    np.save(tmp_path / "b.npy", np.ones((2, 2)))
    files = [f"{name}={tmp_path / name}.npy" for name in "ab"]
    assert main(["run", "a + b", "--in", *files, "--out", str(tmp_path / "r.npy")]) == 1
    assert not (tmp_path / "r.npy").exists()


def test_a_file_that_is_no_array(tmp_path, capsys):
    (tmp_path / "a.npy").write_bytes(b"nonsense")
    assert main(["run", "a", "--in", f"a={tmp_path / 'a.npy'}"]) == 1
    assert "not a .npy file" in capsys.readouterr().err


def test_an_archive_is_no_array(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", x=np.ones(2), y=np.ones(3))
    assert main(["run", "a", "--in", f"a={tmp_path / 'a.npz'}"]) == 1
    assert "a.npz is an archive without an array 'a'; it has 'x, y'" in capsys.readouterr().err


def test_a_pickle_is_never_loaded(tmp_path, capsys):
    np.save(tmp_path / "a.npy", np.array([print], dtype=object), allow_pickle=True)
    assert main(["run", "a", "--in", f"a={tmp_path / 'a.npy'}"]) == 1
    assert "not a .npy file" in capsys.readouterr().err


def test_usage_errors_exit_with_2():
    with pytest.raises(SystemExit) as caught:
        main(["--no-such-flag"])
    assert caught.value.code == 2


def test_emit_writes_c_and_h(tmp_path, capsys):
    assert (
        main(["emit", "(f32[?,?] a, f32[?,?] b) -> a + b*2", "--name", "axpb", "--variants=0", "-o", str(tmp_path)])
        == 0
    )
    printed = capsys.readouterr().out.split()
    assert printed == [str(tmp_path / name) for name in ("axpb.c", "axpb.h", "bcastgen.h")]
    assert "bcastgen_status axpb(const bcastgen_array *a" in (tmp_path / "axpb.h").read_text()


SHAPES = """
func.func @twice(%a: !shape.shape) -> !shape.shape {
  %r = shape.concat %a, %a : !shape.shape, !shape.shape -> !shape.shape
  return %r : !shape.shape
}
func.func @ranks(%a: !shape.shape) -> !shape.size {
  %r = shape.rank %a : !shape.shape -> !shape.size
  return %r : !shape.size
}
"""


def test_emit_writes_functions_that_compute_shapes(tmp_path, capsys):
    file = tmp_path / "sizes.mlir"
    file.write_text(SHAPES)
    assert main(["emit", str(file), "-o", str(tmp_path)]) == 0
    files = [tmp_path / name for name in ("twice.c", "twice.h", "ranks.c", "ranks.h")]
    assert capsys.readouterr().out.split() == list(map(str, files))
    assert "twice_status twice(const twice_shape *a, twice_shape *r" in files[1].read_text()
    assert main(["emit", str(file), "-o", str(tmp_path), "--function", "ranks", "--name", "dims"]) == 0
    assert (tmp_path / "dims.h").exists()
    for more, message in (["--variants=0"], "variants is for kernels"), (["--name", "x"], "choose one by --function"):
        assert main(["emit", str(file), "-o", str(tmp_path), *more]) == 1
        assert message in capsys.readouterr().err


def test_emit_without_types_serves_any_rank_in_f64(tmp_path):
    assert main(["emit", "a*b + c", "--name", "fma", "-o", str(tmp_path)]) == 0
    assert "@param a  double, of any rank\n" in (tmp_path / "fma.h").read_text()


def test_explain(capsys):
    assert main(["explain", "(f32[?,4] a) -> exp(a)"]) == 0
    assert "== nest" in capsys.readouterr().out
    assert main(["explain", "(f32[?,4] a) -> exp(a)", "--stage", "typed"]) == 0
    assert capsys.readouterr().out == "expr (a: f32)\n  t0 = exp(a) : f32\n  return t0\n"


def test_ops_lists_those_that_have_a_word(capsys):
    assert main(["ops", "EXP", "sine of"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert {"exp", "exp2", "expm1", "sin", "cos"} <= set(listed)
    assert "add" not in listed
    assert main(["ops", "nothing such"]) == 1
    assert capsys.readouterr().err == "bcastgen ops: no op has 'nothing such' in its name or meaning\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("cach", "did you mean cache?"),
        ("exlpain", "did you mean explain?"),
        ("helo", "did you mean --help?"),
        ("version", "did you mean --version?"),
        ("xyzzy", "the commands are demo, run, emit"),
    ],
)
def test_an_unknown_command_is_told(given, told, capsys):
    assert main([given]) == 2
    assert capsys.readouterr().err.startswith(f"bcastgen: no command '{given}'; {told}")


def test_ops_lists_the_table(capsys):
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [op.name for op in known_ops()]


def test_cache_info_and_clear(capsys, tmp_path, arrays):
    main(["run", "a + 1", "--in", f"a={tmp_path / 'a.npy'}"])
    capsys.readouterr()
    assert main(["cache", "info"]) == 0
    assert str(tmp_path / "cache") in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "removed 1 kernels\n"


def test_doctor(capsys, monkeypatch):
    assert main(["doctor"]) == 0
    assert "agrees with NumPy" in capsys.readouterr().out
    monkeypatch.setenv("BCASTGEN_DISABLE", "1")
    assert main(["doctor"]) == 1
    assert "FAIL  kernel: none is compiled, and NumPy computes: BCASTGEN_DISABLE is set" in capsys.readouterr().out
    monkeypatch.delenv("BCASTGEN_DISABLE")
    monkeypatch.setenv("BCASTGEN_CC", "/nonexistent/cc")
    assert main(["doctor"]) == 1
    assert "FAIL  compiler" in capsys.readouterr().out


@pytest.mark.parametrize("command", [[], ["run"], ["emit"], ["explain"], ["bench"], ["cache"]])
def test_help(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command, "--help"])
    assert caught.value.code == 0
    assert "usage: " in capsys.readouterr().out


def test_the_module_runs_as_a_program():
    environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(bcastgen.__file__))}
    done = subprocess.run(
        [sys.executable, "-m", "bcastgen", "--version"], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == f"bcastgen {bcastgen.__version__}"


def test_a_warning_is_one_line_without_a_place_in_python(tmp_path, arrays):
    command = [sys.executable, "-m", "bcastgen", "run", "a * 2", "--in", f"a={tmp_path / 'a.npy'}"]
    environment = os.environ | {"BCASTGEN_CC": "no-such-compiler"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "[0. 2. 4.]\n"
    assert done.stderr.startswith("bcastgen: warning: kernel 'kernel' has no binary, so NumPy computes it")
    assert done.stderr.count("\n") == 1 and ".py" not in done.stderr


@pytest.mark.parametrize("command", [["ops"], ["ops", "exp"], ["bench", "--list"], ["completion", "bash"]])
def test_a_reader_that_has_left_is_no_error(command):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        program = [sys.executable, "-m", "bcastgen", *command]
        done = subprocess.run(program, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_extent_that_no_operand_determines(capsys):
    text = "broadcast_in_dim(a, (n,), ()) + 1"
    assert main(["run", text, "--in", "a=2", "--extent", "n=3"]) == 0
    assert capsys.readouterr().out == "[3 3 3]\n"
    assert main(["run", text, "--in", "a=2"]) == 1
    assert "no operand determines" in capsys.readouterr().err
    assert main(["run", text, "--in", "a=2", "--extent", "n=x"]) == 1
    assert "is not NAME=N" in capsys.readouterr().err
    assert main(["run", "a + 1", "--in", "a=2", "--extent", "n=3"]) == 1
    assert "the operands determine every extent" in capsys.readouterr().err


def test_how_dims_meet(capsys):
    text = "(f32[?] a, f32[?] b) -> a + b"
    assert main(["explain", text, "--stage", "constraints"]) == 0
    assert "b.0 in {1, d0}: checked" in capsys.readouterr().out
    for switch in (["--dynamic", "strict"], ["--no-stretch"]):
        assert main(["explain", text, "--stage", "constraints", *switch]) == 0
        assert "b.0 = d0: checked" in capsys.readouterr().out
    assert main(["explain", "(f32[3] a, f32[2, 3] b) -> a + b", "--no-rank-expansion"]) == 1
    assert "rank" in capsys.readouterr().err


def test_trust_is_not_asked_for_on_the_command_line(capsys):
    with pytest.raises(SystemExit):
        main(["emit", "(f32[?] a) -> a", "--dynamic", "trusted"])
    assert "invalid choice" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="names of files are text there")
def test_names_that_the_terminals_encoding_has_not_are_shown(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(2))
    command = [sys.executable, "-m", "bcastgen", "run", "a + 1", "--in", f"a={tmp_path}/a.npy", "--out"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run([*command, os.fsencode(tmp_path) + b"/\xff.npy"], capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\udcff.npy" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes them")
@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_empty_ones(closing):
    for words, status in (("ops", 0), ("opt -", 0), ("run a+1 --in a=-", 1)):
        said = f"{sys.executable} -m bcastgen {words} {closing}"
        done = subprocess.run(["sh", "-c", said], capture_output=True, stdin=subprocess.DEVNULL, text=True)
        assert done.returncode == status and "Traceback" not in done.stderr, done.stderr
