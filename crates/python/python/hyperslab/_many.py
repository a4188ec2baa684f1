"""Values of several datasets in one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._hyperslab import Space, prefetch
from ._selections import choose

if TYPE_CHECKING:
    from ._dataset import Dataset


def read_many(parts: Iterable[tuple[Dataset, Any]]) -> list[Any]:
    """What each dataset gives for its index. Chunks that are not in the cache are read with one request, as far as they fit there.

    >>> hyperslab.read_many([(f["temperature"], 0), (f["pressure"], np.s_[:, 3])])   # doctest: +SKIP
    """
    parts = list(parts)
    prefetch([_chosen(dataset, index) for dataset, index in parts if dataset.shape])
    return [dataset[index] for dataset, index in parts]


def write_many(parts: Iterable[tuple[Dataset, Any, Any]]) -> None:
    """Sets what each dataset has at its index. Chunks that are changed in part, and not in the cache, are read with one request, as far as they
    fit there.

    >>> hyperslab.write_many([(f["temperature"], 0, 273.15), (f["pressure"], np.s_[:, 3], values)])   # doctest: +SKIP
    """
    parts = list(parts)
    prefetch([_chosen(dataset, index) for dataset, index, _ in parts if dataset.shape])
    for dataset, index, values in parts:
        dataset[index] = values


def _chosen(dataset: Dataset, index: Any) -> tuple[Any, Space]:
    args = index if isinstance(index, tuple) else (index,)
    names = tuple(arg for arg in args if not isinstance(arg, str))
    return dataset._handle, choose(dataset.shape or (), names, dataset)[0]
