//! Attributes of an object come and go: inside of its header or outside, and from one to the other.

use hyperslab_file::Result;
use hyperslab_format::{
    message::{Shared, kind},
    object_header::Flags,
    version,
};
use hyperslab_structures::Vacant;

use super::{
    attribute_message::decode,
    dense::{Body, Dense, NO_ORDER, Stored},
    holder::{AttributeLocation, Holder, MAX_MESSAGE},
};

impl Holder<'_> {
    /// The place in the order of creation that the next attribute takes.
    pub(super) fn next_order(&mut self) -> u32 {
        if !self.info.tracked {
            return NO_ORDER;
        }
        let order = self.info.next_order;
        self.info.next_order = order.saturating_add(1);
        order.into()
    }

    /// Adds an attribute: inside if there is room, else all go outside, where it belongs if that is known.
    pub(super) fn insert(&mut self, name: &[u8], stored: Stored, vacant: Option<Vacant>) -> Result<()> {
        let (context, file) = (self.context, self.context.file());
        if let Some(dense) = &mut self.dense {
            dense.storage.detach(file)?;
            dense.insert(context, name, &stored, vacant)?;
            self.by = dense.storage.published_by(self.context.file(), self.address);
            return Ok(());
        }
        let [most, _] = self.header.prefix().attribute_limits.unwrap_or([8, 6]);
        let few = self.header.all(kind::ATTRIBUTE).count() < usize::from(most);
        if self.is_old() || few && stored.size() <= MAX_MESSAGE {
            return self.add(stored);
        }
        let mut dense = Dense::create(context, self.address, &self.info)?;
        let inside: Vec<_> = self.header.all(kind::ATTRIBUTE).collect();
        for id in inside {
            let moved = self.inside(id)?;
            let bytes = self.bytes(&moved)?;
            dense.insert(context, decode(&bytes, self.address)?.name, &moved, None)?;
            self.header.remove(id);
        }
        dense.insert(context, name, &stored, None)?;
        self.dense = Some(dense);
        Ok(())
    }

    /// Takes an attribute out. Few that lie outside come in again.
    pub(super) fn remove(&mut self, name: &[u8], location: AttributeLocation) -> Result<()> {
        let (context, file) = (self.context, self.context.file());
        let occupied = match location {
            AttributeLocation::Inside(id) => {
                self.header.remove(id);
                return Ok(());
            }
            AttributeLocation::Outside(occupied) => occupied,
        };
        let [_, fewest] = self.header.prefix().attribute_limits.unwrap_or([8, 6]);
        let Some(dense) = &mut self.dense else { return Ok(()) };
        dense.storage.detach(file)?;
        dense.remove(context, name, occupied)?;
        self.by = dense.storage.published_by(self.context.file(), self.address);
        if dense.storage.len() >= u64::from(fewest) {
            return Ok(());
        }
        let all = dense.all(context)?;
        if all.iter().all(|stored| stored.size() <= MAX_MESSAGE) {
            all.into_iter().try_for_each(|stored| self.add(stored))?;
            self.dense.take().map_or(Ok(()), |dense| dense.storage.delete(file))?;
            (self.info.heap, self.info.names, self.info.orders) = (None, None, None);
            self.by = self.address;
        }
        Ok(())
    }

    /// Puts an attribute in the place of another one, and ends.
    pub(super) fn put(
        mut self,
        (old, location): (&[u8], AttributeLocation),
        (new, stored): (&[u8], Stored),
    ) -> Result<()> {
        match (location, &stored.body, &mut self.dense) {
            (AttributeLocation::Inside(id), Body::Here(body), _) if body.len() <= MAX_MESSAGE => {
                self.header.replace_flagged(id, stored.flags, body.clone())?;
            }
            (AttributeLocation::Outside(occupied), _, Some(dense)) => {
                dense.storage.detach(self.context.file())?;
                dense.remove(self.context, old, occupied)?;
                dense.insert(self.context, new, &stored, None)?;
                self.by = dense.storage.published_by(self.context.file(), self.address);
            }
            (location, ..) => {
                self.remove(old, location)?;
                self.insert(new, stored, None)?;
            }
        }
        self.finish().map(|_| ())
    }

    /// Writes the header; the block whose write makes all changes visible.
    pub(super) fn finish(mut self) -> Result<u64> {
        let (file, address) = (self.context.file(), self.address);
        let inside = self.header.all(kind::ATTRIBUTE).count() as u64;
        let count = self.dense.as_ref().map_or(inside, |dense| dense.storage.len());
        self.dense.iter().for_each(|dense| dense.storage.name_in(&mut self.info));
        let found = self.header.find(kind::ATTRIBUTE_INFO);
        let body = self.info.encode(file.widths())?;
        match found {
            Some(id) if count == 0 => {
                if let Some(dense) = self.dense.take() {
                    dense.storage.delete(file)?;
                    self.by = address;
                }
                self.header.remove(id);
            }
            Some(id) => self.header.replace(id, body)?,
            None if self.is_old() || count == 0 => {}
            None => {
                self.header.add(kind::ATTRIBUTE_INFO, Flags::NEVER_SHARED, None, body)?;
            }
        }
        self.header.touch();
        self.header.save()?;
        self.dense.iter().try_for_each(|dense| dense.storage.before(file, address))?;
        Ok(self.by)
    }

    /// Adds an attribute to the header.
    fn add(&mut self, stored: Stored) -> Result<()> {
        let body = match stored.body {
            Body::Here(body) => body,
            Body::Shared(id) => {
                let location = Shared::Heap(id);
                location.encode(version::shared(&location), self.context.file().widths())?
            }
        };
        let order = u16::try_from(stored.order).ok();
        self.header.add(kind::ATTRIBUTE, stored.flags, order, body)?;
        Ok(())
    }

    /// Takes such objects away, and ends.
    pub(super) fn mend(mut self) -> Result<()> {
        self.dense = self.dense.take().map(|dense| dense.anew(self.context, self.address, &self.info)).transpose()?;
        self.finish().map(drop)
    }
}
