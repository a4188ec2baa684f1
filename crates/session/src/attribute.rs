//! Attributes as they were read.

use std::{borrow::Cow, ops::Deref, sync::Arc};

use hyperslab_file::{Handle, Reading};
use hyperslab_object::{Attribute, Life, Object};

use crate::{Error, Result, Session};

/// An attribute of an object, as it was when it was read.
#[derive(Clone, Debug)]
pub struct OpenAttribute {
    /// What keeps the object that it belongs to.
    _handle: Option<Arc<Handle>>,
    session: Session,
    owner: Life,
    stored: Attribute,
}

impl OpenAttribute {
    /// An attribute of the object `owner`.
    pub fn new(session: &Session, (owner, handle): (Life, Option<Arc<Handle>>), stored: Attribute) -> OpenAttribute {
        OpenAttribute { _handle: handle, session: session.clone(), owner, stored }
    }

    /// The file that it is in.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Its name, as text.
    pub fn name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stored.name)
    }

    /// The attribute as it is now.
    pub fn renewed(&self) -> Result<OpenAttribute> {
        let context = self.session.context();
        let _held = context.file().reading();
        self.session.check_alive(self.owner)?;
        let now = Object::open(context, self.owner.address())?.find_attribute(context, &self.stored.name)?;
        let stored = now.ok_or_else(|| Error::Missing(format!("attribute {}", self.name())))?;
        Ok(OpenAttribute { stored, ..self.clone() })
    }

    /// Holds changes off while its values are looked up in the heap; an error if they are not the ones that were read.
    pub fn held(&self) -> Result<Reading<'_>> {
        let context = self.session.context();
        let held = context.file().reading();
        if context.file().is_writable() && self.stored.datatype.has_vlen() {
            self.session.check_alive(self.owner)?;
            let now = Object::open(context, self.owner.address())?.find_attribute(context, &self.stored.name)?;
            if now.is_none_or(|now| now.data != self.stored.data) {
                return Err(Error::Outdated(self.name().into_owned()));
            }
        }
        Ok(held)
    }
}

impl Deref for OpenAttribute {
    type Target = Attribute;

    fn deref(&self) -> &Attribute {
        &self.stored
    }
}
