"""``bcastgen completion``: prints what a shell reads to complete commands, their flags and the choices of these.

In: the shell's name.  Out: a script on stdout, made from the parsers of all commands.

    eval "$(bcastgen completion bash)"        bcastgen completion fish > ~/.config/fish/completions/bcastgen.fish
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping

from ..core.resources import bench_module
from ..emit.standalone.target import TARGETS
from ..pipeline.stages import STAGES
from .main import COMMANDS, parser_of

__all__ = ["add_arguments", "run"]

# The flags of a command, each with its help, its choices, and whether it takes several, with commas between them.
Flags = Mapping[str, tuple[str, tuple[str, ...], bool]]
_BASH = """\
_bcastgen() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= list=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "%(commands)s" -- "$word"))
        return
    fi
    case "${COMP_WORDS[1]} $before" in
%(choices)s
    esac
    if [ -z "$words" ] && [ "${word#-}" != "$word" ]; then
        case "${COMP_WORDS[1]}" in
%(flags)s
        esac
    fi
    [ -z "$list" ] || list=${word%%"${word##*,}"}
    [ -z "$words" ] || COMPREPLY=($(compgen -P "$list" -W "$words" -- "${word#"$list"}"))
}
complete -o default -F _bcastgen bcastgen
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's argument to its parser."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that reads the script")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    flags = {name: _flags(name) for name in COMMANDS}
    text = _fish(flags) if options.shell == "fish" else _bash(flags)
    print((_ZSH if options.shell == "zsh" else "") + text, end="")
    return 0


def _parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    if name == "bench":
        made: argparse.ArgumentParser = bench_module("runner").parser_of()
        return made
    whole = parser_of(name, importlib.import_module(f".{name}", __package__))
    (commands,) = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    return commands.choices[name]  # type: ignore[no-any-return]


def _flags(name: str) -> Flags:
    """Return the flags of a command."""
    offered = _offered(name)
    return {
        flag: (action.help or "", *offered.get(flag, (tuple(map(str, action.choices or ())), False)))
        for action in _parser(name)._actions
        for flag in action.option_strings
        if flag.startswith("--")
    }


def _offered(name: str) -> Mapping[str, tuple[tuple[str, ...], bool]]:
    """Return what is offered for flags of a command that the parser itself lets be anything."""
    if name == "explain":
        return {"--stage": (STAGES, False)}
    if name == "emit":
        sets = tuple(name for name, row in TARGETS.items() if row.level)
        return {"--target": (tuple(TARGETS), False), "--targets": (sets, True)}
    if name == "bench":
        plan = bench_module("plan")
        # A name with a space would be two words.
        peers = (peer for peer in (*plan.PEERS, plan.ALL_PEERS) if peer not in plan.OWN and " " not in peer)
        return {"--kinds": (tuple(plan.KINDS), True), "--peers": (tuple(peers), True)}
    return {}


def _words(name: str) -> tuple[str, ...]:
    """Return the words that may be the first argument of a command; none where it may be anything."""
    first = next((action for action in _parser(name)._actions if not action.option_strings), None)
    return () if first is None else tuple(map(str, first.choices or ()))


def _bash(flags: Mapping[str, Flags]) -> str:
    choices = [
        f'        "{name} {flag}") words="{" ".join(given)}"{" list=," if several else ""} ;;'
        for name, found in flags.items()
        for flag, (_, given, several) in found.items()
        if given
    ]
    # Where a command's first argument is one of some words, these follow the command itself.
    no_flag = '[ "${word#-}" != "$word" ] ||'
    first = {name: " ".join(_words(name)) for name in flags}
    choices += [f'        "{name} {name}") {no_flag} words="{words}" ;;' for name, words in first.items() if words]
    lists = [f'            {name}) words="{" ".join(found)}" ;;' for name, found in flags.items()]
    parts = {"commands": " ".join(flags), "choices": "\n".join(choices), "flags": "\n".join(lists)}
    return _BASH % parts


def _fish(flags: Mapping[str, Flags]) -> str:
    lines = [
        f"complete -c bcastgen -n __fish_use_subcommand -a {name} -d {_quoted(COMMANDS[name])} -f" for name in flags
    ]
    for name, found in flags.items():
        if words := _words(name):
            lines.append(f'complete -c bcastgen -n "__fish_seen_subcommand_from {name}" -fa {_quoted(" ".join(words))}')
        for flag, (text, given, several) in found.items():
            words_of = f"(__fish_append , {' '.join(given)})" if several else " ".join(given)
            chosen = f" -xa {_quoted(words_of)}" if given else ""
            said = f" -d {_quoted(text)}" if text and text != argparse.SUPPRESS else ""
            lines.append(f'complete -c bcastgen -n "__fish_seen_subcommand_from {name}" -l {flag[2:]}{chosen}{said}')
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
