"""The completion scripts know every command, flag and choice, and bash completes with them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from bcastgen.cli.main import COMMANDS, main


def script(shell, capsys):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("bcastgen ex", {"explain", "explorer"}),
        ("bcastgen explain a --st", {"--stage", "--strict-types"}),
        ("bcastgen run a --dynamic s", {"strict"}),
        ("bcastgen bench --sh", {"--shape"}),
        ("bcastgen completion --h", {"--help"}),
        ("bcastgen cache ve", {"verify"}),
        ("bcastgen completion z", {"zsh"}),
        ("bcastgen explain a --stage n", {"nest"}),
        ("bcastgen emit a --target wa", {"wasm32"}),
        (
            "bcastgen emit a --targets x86-64-v3,x86-64-v4,x86-64-v",
            {f"x86-64-v3,x86-64-v4,x86-64-v{n}" for n in (3, 4)},
        ),
        ("bcastgen bench --kinds n", {"narrow"}),
        ("bcastgen bench --kinds narrow,bo", {"narrow,bool"}),
        ("bcastgen bench --peers numpy,numb", {"numpy,numba"}),
        ("bcastgen bench --peers al", {"all"}),
    ],
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(words, expected, capsys):
    given = " ".join(f"'{word}'" for word in words.split())
    count = len(words.split()) - 1
    shown = 'printf "%s\\n" "${COMPREPLY[@]}"'
    text = f"{script('bash', capsys)}\nCOMP_WORDS=({given}); COMP_CWORD={count}; _bcastgen; {shown}"
    made = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert set(made.stdout.split()) == expected


def test_every_shell_s_script_has_every_command(capsys):
    for shell in ("bash", "zsh", "fish"):
        text = script(shell, capsys)
        assert all(name in text for name in COMMANDS)
    fish = script("fish", capsys)
    assert "-l stage" in fish and "-l kinds -xa '(__fish_append , contiguous chain" in fish
    assert "__fish_seen_subcommand_from cache\" -fa 'info list" in fish
    assert "bashcompinit" in script("zsh", capsys)
