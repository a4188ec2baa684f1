"""Steps that another thread may come between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._hyperslab import ExtentError, Space

# Steps that other threads disturb so often in a row give up. Without the interpreter's lock, a thread that resizes without end comes between nearly
# all of them: 1,000 were too few.
_MOST_TRIES = 100_000


def retry(steps: Callable[[], Any], *disturbed: type[Exception]) -> Any:
    """What the steps give; they are taken again as long as they end with one of these exceptions."""
    for _ in range(_MOST_TRIES):
        try:
            return steps()
        except disturbed:
            pass
    return steps()


def again_if_resized(indices: list[Any], request: Callable[[], Any]) -> Any:
    """What a request gives that selects in the extent of the moment: it is made again if another thread resized a dataset meanwhile. Not if one of the
    indices is a `Space`, which has an extent of its own."""
    if any(isinstance(index, Space) or index.__class__ is tuple and Space in map(type, index) for index in indices):
        return request()
    return retry(request, ExtentError)
