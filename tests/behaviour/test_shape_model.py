"""The product against the shape model: random kernels and calls, asked in every way there is.

    python tests/behaviour/test_shape_model.py --seed 0 --kernels 4000      # for as long as one likes

prints every class of differences, shrunk. A class is which sides part from the model, and how.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from shape_differences import by_class, found, reported

PER_MODULE = 40


def checked(seed, kernels, calls, directory):
    differences = list(found(seed, kernels, calls, directory))
    classes = by_class(differences)
    assert not classes, "\n\n".join(reported(same, directory, 25) for same in classes[:4])


@pytest.mark.parametrize("seed", range(4))
def test_random_kernels_do_what_the_model_says(seed, tmp_path):
    checked(seed, 15, 40, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_random_kernels_do_what_the_model_says(seed, tmp_path):
    checked(seed, PER_MODULE, 250, tmp_path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kernels", type=int, default=400)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--patience", type=int, default=80, help="kernels tried to shrink one class")
    parser.add_argument("--examples", type=int, default=1, help="of each class")
    options = parser.parse_args()
    differences, count = [], 0
    for at in range(0, options.kernels, PER_MODULE):
        with tempfile.TemporaryDirectory() as directory:
            part = min(PER_MODULE, options.kernels - at)
            differences += found(options.seed * 1_000_003 + at, part, options.calls, Path(directory))
            count += part * options.calls
            print(f"{count} calls, {len(differences)} differences", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as directory:
        for same in by_class(differences):
            print(reported(same, Path(directory), options.patience, options.examples), end="\n\n", flush=True)
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
