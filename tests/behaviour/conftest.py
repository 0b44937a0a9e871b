"""Fixtures of tests of behaviour."""

from __future__ import annotations

import random

import pytest


@pytest.fixture
def chance():
    return random.Random(0)
