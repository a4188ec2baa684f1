//! Datatypes as a file has them.

use hyperslab_dtype::{Class, Datatype};

use crate::{Error, Result, Session};

impl Session {
    /// The same datatype where references into the file are as wide as its addresses. One that makes no sense is refused.
    pub fn in_file(&self, datatype: &Datatype) -> Result<Datatype> {
        if !is_sensible(datatype) {
            return Err(Error::Create(format!("{datatype}: an enumeration needs names")));
        }
        Ok(datatype.in_file(self.file().widths().offsets)?)
    }
}

fn is_sensible(datatype: &Datatype) -> bool {
    match datatype.class() {
        Class::Enum(names) => names.members().len() > 0,
        Class::Compound(compound) => compound.members().iter().all(|member| is_sensible(&member.datatype)),
        Class::Array(array) => is_sensible(array.base()),
        Class::Vlen(vlen) => is_sensible(&vlen.base),
        _ => true,
    }
}
