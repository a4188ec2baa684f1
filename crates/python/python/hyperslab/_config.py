"""Settings for everything that is made from now on."""

from __future__ import annotations


class Config:
    """Settings, as `get_config` gives them."""

    def __init__(self) -> None:
        self.track_order = False
        self.default_file_mode = "r"
        self.bool_names = (b"FALSE", b"TRUE")
        self.complex_names = ("r", "i")


_config = Config()


def get_config() -> Config:
    """The settings. `track_order` says whether new groups and datasets keep the order in which things are made.

    >>> get_config().track_order
    False
    """
    return _config
