"""`bcastgen opt`, and the commands that take a .mlir file: what goes to stdout, to stderr, and the exit code."""

import io
import subprocess
import sys

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.cli.main import main

TEXT = """func.func @scaled(%x: tensor<?x3xf32>, %s: tensor<1x3xf32>) -> tensor<?x3xf32> {
  %0 = tosa.sub %x, %s : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
  %1 = tosa.abs %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
func.func @other(%x: tensor<2xi8>) -> tensor<2xi8> {
  %0 = tosa.bitwise_not %x : (tensor<2xi8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}
"""
WRONG = """func.func @first(%a: tensor<3xf32>, %b: tensor<2xf32>) -> tensor<3xf32> {
  %0 = tosa.add %a, %b : (tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @fine(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}
func.func @last(%a: tensor<3xi32>) -> tensor<3xi32> {
  %0 = tosa.exp %a : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
"""
SHAPES = """func.func @joined(%a: !shape.shape, %b: !shape.shape) -> !shape.shape {
  %0 = shape.concat %a, %b : !shape.shape, !shape.shape -> !shape.shape
  return %0 : !shape.shape
}
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("stage", ["expression", "typed", "nest", "constraints", "schedule", "c"])
def test_stages_print(model, capsys, stage):
    assert main(["opt", str(model), f"--to={stage}", "--function=scaled"]) == 0
    kernel = bg.from_mlir(TEXT, "scaled")
    assert capsys.readouterr().out == kernel.stages[stage] + "\n"


@pytest.mark.parametrize("form", ["linalg", "tosa", "shape"])
def test_forms_of_mlir_print_for_every_function(model, capsys, form):
    assert main(["opt", str(model), f"--to={form}"]) == 0
    text = capsys.readouterr().out
    assert "@scaled" in text and "@other" in text


def test_a_stage_goes_to_a_file(model, tmp_path, capsys):
    assert main(["opt", str(model), "--to=nest", "-o", str(tmp_path / "nests.txt")]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "nests.txt").read_text().count("nest (") == 2


@pytest.mark.parametrize("flags", [["--verify-only"], []])
def test_verify_only_prints_nothing_of_what_is_valid(flags, model, tmp_path, capsys):
    assert main(["opt", *flags, str(model)]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["opt", *flags, str(tmp_path / "none.mlir")]) == 1
    assert "none.mlir: No such file" in capsys.readouterr().err


def test_each_function_that_is_wrong_is_told(tmp_path, capsys):
    path = tmp_path / "wrong.mlir"
    path.write_text(WRONG)
    assert main(["opt", "--verify-only", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line for line in err.splitlines() if "error" in line] == [
        f"{path}:2:8: error: 'tosa.add' op operand '%b' dim 0 has extent 2, expected 1 or 3 (from '%a')",
        f"{path}:9:8: error: 'tosa.exp' op operand '%a' has element type i32, for which it is not defined; insert a "
        "tosa.cast",
    ]
    assert "       ^" in err.splitlines()


def test_what_cannot_be_read_is_one_error_without_a_prefix(tmp_path, capsys):
    path = tmp_path / "broken.mlir"
    path.write_text("func.func @f(%a: tensor<3xf32>\n")
    assert main(["opt", "--to=nest", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:")


def test_files_are_split_at_their_separators(tmp_path, capsys):
    path = tmp_path / "parts.mlir"
    path.write_text(SHAPES + "// -----\n" + WRONG)
    assert main(["opt", "--verify-only", "--split-input-file", str(path)]) == 1
    assert f"{path}:7:8: error: 'tosa.add' op" in capsys.readouterr().err


def test_functions_of_shapes_print_folded(tmp_path, capsys):
    path = tmp_path / "shapes.mlir"
    path.write_text(SHAPES)
    assert main(["opt", "--to=shape", str(path)]) == 0
    assert "shape.concat" in capsys.readouterr().out
    assert main(["opt", "--to=linalg", str(path)]) == 1
    assert "computes shapes" in capsys.readouterr().err


def test_broadcastable_is_verified_and_not_compiled(tmp_path, capsys):
    path = tmp_path / "broadcastable.mlir"
    path.write_text(
        "func.func @f(%a: tensor<3x1xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {\n"
        '  %0 = "test.broadcastable"(%a, %b) : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xf32>\n'
        "  return %0 : tensor<3x4xf32>\n}\n"
    )
    assert main(["opt", "--verify-only", str(path)]) == 0
    assert main(["opt", "--to=nest", str(path)]) == 1
    assert "has no meaning beyond its types" in capsys.readouterr().err


NO_RESULTS = """func.func @f(%a: tensor<4x3x2xi32>, %b: tensor<1x3x1xi32>) {
  %0 = tosa.add %a, %b : (tensor<4x3x2xi32>, tensor<1x3x1xi32>) -> tensor<4x3x2xi32>
  %1 = "test.broadcastable"(%a, %b) : (tensor<4x3x2xi32>, tensor<1x3x1xi32>) -> tensor<4x3x2xi32>
  return
}
func.func @s(%a: !shape.shape) {
  %0 = shape.rank %a : !shape.shape -> !shape.size
  return
}
"""


def test_functions_without_results_are_verified(tmp_path, capsys):
    path = tmp_path / "none.mlir"
    path.write_text(NO_RESULTS)
    assert main(["opt", "--verify-only", str(path)]) == 0
    path.write_text(NO_RESULTS.replace("x1xi32>", "x3xi32>"))
    assert main(["opt", "--verify-only", str(path)]) == 1
    assert f"{path}:2:8: error: 'tosa.add' op operand '%b' dim 2 has extent 3" in capsys.readouterr().err
    assert main(["opt", "--to=nest", str(path)]) == 1


def test_stdin_is_read(monkeypatch, capsys):
    class Standard:
        buffer = io.BytesIO(TEXT.encode())

    monkeypatch.setattr(sys, "stdin", Standard)
    assert main(["opt", "--to=nest", "--function=other", "-"]) == 0
    assert "bitwise_invert" in capsys.readouterr().out


def test_the_output_may_be_stdout(model, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["opt", "--to=nest", str(model), "-o", "-"]) == 0
    assert "nest" in capsys.readouterr().out and not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["opt", "--to=nest", "--function=gone", "MODEL"], "no function @gone; there are @scaled, @other"),
        (["run", "MODEL", "--no-stretch", "--function=scaled"], "are for expressions, not for .mlir files"),
        (["emit", "a + b", "--function=f"], "--function 'f' is for .mlir files"),
    ],
)
def test_command_lines_that_make_no_sense(model, capsys, arguments, message):
    assert main([str(model) if word == "MODEL" else word for word in arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_missing_file_is_told(capsys):
    assert main(["opt", "--to=nest", "gone.mlir"]) == 1
    assert capsys.readouterr().err == "bcastgen: gone.mlir: No such file or directory\n"


@pytest.mark.parametrize(("arguments", "name"), [([], "model"), (["--name=one"], "one")])
def test_emit_writes_every_function(model, tmp_path, capsys, arguments, name):
    assert main(["emit", str(model), "-o", str(tmp_path / "out"), *arguments]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["bcastgen.h", f"{name}.c", f"{name}.h"]
    header = (tmp_path / "out" / f"{name}.h").read_text()
    assert f"{name}_scaled(" in header and f"{name}_other(" in header
    subprocess.run(
        ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", f"{name}.c"], cwd=tmp_path / "out", check=True
    )


def test_run_evaluates_a_function_over_files(model, tmp_path, capsys):
    x, s = np.float32([[1, 2, 3]]), np.float32([[2, 2, 2]])
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "s.npy", s)
    given = [f"{name}={tmp_path / name}.npy" for name in "xs"]
    assert main(["run", str(model), "--function=scaled", "--in", *given]) == 0
    assert capsys.readouterr().out == "[[1. 0. 1.]]\n"


def test_explain_prints_the_stages(model, capsys):
    assert main(["explain", str(model), "--function=scaled", "--stage=typed"]) == 0
    assert "absolute" in capsys.readouterr().out


def test_how_dims_broadcast_and_versions_of_linalg_are_flags(tmp_path, capsys):
    path = tmp_path / "add.mlir"
    path.write_text(
        """func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
          %0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
          return %0 : tensor<?xf32>
        }"""
    )
    for command in (["opt", str(path), "--to=constraints"], ["explain", str(path), "--stage", "constraints"]):
        assert main(command) == 0
        assert "b.0 in {1, d0}: checked" in capsys.readouterr().out
        assert main([*command, "--dynamic=strict"]) == 0
        assert "b.0 = d0: checked" in capsys.readouterr().out
    assert main(["opt", str(path), "--to=linalg", "--versions", "3"]) == 0
    assert capsys.readouterr().out.count("linalg.generic") == 3
    assert main(["opt", str(path), "--to=shape", "--versions", "3"]) == 1
    assert "versions are of linalg" in capsys.readouterr().err
