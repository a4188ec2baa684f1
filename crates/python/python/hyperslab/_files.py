"""Files."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from typing import Any, Self

from . import _config
from ._group import Group
from ._hyperslab import FileHandle
from ._options import check_options, libver_bounds, members, pages, settings, wanted_policy

_WRITING = ("r+", "w", "w-", "x", "a")

#: How a file is opened that is only looked at.
_LOOKING = {"locking": "false", "swmr": True, "external": "inside", "family": False}


class File(Group):
    """An open file, which is its root group too. Any number of threads may read it at once.

    >>> with File("data.h5") as f:                  # doctest: +SKIP
    ...     f["run/temperature"][720, ::2]
    """

    def __init__(
        self,
        name: Any,
        mode: str = "r",
        driver: str | None = None,
        libver: str | tuple[str, str] | None = None,
        userblock_size: int | None = None,
        swmr: bool = False,
        locking: bool | str | None = None,
        track_order: bool | None = None,
        cache_bytes: int | None = None,
        cache_max_bytes: int | None = None,
        cache_dataset_bytes: int | None = None,
        cache_policy: str | None = None,
        cache_read_ahead: bool | int | None = None,
        page_strategy: str | None = None,
        external_access: str = "read-anywhere",
        durability: str = "none",
        retry: int | tuple[int, float] | None = None,
        evict_on_close: bool = False,
        **options: Any,
    ) -> None:
        """Opens a file by its name, or any object with `seek` and `read`, and `write` if it is to be changed: it is read and written range by range.

        Modes: "r" to read, "r+" to change what is there, "w" to make a new file instead of any old one, "w-" or "x" to make one
        that must not be there, "a" to change a file or make it. `libver` says which libraries must be able to read what is
        written: "earliest" (all), "v108" … "v200", "latest".

        `cache_bytes` is how much memory chunks may take, 64 MiB if nothing is said; with `cache_max_bytes`, the cache finds its size between
        the two, by the chunks that it let go too early. `cache_dataset_bytes` is the most that chunks of one dataset may take, and its `cache_max_bytes` another
        limit for it. `cache_policy` says who leaves first: "lru", "mru", "lfu" or "s3-fifo". `cache_read_ahead` says whether chunks that a program will want next, if it goes on as it did, are decoded while it does
        something else: so if nothing is said. A number is how many bytes of them, instead of as many as the latency and bandwidth of the storage
        make necessary.

        `locking` says whether the file is locked against other processes: `True` (a file system without locks is an error), "best-effort" (also
        if nothing is said), `False`. The environment's HDF5_USE_FILE_LOCKING comes before it. With `swmr` and mode "r", a file that a SWMR writer
        has open is read. `external_access` says which other files the file may lead to, by external storage, external links and virtual datasets:
        those in its own folder ("inside"), any to be read but only those to be written ("read-anywhere"), or any ("anywhere"). What a program
        itself names when it makes a dataset can always be used.

        Opening a file that this process has open already shares it, as in h5py: each sees at once what the other writes.

        `durability` says what outlives a power failure: with "none", as in h5py, what the system has written by itself; with "flush", what
        was flushed or closed, unless more was being written; with "full", what was flushed last, at any moment. A killed process loses
        nothing that was flushed in either case.

        `retry` says how often a block of metadata is read whose checksum is wrong, because another process may be writing it: once if nothing is said. A
        thread sleeps for a millisecond in between, or for as many seconds as the second part of a pair says.

        With `evict_on_close`, what memory has of an object leaves when its last handle is dropped: its chunks and its metadata.
        Of a file that is only read, pages of metadata stay in the page buffer.

        Takes what `h5py.File` takes. `rdcc_nbytes` is another name of `cache_bytes`: one cache serves all datasets of a file. `rdcc_w0=1` means
        `cache_policy="s3-fifo"`, where chunks that were used once leave first, and `rdcc_w0=0` means "lru". `page_buf_size` is how much memory
        pages of metadata may take, 8 MiB if nothing is said. `page_strategy` says how values are read by means of these pages: "direct" (not at all, also if nothing is
        said), "fit" (if a request needs no more pages than there may be), "grow" (always, however many it needs) or "split" (the bytes of pages
        that are there). `min_meta_keep` and `min_raw_keep` are how many percent of them metadata and values keep then. `rdcc_nslots` must be right, and means nothing more: the cache has no slots. Drivers: "sec2", "stdio" and "core" for
        one file, "family" for a name such as "part%05d.h5", where `memb_size` says how many bytes each file of a new family has but the last,
        "split" for a pair whose common part is given, one for metadata and one for values, whose names end with `meta_ext` and `raw_ext`,
        and "fileobj" for objects. With "core" and `backing_store=False` the file is in memory only: nothing is ever written to the disk. With
        "core" alone the file is on the disk as any other, locked, and values may be written before it is flushed or closed.
        """
        if mode not in ("r", *_WRITING):
            raise ValueError("Invalid mode; must be one of r, r+, w, w-, x, a")
        if userblock_size is not None:
            if mode in ("r", "r+"):
                raise ValueError("User block may only be specified when creating a file")
            try:
                userblock_size = int(userblock_size)
            except (TypeError, ValueError):
                raise ValueError("User block size must be an integer") from None
            if userblock_size and (userblock_size < 512 or userblock_size & (userblock_size - 1)):
                raise ValueError("User block size must be 0, or a power of 2 and at least 512")
        check_options(driver, libver, locking, options)
        strategy = options.get("fs_strategy")
        if strategy is not None:
            if mode in ("r", "r+") or (mode == "a" and os.path.exists(name)):
                raise ValueError("Unable to set file space strategy of an existing file")
            if strategy not in ("fsm", "page", "aggregate", "none"):
                raise ValueError("Invalid file space strategy type")
        self._libver = libver_bounds(libver)
        order = _config.get_config().track_order if track_order is None else track_order
        made = settings(self._libver, userblock_size or 0, bool(order), options)
        nbytes = options.get("rdcc_nbytes")
        cache_bytes = int(nbytes) if cache_bytes is None and nbytes is not None else cache_bytes
        cache_policy = wanted_policy(options) if cache_policy is None else cache_policy
        made["cache"] = (cache_bytes, cache_max_bytes, cache_policy, cache_read_ahead, cache_dataset_bytes)
        made["pages"] = pages(options, mode in ("w", "w-", "x"), page_strategy)
        made["durability"] = durability
        made["retry"] = (retry, 0.001) if isinstance(retry, int) else retry
        made["evict_on_close"] = bool(evict_on_close)
        made["members"] = members(driver, options)
        sharing = {"locking": _locking(locking), "swmr": bool(swmr) and mode == "r", "external": external_access}
        sharing["family"] = driver == "family"
        opened = _open(name, driver, options, (mode, made), sharing)
        super().__init__(opened.root(), opened, "/")
        self._swmr = bool(swmr) and mode == "r"
        self._driver = "fileobj" if hasattr(name, "read") else driver
        if userblock_size is not None and opened.user_block != userblock_size:
            found = opened.user_block
            self.close()
            raise ValueError(
                f"Requested userblock size ({userblock_size}) does not match that of existing file ({found})"
            )

    @classmethod
    def _of(cls, opened: FileHandle) -> File:
        """A file that is open already."""
        file = object.__new__(File)
        Group.__init__(file, opened.root(), opened, "/")
        settings, _ = opened.opened_with or (None, None)
        file._swmr, file._driver, file._libver = False, None, (settings or {}).get("libver", libver_bounds(None))
        return file

    @property
    def filename(self) -> str:
        """The name that the file was opened with."""
        return self._opened.filename

    @property
    def mode(self) -> str:
        """"r" if the file can only be read, "r+" if it can be changed."""
        return "r+" if self._opened.is_writable else "r"

    @property
    def libver(self) -> tuple[str, str]:
        """The oldest and the newest library whose structures are written."""
        _ = self._opened.driver  # Fails if the file is closed.
        return self._libver

    @property
    def driver(self) -> str:
        """How the file lies on storage: "sec2" for one file, "family" for several, else what it was opened with."""
        found = self._opened.driver
        return self._driver if self._driver is not None and found in ("sec2", "other") else found

    @property
    def swmr_mode(self) -> bool:
        """Whether the file was opened as one that another program may be writing."""
        _ = self._opened.driver  # Fails if the file is closed.
        return self._swmr

    @property
    def userblock_size(self) -> int:
        """How many bytes lie before the HDF5 part of the file."""
        return self._opened.user_block

    @property
    def file(self) -> File:
        """Itself."""
        return self

    def close(self) -> None:
        """Writes what was changed and closes the file; no object of it can be used afterwards. Closing twice is allowed."""
        self._opened.close()

    def flush(self) -> None:
        """Writes what was changed so far. Whatever happens then, it can be read."""
        self._opened.flush()

    def cache_stats(self) -> dict[str, float]:
        """What the chunk cache did so far, for all datasets: `hits`, `misses`, chunks that were read (`loads`), `evictions`, chunks `written`,
        reads and writes past the cache (`bypasses`, `bypassed_bytes`); the `bytes` that it has now, and the most that it had, `peak_bytes`; how long
        chunks were decoded and encoded (`decode_seconds`, `encode_seconds`); how often and how long threads waited: for chunks that others loaded or
        wrote (`chunk_waits`, `chunk_wait_seconds`), for memory (`memory_waits`, `memory_wait_seconds`), and for requests before them that touch the
        same values (`range_waits`, `range_wait_seconds`).
        """
        return self._opened.cache_stats()

    def reset_cache_stats(self) -> None:
        """Counts anew from now on what the chunk cache does, for the file and for each dataset."""
        self._opened.reset_cache_stats()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 file>"
        return f'<HDF5 file "{os.path.basename(self.filename)}" (mode {self.mode})>'


def _locking(locking: bool | str | None) -> str:
    if locking is None:
        return "best-effort"
    return str(locking).lower() if isinstance(locking, bool) else locking


def _open(
    name: Any,
    driver: str | None,
    options: dict[str, Any],
    how: tuple[str, dict[str, Any]],
    sharing: dict[str, Any],
) -> FileHandle:
    mode = how[0]
    if hasattr(name, "read") and driver not in (None, "fileobj"):
        raise ValueError("Driver must be 'fileobj' for file-like object if specified.")
    if driver == "fileobj" or hasattr(name, "read"):
        file = options.get("fileobj", name)
        # Ahead of what is asked for, nothing is read: the object may be slow.
        sizes, policy, read_ahead, dataset = how[1]["cache"][:2], *how[1]["cache"][2:]
        cache = (*sizes, policy, read_ahead or False, dataset)
        return FileHandle.of_object(file, mode, {**how[1], "cache": cache}, sharing)
    path = os.fsdecode(name)
    if driver == "core" and mode != "r" and not options.get("backing_store", True):
        return _open_copy(path, how, sharing)
    if driver == "family" and "%" not in path:
        raise ValueError(f"a family of files has a name such as 'part%05d.h5', not {path!r}")
    return FileHandle(path, *how, sharing)


def _open_copy(path: str, how: tuple[str, dict[str, Any]], sharing: dict[str, Any]) -> FileHandle:
    """A file in memory that is stored nowhere. It begins with the bytes of the file at the path, unless it is to be made anew."""
    mode, made = how
    held = b""
    if mode == "r+" or (mode == "a" and os.path.exists(path) and os.path.getsize(path) > 0):
        # While it is open for reading, no other process writes it.
        with closing(FileHandle(path, "r", made, sharing)) as original:
            if original.is_writable:
                raise BlockingIOError(errno.EAGAIN, "this process has the file open for writing: close it first", path)
            with open(path, "rb") as file:
                held = file.read()
        # No other process has the copy.
        sharing = {**sharing, "locking": "false"}
    return FileHandle.of_bytes(held, "a" if mode in ("w-", "x") else mode, made, sharing, os.path.abspath(path))


def is_hdf5(name: str | bytes | os.PathLike[Any]) -> bool:
    """Whether there is a file of this name that can be opened as HDF5."""
    try:
        FileHandle(os.fsdecode(name), sharing=_LOOKING).close()
    except OSError:
        return False
    return True
