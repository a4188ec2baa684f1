//! `#[derive(hyperslab::Element)]`: structs for compounds, enums for enumerations.
//!
//! Lives here: what the macro writes. Does not live here: anything that runs when values are read; the code written calls
//! `hyperslab` for all of it.

mod attributes;
mod enums;
mod structs;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, Error, parse_macro_input, spanned::Spanned};

/// Makes a struct or an enum an `Element`, so that values can be read as it.
///
/// A struct takes the members of a compound that have the names of its fields, in any order; members without a field are
/// not read. Fields may be whatever is an `Element` itself: numbers, strings, vectors, arrays, other such structs.
///
/// | attribute of a field or variant | meaning |
/// |---|---|
/// | `#[hyperslab(rename = "name")]` | its name in files |
/// | `#[hyperslab(default)]` | a field whose member may be missing; it is `Default::default()` then |
///
/// A struct with `#[repr(C)]` that is `bytemuck::Pod` may say `#[hyperslab(pod)]`: then its values are read straight to their
/// place.
///
/// An enum without fields takes an enumeration, by the names of its variants.
#[proc_macro_derive(Element, attributes(hyperslab))]
pub fn element(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let written = match &input.data {
        Data::Struct(data) => structs::write(&input, &data.fields),
        Data::Enum(data) => enums::write(&input, data),
        Data::Union(data) => {
            Err(Error::new(data.union_token.span(), "a union cannot be an Element: its bytes do not say what it holds"))
        }
    };
    written.unwrap_or_else(|why| why.to_compile_error()).into()
}
