//! What stored references refer to.
//!
//! ```text
//!  object    | address O |                               zero or all ones: null
//!  region    | heap O | index, 4 |                       no address: null; in the heap: | address O | selection |
//!  revised   | kind | flags | size, 4 | heap O | index, 4 |      no kind: null; in the heap the body
//!            | kind | flags | body |                     an object of this file
//!  body      | length | token | (external: string) | (region: size, 4 | rank, 4 | selection) | (attribute: string) |
//!  string    | length, 2 | bytes |
//! ```
//!
//! Of values that have what is of variable length in their chunks, references are [encoded](Datatype::encoded_reference): what stands in the heap elsewhere is a sequence of bytes. Of
//! revised ones kind and flags come before it.

use std::fmt::{self, Display, Formatter, Write};

use hyperslab_base::{Malformed, Reader, Width};
use hyperslab_dtype::{Arena, Class, Datatype, Reference};
use hyperslab_space::{Extent, MAX_RANK, Space};

use crate::{Error, Heap, OpenObject, Result};

/// What a reference refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Referent {
    /// The file that the object is in, as the reference names it; none for the file that holds the reference.
    pub file: Option<Vec<u8>>,
    /// Where the object's header is.
    pub address: u64,
    /// What of the object is meant.
    pub part: Part,
}

/// What of an object a reference means.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The object itself.
    Object,
    /// Some elements of a dataset. How large one in another file is, the reference does not say; its sizes are zero.
    Region(Box<Space>),
    /// The attribute with this name.
    Attribute(Vec<u8>),
}

/// The name of the structure in errors.
const WHAT: &str = "reference";

/// The flag of a reference into another file.
const EXTERNAL: u8 = 1;

/// The kinds of revised references.
const OBJECT: u8 = 2;
const REGION: u8 = 3;
const ATTRIBUTE: u8 = 4;

impl Heap<'_> {
    /// What a reference refers to, given its type and its bytes; nothing if it is null.
    pub fn dereference(&self, datatype: &Datatype, bytes: &[u8]) -> Result<Option<Referent>> {
        let Class::Reference(reference) = datatype.class() else {
            return Err(Reader::new(WHAT, bytes).refuse(format!("{datatype} is no type of references")).into());
        };
        if datatype.encoded_reference().is_some() {
            let why = "it is encoded, and what it says is not in the heap of the file; follow it with its arena";
            return Err(Reader::new(WHAT, bytes).refuse(why).into());
        }
        if self.is_null(*reference, bytes) {
            return Ok(None);
        }
        match reference {
            Reference::Object if bytes.iter().all(|&byte| byte == 0xff) => Ok(None),
            Reference::Object => {
                let mut reader = Reader::new(WHAT, bytes);
                let width = u8::try_from(bytes.len()).ok().and_then(Width::new);
                let width = width.ok_or_else(|| reader.refuse(format!("an address of {} bytes", bytes.len())))?;
                let address = reader.uint(width)?;
                Ok(Some(Referent { file: None, address, part: Part::Object }))
            }
            Reference::Region => self.region(bytes).map(Some),
            Reference::Revised(_) => self.revised(bytes).map(Some),
        }
    }

    /// As [`Heap::dereference`], also of a reference that is encoded: what it says is in `arena`.
    pub fn dereference_in(&self, arena: &Arena, datatype: &Datatype, bytes: &[u8]) -> Result<Option<Referent>> {
        let Some(kind) = datatype.encoded_reference() else { return self.dereference(datatype, bytes) };
        match arena.get(bytes, 1)? {
            None | Some([]) => Ok(None),
            Some(said) => self.decode_reference(kind, said).map(Some),
        }
    }

    /// What an encoded reference refers to, given all that it says.
    pub fn decode_reference(&self, kind: Reference, said: &[u8]) -> Result<Referent> {
        match kind {
            Reference::Region => self.region_of(said),
            Reference::Revised(_) => {
                let mut reader = Reader::new(WHAT, said);
                let (kind, flags) = (reader.u8()?, reader.u8()?);
                self.body(kind, flags & EXTERNAL != 0, reader.rest())
            }
            Reference::Object => Err(Reader::new(WHAT, said).refuse("a reference to an object is an address").into()),
        }
    }

    /// All that a reference as the file has it says; nothing if it is null.
    pub fn encoded_reference(&self, kind: Reference, stored: &[u8]) -> Result<Option<Vec<u8>>> {
        if self.is_null(kind, stored) {
            return Ok(None);
        }
        let mut reader = Reader::new(WHAT, stored);
        match kind {
            Reference::Region => self.heap_object(&mut reader).map(Some),
            Reference::Revised(_) => {
                let (kind, flags) = (reader.u8()?, reader.u8()?);
                let mut said = vec![kind, flags];
                if kind == OBJECT && flags & EXTERNAL == 0 {
                    let body = reader.rest();
                    let length = body.first().map_or(0, |length| usize::from(*length));
                    said.extend_from_slice(body.get(..1 + length).unwrap_or(body));
                } else {
                    reader.skip(4)?;
                    said.extend(self.heap_object(&mut reader)?);
                }
                Ok(Some(said))
            }
            Reference::Object => Err(reader.refuse("a reference to an object is an address").into()),
        }
    }

    /// The bytes behind the address or kind of a null reference may be anything.
    fn is_null(&self, kind: Reference, bytes: &[u8]) -> bool {
        let telling = match kind {
            Reference::Object | Reference::Region => self.session().file().widths().offsets.bytes(),
            Reference::Revised(_) => 1,
        };
        bytes.iter().take(telling).all(|&byte| byte == 0)
    }

    fn region(&self, bytes: &[u8]) -> Result<Referent> {
        self.region_of(&self.heap_object(&mut Reader::new(WHAT, bytes))?)
    }

    fn region_of(&self, body: &[u8]) -> Result<Referent> {
        let widths = self.session().file().widths();
        let mut reader = Reader::new(WHAT, body);
        let address = reader.uint(widths.offsets)?;
        let part = self.selection(address, reader.rest())?;
        Ok(Referent { file: None, address, part })
    }

    fn revised(&self, bytes: &[u8]) -> Result<Referent> {
        let mut reader = Reader::new(WHAT, bytes);
        let (kind, flags) = (reader.u8()?, reader.u8()?);
        let external = flags & EXTERNAL != 0;
        if kind == OBJECT && !external {
            return self.body(kind, external, reader.rest());
        }
        reader.skip(4)?;
        let body = self.heap_object(&mut reader)?;
        self.body(kind, external, &body)
    }

    /// What a reference keeps in the heap.
    fn heap_object(&self, reader: &mut Reader<'_>) -> Result<Vec<u8>> {
        let widths = self.session().file().widths();
        let (address, index) = (reader.uint(widths.offsets)?, reader.u32()?);
        self.object(address, index)
    }

    fn body(&self, kind: u8, external: bool, bytes: &[u8]) -> Result<Referent> {
        let mut reader = Reader::new(WHAT, bytes);
        let length = usize::from(reader.u8()?);
        let token = reader.take(length)?;
        let address = Reader::new(WHAT, token).uint(self.session().file().widths().offsets)?;
        let file = if external { Some(string(&mut reader)?) } else { None };
        let part = match kind {
            OBJECT => Part::Object,
            REGION => {
                reader.skip(4)?;
                let rank = reader.u32()? as usize;
                if external {
                    let sizes = [0; MAX_RANK];
                    let sizes = sizes.get(..rank).ok_or_else(|| reader.refuse(format!("{rank} dimensions")))?;
                    Part::Region(Box::new(Space::decode_selection(Extent::simple(sizes)?, reader.rest())?.0))
                } else {
                    self.selection(address, reader.rest())?
                }
            }
            ATTRIBUTE => Part::Attribute(string(&mut reader)?),
            other => return Err(reader.refuse(format!("unknown kind {other}")).into()),
        };
        Ok(Referent { file, address, part })
    }

    /// A selection of the dataset at an address.
    fn selection(&self, address: u64, selection: &[u8]) -> Result<Part> {
        match self.session().at(address)? {
            OpenObject::Dataset(dataset) => {
                Ok(Part::Region(Box::new(Space::decode_selection(dataset.extent(), selection)?.0)))
            }
            other => {
                let path = format!("the object at {address:#x}");
                Err(Error::Kind { path, found: other.kind(), wanted: "dataset" })
            }
        }
    }
}

fn string(reader: &mut Reader<'_>) -> std::result::Result<Vec<u8>, Malformed> {
    let length = usize::from(reader.u16()?);
    Ok(reader.take(length)?.to_vec())
}

impl Display for Referent {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.part {
            Part::Object => out.write_str("object")?,
            Part::Region(space) => write!(out, "{} elements of the dataset", space.npoints())?,
            Part::Attribute(name) => {
                out.write_str("attribute ")?;
                quoted(out, name)?;
                out.write_str(" of the object")?;
            }
        }
        write!(out, " at {:#x}", self.address)?;
        match &self.file {
            Some(file) => {
                out.write_str(" of ")?;
                quoted(out, file)
            }
            None => Ok(()),
        }
    }
}

/// Writes text in quotes; bytes that are no characters as `\x..`.
pub fn quoted(out: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    out.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\'' => out.write_char(letter)?,
                _ => write!(out, "{}", letter.escape_debug())?,
            }
        }
        chunk.invalid().iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))?;
    }
    out.write_char('"')
}
