"""What a file can be opened with. Some of it has no effect, and is only checked."""

from __future__ import annotations

import os
import sys
from typing import Any

_VERSIONS = ("earliest", "v108", "v110", "v112", "v114", "v200", "latest")
#: The newest library whose structures are written.
NEWEST = _VERSIONS[-2]
_LOCKING = (None, True, False, "true", "false", "best-effort")

#: Sizes of caches and buffers, and what new files are made with. `rdcc_nslots` is only checked.
_CACHES = frozenset("rdcc_nslots rdcc_nbytes rdcc_w0 track_times page_buf_size min_meta_keep min_raw_keep".split())

#: How space is managed in new files, and where new pieces go, with what h5py has if nothing is said.
_SPACE = {"fs_strategy": None, "fs_persist": False, "fs_threshold": 1, "fs_page_size": 4096}
_PLACEMENT = {"meta_block_size": 2048, "alignment_threshold": 1, "alignment_interval": 1}

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
    return (low or "earliest").replace("latest", NEWEST), (high or NEWEST).replace("latest", NEWEST)


def check_cache_options(options: dict[str, Any]) -> None:
    """Fails if a chunk cache or page buffer cannot be so, with what h5py raises."""
    for name in ("rdcc_nbytes", "rdcc_nslots"):
        value = options.get(name)
        if value is None:
            continue
        if isinstance(value, str | bytes) or not hasattr(value, "__int__"):
            raise TypeError(f"{name}: an integer is required, not {value!r}")
        _check_size(name, int(value))
    weight = options.get("rdcc_w0")
    if weight is not None:
        if isinstance(weight, str | bytes) or not hasattr(weight, "__float__"):
            raise TypeError(f"rdcc_w0 must be real number, not {type(weight).__name__}")
        if not 0 <= weight <= 1:
            raise ValueError(f"rdcc_w0 must be between 0.0 and 1.0 inclusive, not {weight!r}")
    buffer = options.get("page_buf_size")
    if buffer is not None:
        _check_size("page_buf_size", int(buffer))
        shares = {name: int(options.get(name) or 0) for name in ("min_meta_keep", "min_raw_keep")}
        for name, share in shares.items():
            _check_size(name, share)
        if sum(shares.values()) > 100:
            raise ValueError(f"min_meta_keep and min_raw_keep are parts of 100 percent, not {shares}")


def wanted_policy(options: dict[str, Any]) -> str | None:
    """Which chunks leave the cache first, if `rdcc_w0` says so: 1 lets those go first that were used once, 0 those that were used longest ago."""
    return {0.0: "lru", 1.0: "s3-fifo"}.get(options.get("rdcc_w0"))  # type: ignore[arg-type]


#: How large the members of a new family are, and how the names of a split file end, if nothing is said: as in h5py.
_MEMBER_SIZE = 2**31 - 1
_ENDINGS = ("-m.h5", "-r.h5")


def members(driver: str | None, options: dict[str, Any]) -> tuple[int, str, str] | None:
    """How a file is spread over several: the size of a member of a family, or how the names of a split file end."""
    if driver == "family":
        return int(options.get("memb_size") or _MEMBER_SIZE), "", ""
    if driver == "split":
        given = (options.get(name) for name in ("meta_ext", "raw_ext"))
        meta, raw = (os.fsdecode(own or usual) for own, usual in zip(given, _ENDINGS, strict=True))
        return 0, meta, raw
    return None


def pages(options: dict[str, Any], is_new: bool, strategy: str | None) -> tuple[int | None, str | None, int, int]:
    """How many bytes of pages are kept, if that is said, what values have to do with them, and how many percent are for metadata and for values at least. As
    in h5py, a new file that is to have a buffer has pages, and the buffer room for one."""
    size = int(options.get("page_buf_size") or 0)
    if not size:
        return None, strategy, 0, 0
    if is_new and options.get("fs_strategy") != "page":
        raise OSError("Enabling page buffering requires fs_strategy='page'")
    if is_new and size < int(options.get("fs_page_size") or _SPACE["fs_page_size"]):
        raise OSError("page_buf_size must hold at least one page")
    metadata, values = (int(options.get(name) or 0) for name in ("min_meta_keep", "min_raw_keep"))
    return min(size, sys.maxsize), strategy, metadata, values


def _check_size(name: str, value: int) -> None:
    if not 0 <= value < 2**64:
        raise OverflowError(f"{name} must be a size of at most 64 bits, not {value}")


def check_options(driver: str | None, libver: Any, locking: Any, options: dict[str, Any]) -> None:
    """Fails if a file cannot be opened so."""
    if driver not in _DRIVERS:
        known = ", ".join(repr(name) for name in _DRIVERS if name)
        raise ValueError(f"Unknown driver type {driver!r}; there are {known}")
    for name in options.keys() - _CACHES - _SPACE.keys() - _PLACEMENT.keys() - _DRIVERS[driver]:
        raise TypeError(f"'{name}' is an invalid keyword argument for this function")
    bounds = (libver, "latest") if libver is None or isinstance(libver, str) else tuple(libver)
    if len(bounds) != 2 or any(bound not in (None, *_VERSIONS) for bound in bounds):
        raise ValueError(f"libver must be one of {', '.join(_VERSIONS)}, or two of them, not {libver!r}")
    check_cache_options(options)
    if locking not in _LOCKING:
        raise ValueError(f"Unsupported locking value: {locking!r}; must be true, false or 'best-effort'")


def settings(libver: tuple[str, str], user_block: int, track_order: bool, options: dict[str, Any]) -> dict[str, Any]:
    """What a file is made or changed with."""
    given = [default if (value := options.get(name)) is None else value for name, default in _SPACE.items()]
    strategy, persist, threshold, page = given
    # As in h5py, the rest has no meaning without a strategy.
    space = ("fsm", False, 1, 4096)
    if strategy is not None:
        space = (strategy, bool(persist), int(threshold), int(page) if strategy == "page" else 4096)
    placement = tuple(int(options.get(name) or default) for name, default in _PLACEMENT.items())
    return {
        "libver": libver,
        "user_block": user_block,
        "track_order": track_order,
        "space": space,
        "placement": placement,
    }
