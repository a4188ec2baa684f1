"""Packages that are imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def imported(module: str) -> Any:
    """A module of another package; an error that says what to install if it is not there."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as why:
        raise ImportError(f"this needs the package {package}: pip install {package}") from why
