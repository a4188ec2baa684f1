//! Chunks on their way out: encoded on all cores, then written with one request, then entered in their indexes.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Instant};

use hyperslab_cache::{Taken, assert_no_locks_held};
use hyperslab_driver::cores;
use hyperslab_space::Coords;

use super::{Chunk, ChunkCache, Home};
use crate::{Image, Reserved, Result};

/// Chunks of one dataset, by rising place.
struct Group {
    home: Arc<dyn Home>,
    taken: Vec<(Coords, Taken<Chunk>)>,
}

/// A chunk as the file will have it.
struct Form<'a> {
    bytes: Cow<'a, [u8]>,
    mask: u32,
    coded: bool,
}

impl ChunkCache {
    /// Writes chunks, of any datasets. Those of datasets that are no more are forgotten.
    pub(super) fn write_out(&self, taken: Vec<Taken<Chunk>>) -> Result<()> {
        let groups = grouped(taken);
        let Some(first) = groups.first() else { return Ok(()) };
        let file = first.home.file();
        {
            // Whoever wants to change a chunk waits until it is written.
            let open: Vec<Vec<_>> =
                groups.iter().map(|group| group.taken.iter().map(|(_, taken)| taken.read()).collect()).collect();
            let (mut forms, begun) = (Vec::with_capacity(groups.len()), Instant::now());
            for (group, open) in groups.iter().zip(&open) {
                forms.push(group.forms(open.iter().map(|chunk| chunk.as_ref().map_or(&[][..], |chunk| &chunk.bytes)))?);
            }
            self.cache.encoded_for(begun.elapsed());
            assert_no_locks_held("before chunks are written");
            file.operate(|| {
                let alive: Vec<_> = groups.iter().zip(&forms).filter(|(group, _)| group.home.is_alive()).collect();
                let mut reserved = Vec::with_capacity(alive.len());
                for (group, forms) in &alive {
                    reserved.push(group.reserve(forms)?);
                }
                let forms =
                    alive.iter().zip(&reserved).flat_map(|((_, forms), space)| space.addresses.iter().zip(*forms));
                let parts: Vec<_> = forms.map(|(address, form)| (*address, &*form.bytes)).collect();
                if !parts.is_empty() {
                    file.write_raw("chunk", &parts)?;
                }
                alive.iter().zip(reserved).try_for_each(|((group, _), space)| group.insert(space))
            })?;
        }
        groups.into_iter().flat_map(|group| group.taken).for_each(|(_, taken)| taken.written());
        Ok(())
    }
}

impl Group {
    /// The chunks as the file will have them.
    fn forms<'a>(&'a self, open: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Form<'a>>> {
        // How many bytes of each are stored if they are not coded.
        let mut plain = vec![None; self.taken.len()];
        let looked = self.home.look(&mut |layout| {
            let size = |place: &Coords| usize::try_from(layout.plain_size(place)).unwrap_or(usize::MAX);
            let plain_size = |place: &Coords| (!layout.is_coded(place)).then(|| size(place));
            plain = self.taken.iter().map(|(place, _)| plain_size(place)).collect();
            Ok(())
        });
        looked.or_else(|why| if self.home.is_alive() { Err(why) } else { Ok(()) })?;
        let coder = self.home.facts().coder.as_ref();
        let items = self.taken.iter().zip(open).zip(plain);
        let items: Vec<_> = items.map(|((taken, bytes), plain)| (taken, bytes, plain)).collect();
        cores::map(items, |(out, scratch): &mut (Vec<u8>, Vec<u8>), ((place, taken), bytes, plain)| {
            let Some(coder) = coder.filter(|_| plain.is_none()) else {
                let bytes = plain.and_then(|size| bytes.get(..size)).unwrap_or(bytes);
                return Ok(Form { bytes: Cow::Borrowed(bytes), mask: 0, coded: false });
            };
            if let Some(ahead) = taken.encoded() {
                let mask = u32::try_from(ahead.note).unwrap_or(0);
                return Ok(Form { bytes: Cow::Borrowed(ahead.bytes.as_slice()), mask, coded: true });
            }
            let mask = coder.encode(place, bytes, out, scratch)?;
            // Filters take room for the worst case; what waits for the others takes what it has.
            Ok(Form { bytes: Cow::Owned(out.as_slice().to_vec()), mask, coded: true })
        })
    }

    fn reserve(&self, forms: &[Form<'_>]) -> Result<Reserved> {
        let images = self.taken.iter().zip(forms).map(|((place, _), form)| Image {
            place: place.clone(),
            bytes: &form.bytes,
            mask: form.mask,
            coded: form.coded,
        });
        let (images, mut reserved) = (images.collect::<Vec<_>>(), Reserved::default());
        self.home.change(&mut |layout| {
            reserved = layout.reserve(self.home.file(), &images)?;
            Ok(false)
        })?;
        Ok(reserved)
    }

    fn insert(&self, reserved: Reserved) -> Result<()> {
        let mut reserved = Some(reserved);
        self.home.change(&mut |layout| layout.insert(self.home.file(), reserved.take().unwrap_or_default()))
    }
}

/// By dataset, and by rising place.
fn grouped(taken: Vec<Taken<Chunk>>) -> Vec<Group> {
    let mut groups: BTreeMap<u64, Group> = BTreeMap::new();
    for taken in taken {
        let (Some(shelf), Some(place)) = (taken.shelf(), taken.place().cloned()) else { continue };
        let group = groups.entry(shelf.number());
        let group = group.or_insert_with(|| Group { home: shelf.home().clone(), taken: Vec::new() });
        group.taken.push((place, taken));
    }
    groups.values_mut().for_each(|group| group.taken.sort_by(|left, right| left.0.cmp(&right.0)));
    groups.into_values().collect()
}
