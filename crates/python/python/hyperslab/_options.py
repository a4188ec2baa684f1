"""What a file can be opened with. Much of it has no effect, and is only checked."""

from __future__ import annotations

from typing import Any

_VERSIONS = ("earliest", "v108", "v110", "v112", "v114", "v200", "latest")
_LOCKING = (None, True, False, "true", "false", "best-effort")

#: Sizes of caches and buffers, and what new files are made with.
_WITHOUT_EFFECT = frozenset(
    """rdcc_nslots rdcc_nbytes rdcc_w0 track_times fs_strategy fs_persist fs_threshold fs_page_size
    page_buf_size min_meta_keep min_raw_keep alignment_threshold alignment_interval meta_block_size""".split()
)

#: What each driver takes besides.
_DRIVERS: dict[str | None, frozenset[str]] = {
    None: frozenset(),
    "sec2": frozenset(),
    "stdio": frozenset(),
    "core": frozenset({"backing_store", "block_size"}),
    "family": frozenset({"memb_size"}),
    "split": frozenset({"meta_ext", "raw_ext"}),
    "fileobj": frozenset({"fileobj"}),
}


def libver_bounds(libver: Any) -> tuple[str, str]:
    """The oldest and the newest library that are meant."""
    low, high = (libver, None) if libver is None or isinstance(libver, str) else libver
    newest = _VERSIONS[-2]
    return (low or "earliest").replace("latest", newest), (high or newest).replace("latest", newest)


def check_options(driver: str | None, libver: Any, locking: Any, options: dict[str, Any]) -> None:
    """Fails if a file cannot be opened so."""
    if driver not in _DRIVERS:
        known = ", ".join(repr(name) for name in _DRIVERS if name)
        raise ValueError(f"Unknown driver type {driver!r}; there are {known}")
    for name in options.keys() - _WITHOUT_EFFECT - _DRIVERS[driver]:
        raise TypeError(f"'{name}' is an invalid keyword argument for this function")
    bounds = (libver, "latest") if libver is None or isinstance(libver, str) else tuple(libver)
    if len(bounds) != 2 or any(bound not in (None, *_VERSIONS) for bound in bounds):
        raise ValueError(f"libver must be one of {', '.join(_VERSIONS)}, or two of them, not {libver!r}")
    if locking not in _LOCKING:
        raise ValueError(f"Unsupported locking value: {locking!r}; must be true, false or 'best-effort'")
