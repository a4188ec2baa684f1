//! Objects: names, headers, links, attributes.
//!
//! Lives here: what a header's messages make of an object, the links of a group in all their forms, paths. Does not live here:
//! bulk values, or the structures that links and attributes are kept in. Called by `hyperslab`.
//!
//! Each function that changes something is to be called inside of [`OpenFile::operate`](hyperslab_file::OpenFile::operate), and checks what
//! the user gave before it changes anything.

mod attributes;
mod change;
mod context;
mod counts;
mod dataset;
mod dense;
mod links;
mod mend;
mod new;
mod object;
mod parts;
mod path;
mod paths;
mod plan;
mod shared;
mod shared_blocks;
mod shared_change;
mod tree;
mod walk;

pub use attributes::{
    Attribute, InitialAttributes, NewAttribute, check_attribute, remove_attribute, rename_attribute, set_attribute,
    write_attribute,
};
pub use change::{guard, mark_lost, set_comment, set_extent, set_layout};
pub use context::Context;
pub use counts::{DropValues, delete_unnamed, without_name};
pub use hyperslab_file::{Error, Life, Result};
pub use hyperslab_format::message::{CharSet, Link, Target};
pub use links::{FreeName, Links, Name, add_all_waiting, add_waiting, link, link_new, relink, rename, unlink};
pub use mend::{may_lag, mend};
pub use new::{
    DatasetParts, GroupSettings, ObjectSettings, initial_attributes, new_dataset, new_datatype, new_group, new_root,
};
pub use object::{Body, Kind, Object};
pub use parts::NewType;
pub use path::{Beyond, Found, LinkBudget, Path, resolve};
pub use paths::{PathId, Paths};
pub use walk::{Surveyed, survey_shared};
