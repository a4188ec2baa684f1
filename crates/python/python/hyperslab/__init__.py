"""HDF5 files without libhdf5, with h5py's names.

>>> import hyperslab
>>> with hyperslab.File("data.h5") as f:        # doctest: +SKIP
...     temperature = f["run/temperature"]
...     temperature.shape, temperature.dtype, temperature.attrs["unit"]
...     noon = temperature[720, ::2]
"""

from ._attributes import AttributeManager
from ._base import Empty, HLObject
from ._config import get_config
from ._dataset import Dataset
from ._datatype import Datatype
from ._dtypes import (
    check_dtype,
    check_enum_dtype,
    check_opaque_dtype,
    check_ref_dtype,
    check_string_dtype,
    check_vlen_dtype,
    enum_dtype,
    opaque_dtype,
    ref_dtype,
    regionref_dtype,
    special_dtype,
    string_dtype,
    vlen_dtype,
)
from ._files import File, is_hdf5
from ._group import Group
from ._hyperslab import UNLIMITED, Reference, RegionReference, Space
from ._links import ExternalLink, HardLink, SoftLink, UserLink
from ._many import read_many, write_many
from ._selections import MultiBlockSlice
from ._structured import EncodedSection, SectionInfo, StructuredChunkInfo
from ._vds import VirtualLayout, VirtualSource

__all__ = [
    "UNLIMITED",
    "AttributeManager",
    "Dataset",
    "Datatype",
    "Empty",
    "EncodedSection",
    "ExternalLink",
    "File",
    "Group",
    "HLObject",
    "HardLink",
    "MultiBlockSlice",
    "Reference",
    "RegionReference",
    "SectionInfo",
    "SoftLink",
    "Space",
    "StructuredChunkInfo",
    "UserLink",
    "VirtualLayout",
    "VirtualSource",
    "check_dtype",
    "check_enum_dtype",
    "check_opaque_dtype",
    "check_ref_dtype",
    "check_string_dtype",
    "check_vlen_dtype",
    "enum_dtype",
    "get_config",
    "is_hdf5",
    "opaque_dtype",
    "read_many",
    "ref_dtype",
    "regionref_dtype",
    "special_dtype",
    "string_dtype",
    "vlen_dtype",
    "write_many",
]
