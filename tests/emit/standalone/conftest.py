"""Random modules of standalone C, with what calls of them come to."""

from __future__ import annotations

import pytest

from c_corpus import make_corpus


@pytest.fixture(scope="session")
def corpus(samples, differences):
    """Call ``corpus(seed, count, functions=False, faults=2)`` for a :class:`c_corpus.Corpus`."""

    def made(seed, count, **options):
        return make_corpus(seed, count, samples, differences, **options)

    return made
