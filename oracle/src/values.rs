//! Values as bytes, the same as `making/datatype_text.py` makes of libhdf5's.

use crate::hex;
use crate::ours::positions;
use hyperslab::dtype::{Arena, Class, Datatype, Reference, Source};
use hyperslab::space::Space;
use hyperslab::{Dataset, File, Heap, Node};
use sha2::{Digest, Sha256};
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Longer values are compared by their digest.
const SHOWN: usize = 64;

/// Short values as they are, long ones as a digest.
pub fn hashed(bytes: &[u8]) -> String {
    if bytes.len() <= SHOWN { hex(bytes) } else { format!("sha256:{}", hex(&Sha256::digest(bytes))) }
}

/// The selected values of a dataset.
///
/// # Errors
/// If Hyperslab cannot read them.
pub fn stored(dataset: &Dataset, selection: &Space) -> Result<String> {
    let bytes = dataset.read_stored_selection(selection)?;
    Ok(hashed(&encode(&dataset.file(), dataset.datatype(), &bytes)?))
}

/// The selected values of a dataset, as values of another type.
///
/// # Errors
/// If Hyperslab cannot read or convert them.
pub fn converted(dataset: &Dataset, selection: &Space, memory: &Datatype) -> Result<String> {
    let places = Space::simple(&[selection.npoints()])?;
    let mut bytes = vec![0; selection.npoints() as usize * memory.size()];
    dataset.read_converted(selection, memory, &places, &mut bytes, &mut Arena::default())?;
    Ok(hashed(&bytes))
}

/// Values without what differs between file and memory.
pub(crate) fn encode(file: &File, datatype: &Datatype, bytes: &[u8]) -> Result<Vec<u8>> {
    if !datatype.has_vlen() && !datatype.has_reference() {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::new();
    Encoder { file, heap: file.heap() }.several(datatype, bytes, &mut out)?;
    Ok(out)
}

struct Encoder<'a> {
    file: &'a File,
    heap: Heap<'a>,
}

impl Encoder<'_> {
    fn several(&self, datatype: &Datatype, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        bytes.chunks_exact(datatype.size()).try_for_each(|value| self.one(datatype, value, out))
    }

    fn one(&self, datatype: &Datatype, value: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match datatype.class() {
            Class::Compound(compound) if datatype.has_vlen() || datatype.has_reference() => {
                for member in compound.members() {
                    let at = member.offset as usize;
                    let part = value.get(at..at + member.datatype.size()).ok_or("a member outside its compound")?;
                    self.one(&member.datatype, part, out)?;
                }
                Ok(())
            }
            Class::Array(array) => self.several(array.base(), value, out),
            Class::Vlen(vlen) => {
                let found = self.heap.sequence(value, vlen.base.size())?;
                let (count, bytes) = found.map_or((0, Vec::new()), |found| (found.count, found.bytes.into_owned()));
                let bytes = bytes.get(..count * vlen.base.size()).ok_or("a sequence that is not all there")?;
                if vlen.text.is_some() {
                    sized(bytes.split(|&byte| byte == 0).next().unwrap_or(bytes), out);
                    return Ok(());
                }
                out.extend((count as u64).to_le_bytes());
                self.several(&vlen.base, bytes, out)
            }
            Class::Reference(reference) => self.reference(*reference, value, out),
            _ => {
                out.extend_from_slice(value);
                Ok(())
            }
        }
    }

    fn reference(&self, reference: Reference, value: &[u8], out: &mut Vec<u8>) -> Result<()> {
        // A null reference may have any bytes behind its kind or address.
        let tell = if let Reference::Revised(_) = reference { 1 } else { self.width() };
        if value.iter().take(tell).all(|&byte| byte == 0) {
            out.extend([0; 8]);
            return Ok(());
        }
        match reference {
            Reference::Object => out.extend(number(value).to_le_bytes()),
            Reference::Region => {
                let object = self.object(value)?;
                let (target, selection) = object.split_at_checked(self.width()).ok_or("a short region")?;
                self.region(number(target), selection, out)?;
            }
            Reference::Revised(_) => {
                self.revised(value, out).map_err(|why| format!("reference {}: {why}", hex(value)))?;
            }
        }
        Ok(())
    }

    /// The object of the global heap that a place names: `| address | index, 4 |`.
    fn object(&self, place: &[u8]) -> Result<Vec<u8>> {
        let (address, index) = place.split_at_checked(self.width()).ok_or("a short heap id")?;
        let index = index.get(..4).ok_or("a short heap id")?;
        Ok(self.heap.object(number(address), number(index) as u32)?)
    }

    fn region(&self, target: u64, selection: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let Node::Dataset(dataset) = self.file.at(target)? else { return Err("a region of no dataset".into()) };
        let (space, _) = Space::decode_selection(dataset.extent().clone(), selection)?;
        out.extend(target.to_le_bytes());
        out.extend(space.npoints().to_le_bytes());
        out.extend(positions(&space)?.into_iter().flat_map(u64::to_le_bytes));
        Ok(())
    }

    /// `| kind | flags | token size | token |` for an object; else `| kind | flags | size, 4 | heap place |` and in the heap
    /// `| token size | token | size, 4 | rank, 4 | selection |` or `| token size | token | length, 2 | name |`.
    fn revised(&self, value: &[u8], out: &mut Vec<u8>) -> Result<()> {
        const OBJECT: u8 = 2;
        const REGION: u8 = 3;
        let kind = *value.first().ok_or("a short reference")?;
        let rest = match kind {
            OBJECT => value.get(2..).ok_or("a short reference")?.to_vec(),
            _ => self.object(value.get(6..).ok_or("a short reference")?)?,
        };
        let (size, rest) = rest.split_first().ok_or("a short token")?;
        let (token, rest) = rest.split_at_checked(usize::from(*size)).ok_or("a short token")?;
        let target = number(token.get(..self.width()).ok_or("a short token")?);
        match kind {
            OBJECT => out.extend(target.to_le_bytes()),
            REGION => self.region(target, rest.get(8..).ok_or("a short region")?, out)?,
            _ => {
                out.extend(target.to_le_bytes());
                let (length, name) = rest.split_at_checked(2).ok_or("a short name")?;
                sized(name.get(..number(length) as usize).ok_or("a short name")?, out);
            }
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.file.address_width()
    }
}

fn sized(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
