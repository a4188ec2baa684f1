"""Values of several datasets in one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _hyperslab
from ._retry import again_if_resized
from ._selections import choose
from ._write import prepare

if TYPE_CHECKING:
    from ._dataset import Dataset


def read_many(parts: Iterable[tuple[Dataset, Any]]) -> list[Any]:
    """What each dataset gives for its index. All values are of one time, whatever other threads write. Chunks that are not in the cache are read
    with one request, as far as they fit there. Scalars, and fields of structures, are read one after the other.

    >>> hyperslab.read_many([(f["temperature"], 0), (f["pressure"], np.s_[:, 3])])   # doctest: +SKIP
    """
    parts = list(parts)
    plain = {nth: part for nth, part in enumerate(parts) if _is_plain(*part)}
    indices = [index for _, index in plain.values()]
    values = again_if_resized(indices, lambda: _hyperslab.read_many([_chosen(*part) for part in plain.values()]))
    read = dict(zip(plain, values, strict=True))
    return [read[nth] if nth in read else dataset[index] for nth, (dataset, index) in enumerate(parts)]


def write_many(parts: Iterable[tuple[Dataset, Any, Any]]) -> None:
    """Sets what each dataset has at its index, in this order. Whatever is wrong is found out before anything is written, and no thread reads some of
    the parts before all are written. Chunks that are changed in part, and not in the cache, are read with one request, as far as they fit there.

    >>> hyperslab.write_many([(f["temperature"], 0, 273.15), (f["pressure"], np.s_[:, 3], values)])   # doctest: +SKIP
    """
    parts = list(parts)

    def write() -> None:
        prepared = [(dataset._handle, prepare(dataset, index, values)) for dataset, index, values in parts]
        _hyperslab.write_many([(handle, *part) for handle, part in prepared if part is not None])

    again_if_resized([index for _, index, _ in parts], write)


def _is_plain(dataset: Dataset, index: Any) -> bool:
    args = index if isinstance(index, tuple) else (index,)
    return bool(dataset.shape) and not any(arg is None or isinstance(arg, str) for arg in args)


def _chosen(dataset: Dataset, index: Any) -> tuple[Any, Any, tuple[int, ...]]:
    return dataset._handle, *choose(dataset.shape or (), index, dataset)
