//! One file in this process: its engine, the openings that share it, its open datasets, and the other files that it leads to.
//!
//! ```text
//!  Session --> Opening --> Engine --> objects, chunk cache, heap
//!     |
//!     +--> OpenDataset --> range lock --> chunk cache, or the file
//!               |
//!               +--> sources of a virtual dataset, in this and in other files
//! ```
//!
//! Lives here: how files are opened, shared and closed, values of datasets as bytes, conversion on their way, values of variable length,
//! virtual datasets, and the error that programs see. Does not live here: handles, builders and Rust types of values (`hyperslab`).

mod attribute;
mod closed_objects;
mod current;
mod dataset;
mod datatype;
mod engine;
mod error;
mod external_access;
mod follow;
mod heap;
mod heap_object_run;
mod heap_objects;
mod heap_writer;
mod linked_files;
mod locking;
mod many;
mod members;
mod new_dataset;
mod new_location;
mod object;
mod opening;
mod opening_count;
mod options;
mod pending_objects;
mod piled;
mod reference;
mod renewal;
mod replaced_objects;
mod search;
mod session;
mod storage;
mod unnamed;
mod value_buffer;
mod virtual_dataset;
mod virtual_read_budget;

pub use attribute::OpenAttribute;
pub use current::Current;
pub use dataset::{
    ExternalName, Layout, MadeDataset, NewExternalFiles, OpenDataset, PlacedValues, StoredSize, VirtualName,
    too_many_elements,
};
pub use error::{Error, Lost, LostParts, Result};
pub use external_access::ExternalAccess;
pub use heap::{Heap, Sequences};
pub use heap_objects::HeapObjectId;
pub use heap_writer::HeapWriter;
pub use hyperslab_cache::{
    Config as CacheConfig, Policy as CachePolicy, ReadAhead, Statistics as CacheStatistics, Waits as CacheWaits,
};
pub use hyperslab_chunk::{EncodedSection, StructuredChunk, convert};
pub use locking::Locking;
pub use many::{Part, PartToWrite, prefetch, read_together, write_together};
pub use members::Members;
pub use new_dataset::{DatasetPlan, make_dataset};
pub use new_location::{NewLocation, NewObject, charset, name, untimed};
pub use object::{ObjectHandle, OpenObject};
pub use options::{Access, LinkResolver, Options, VirtualView};
pub use piled::{PileWriter, Piled};
pub use reference::{Part as ReferencePart, Referent, quoted};
pub use session::Session;
pub use storage::with_storage;
pub use unnamed::Opened;
pub use value_buffer::room;
