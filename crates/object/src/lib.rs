//! Objects: names, headers, links, attributes.
//!
//! Lives here: what a header's messages make of an object, the links of a group in all their forms, paths. Does not live here:
//! bulk values, or the structures that links and attributes are kept in. Called by `hyperslab`.

mod attributes;
mod context;
mod dataset;
mod links;
mod object;
mod path;
mod shared;
mod walk;

pub use attributes::Attribute;
pub use context::Context;
pub use hyperslab_file::{Error, Result};
pub use hyperslab_format::message::{CharSet, Link, Target};
pub use links::Links;
pub use object::{Body, Kind, Object};
pub use path::{Beyond, Found, LinkBudget, Path, resolve};
pub use walk::{Surveyed, survey_shared};
