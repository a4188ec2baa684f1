//! Header messages: one file each, named as the specification names them.

mod attribute;
mod data_layout;
mod dataset_filters;
mod dense_info;
mod external_files;
mod file_space_info;
mod fill_value;
mod filter_pipeline;
mod group_info;
mod link;
mod plain;
mod section_filters;
mod shared;
mod small;

pub use attribute::Attribute;
pub use data_layout::{ArrayShape, ChunkIndex, ChunkStructure, DataLayout, Layout};
pub use dataset_filters::DatasetFilters;
pub use dense_info::{AttributeInfo, CreationOrder, DenseInfo, LinkInfo};
pub use external_files::{ExternalFiles, ExternalSlot};
pub use file_space_info::{FileSpaceInfo, SpaceStrategy};
pub use fill_value::{AllocTime, FillTime, FillValue, FillWrite};
pub use filter_pipeline::{FilterPipeline, FilterStep};
pub use group_info::GroupInfo;
pub use link::{CharSet, Link, Target};
pub use plain::{
    BOGUS, bogus, comment, encode_bogus, encode_comment, encode_modification_time, encode_old_modification_time,
    encode_reference_count, modification_time, old_modification_time, reference_count,
};
pub use section_filters::SectionFilters;
pub use shared::Shared;
pub use small::{BtreeK, CacheImage, Continuation, DriverInfo, SharedTable, SymbolTable};

/// The types of header messages.
pub mod kind {
    /// Space without meaning.
    pub const NIL: u16 = 0x00;
    /// The extent of a dataset.
    pub const DATASPACE: u16 = 0x01;
    /// Where the links of a new-style group are.
    pub const LINK_INFO: u16 = 0x02;
    /// The type of a dataset's elements.
    pub const DATATYPE: u16 = 0x03;
    /// The fill value, in its first form.
    pub const OLD_FILL_VALUE: u16 = 0x04;
    /// The fill value.
    pub const FILL_VALUE: u16 = 0x05;
    /// One link.
    pub const LINK: u16 = 0x06;
    /// External files that hold a dataset's values.
    pub const EXTERNAL_FILES: u16 = 0x07;
    /// How and where a dataset's values are stored.
    pub const DATA_LAYOUT: u16 = 0x08;
    /// Limits of a new-style group.
    pub const GROUP_INFO: u16 = 0x0a;
    /// The filters of a dataset's chunks.
    pub const FILTER_PIPELINE: u16 = 0x0b;
    /// One attribute.
    pub const ATTRIBUTE: u16 = 0x0c;
    /// A comment.
    pub const COMMENT: u16 = 0x0d;
    /// The modification time, in its first form.
    pub const OLD_MODIFICATION_TIME: u16 = 0x0e;
    /// Where the shared message table is.
    pub const SHARED_TABLE: u16 = 0x0f;
    /// Where the header goes on.
    pub const CONTINUATION: u16 = 0x10;
    /// Where the links of an old-style group are.
    pub const SYMBOL_TABLE: u16 = 0x11;
    /// The modification time.
    pub const MODIFICATION_TIME: u16 = 0x12;
    /// The K of B-trees.
    pub const BTREE_K: u16 = 0x13;
    /// What a driver left.
    pub const DRIVER_INFO: u16 = 0x14;
    /// Where the attributes of an object are.
    pub const ATTRIBUTE_INFO: u16 = 0x15;
    /// How many hard links an object has.
    pub const REFERENCE_COUNT: u16 = 0x16;
    /// How file space is managed.
    pub const FILE_SPACE_INFO: u16 = 0x17;
    /// Where the image of the metadata cache is.
    pub const CACHE_IMAGE: u16 = 0x18;
    /// The filters of the sections of a dataset's structured chunks.
    pub const SECTION_FILTERS: u16 = 0x19;
    /// A type that only tests of libhdf5 know.
    pub const BOGUS: u16 = 0x09;
    /// The first unknown type.
    pub const UNKNOWN: u16 = 0x1a;
    /// An unknown type: it keeps readers from an object that stands for one that could not be read.
    pub const LOST: u16 = 0xfd;
}
