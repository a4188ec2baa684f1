"""What all tests share: a file made by h5py, open in both libraries."""

import contextlib
import os

import h5py
import hyperslab
import pytest
from hypothesis import HealthCheck, settings

# The same cases each time, unless a seed is asked for as elsewhere in the house.
settings.register_profile(
    "house",
    deadline=None,
    database=None,
    derandomize="HYPERSLAB_SEED" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("house")


@pytest.fixture
def both(tmp_path):
    """`both(make)` calls `make(file)` with a new h5py file, then opens it in h5py and here."""
    opened = contextlib.ExitStack()

    def build(make, **options):
        path = tmp_path / "made.h5"
        with h5py.File(path, "w", **options) as file:
            make(file)
        return opened.enter_context(h5py.File(path)), opened.enter_context(hyperslab.File(path))

    with opened:
        yield build
