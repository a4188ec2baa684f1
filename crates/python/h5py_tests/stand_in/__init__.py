"""Hyperslab in the place of h5py, for h5py's own tests: its names, and the few of the lower level that the tests need in passing."""

import sys
from types import ModuleType, SimpleNamespace

import hyperslab
from hyperslab import *  # noqa: F403
from hyperslab import _config, _dtypes, _filter_options
from hyperslab._base import HLObject
from hyperslab._hyperslab import UNLIMITED, filter_available

from . import low_level

__version__ = "3.16.0"


def _module(name: str, **members: object) -> ModuleType:
    module = ModuleType(f"h5py.{name}")
    module.__dict__.update(members)
    sys.modules[module.__name__] = module
    parent = sys.modules["h5py" if "." not in name else f"h5py.{name.rsplit('.', 1)[0]}"]
    setattr(parent, name.rsplit(".", 1)[-1], module)
    return module


class _Lock:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


_NAMES = ("gzip", "lzf", "szip", "shuffle", "fletcher32", "scaleoffset")

_module("version", hdf5_version_tuple=(2, 0, 0), version_tuple=(3, 16, 0), hdf5_version="2.0.0", version="3.16.0")
_module("_objects", phil=_Lock())
_module("h5py_warnings", H5pyDeprecationWarning=DeprecationWarning, H5pyWarning=Warning)
_module("h5", get_config=_config.get_config, UNLIMITED=UNLIMITED)
_module("h5f", UNLIMITED=UNLIMITED)
_module("h5z", FILTER_DEFLATE=1, FILTER_SHUFFLE=2, FILTER_FLETCHER32=3, FILTER_LZF=32000, filter_avail=filter_available)
_module("h5d", **low_level.H5D)
_module("h5s", **low_level.H5S)
_module("h5t", **{name: getattr(_dtypes, name) for name in dir(_dtypes) if name[0] != "_"}, **low_level.H5T)
_module("h5a", **low_level.H5A)
_module("h5r", Reference=hyperslab.Reference, RegionReference=hyperslab.RegionReference, DATASET_REGION=1)
_module("h5g", GroupID=object)
_module("h5p", **low_level.H5P)
_module("h5o")
_module("h5l")
_module("h5ds", **low_level.H5DS)
_module("filters", encode=_NAMES, decode=_NAMES)
_module("_hl")
_module("_hl.base", is_empty_dataspace=low_level.is_empty, product=low_level.product, HLObject=HLObject)
_module("_hl.dataset", _LEGACY_GZIP_COMPRESSION_VALS=_filter_options.LEVELS, Dataset=hyperslab.Dataset)
_module("_hl.files", direct_vfd=False, mpi=False, File=hyperslab.File)
_module("_hl.compat", filename_encode=low_level.filename_encode)
_module("_hl.vds", vds_support=True)
_module("_hl.selections")
_module("_hl.filters", encode=_NAMES)

low_level.extend(hyperslab)
registered_drivers = lambda: frozenset({"sec2", "stdio", "core", "family", "split", "fileobj"})  # noqa: E731
get_config = _config.get_config
AttributeManager = hyperslab.AttributeManager
_features = SimpleNamespace()
