#!/usr/bin/env -S python3 -IS
"""A compiler that keeps what it has made: called as gcc, it runs gcc only for what it has not compiled yet.

In: a command line, by whose first word the real compiler is found further down the PATH.  Out: what that would write.

    PATH=/tmp/once:$PATH  gcc -O1 -shared -o kernel.so kernel.c      /tmp/once/gcc is a link to this file

What counts is the text after the preprocessor, the flags and the objects that are linked. Mutants of the package mostly
emit the C that it emits itself, each in a cache of its own, and compiling it is most of what their tests would do.
"""

import hashlib
import os
import shutil
import subprocess
import sys

# Either they write more files than one, or what they write has the names of files in it.
PASSED_ON = ("-E", "-M", "-S", "--coverage", "-save-temps", "-g", "-fanalyzer", "-fdiagnostics", "@", "-###", "-v")
OF_C = (".c", ".cc", ".cpp", ".cxx")


def main() -> int:
    """Compile, or copy what was compiled before."""
    name, *given = sys.argv
    own = os.path.dirname(os.path.abspath(name))
    places = [place for place in os.environ["PATH"].split(":") if os.path.abspath(place) != own]
    real = shutil.which(os.path.basename(name), path=":".join(places))
    if real is None:
        return 127
    key = None if "-o" not in given or any(word.startswith(PASSED_ON) for word in given) else key_of(real, given)
    if key is None:
        os.execv(real, [real, *given])
    target, kept = given[given.index("-o") + 1], os.path.join(os.environ["COMPILE_ONCE"], key)
    if os.path.exists(kept):
        shutil.copy(kept, target)
        return 0
    done = subprocess.run([real, *given], capture_output=True)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    if done.returncode == 0 and not done.stdout + done.stderr and os.path.isfile(target):
        aside = f"{kept}.{os.getpid()}"
        shutil.copy(target, aside)
        os.replace(aside, kept)
    return done.returncode if done.returncode >= 0 else 1


def key_of(real: str, given: list[str]) -> str | None:
    """Return what decides the output; nothing if the compiler has to say itself what is wrong."""
    at = given.index("-o")
    rest = [*given[:at], *given[at + 2 :]]
    sources = [word for word in rest if word.endswith(OF_C) and os.path.isfile(word)]
    if not sources:
        return None
    flags = [word for word in rest if word not in sources]
    expanded = [word for word in flags if word not in ("-c", "-shared") and not word.startswith(("-l", "-Wl,"))]
    expanded = [word for word in expanded if not os.path.isfile(word) or word.endswith(".h")]
    text = subprocess.run([real, *expanded, "-E", "-P", *sources], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if text.returncode:
        return None
    found = hashlib.sha256(repr([real, [word for word in flags if not os.path.exists(word)]]).encode())
    for word in flags:
        if os.path.isfile(word):
            with open(word, "rb") as file:
                found.update(file.read())
    found.update(text.stdout)
    return found.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
