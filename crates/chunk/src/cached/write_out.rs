//! Chunks on their way out: encoded on all cores, then written with one request, then entered in their indexes.

use std::{borrow::Cow, sync::Arc, time::Instant};

use hyperslab_cache::Taken;
use hyperslab_space::Coords;

use super::{Chunk, ChunkCache, Home, spread::spread};
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
    fn forms<'a>(&self, open: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Form<'a>>> {
        let mut coded = vec![false; self.taken.len()];
        let looked = self.home.look(&mut |layout| {
            coded = self.taken.iter().map(|(place, _)| layout.is_coded(place)).collect();
            Ok(())
        });
        looked.or_else(|why| if self.home.is_alive() { Err(why) } else { Ok(()) })?;
        let coder = &self.home.facts().coder;
        let items = self.taken.iter().zip(open).zip(coded);
        let items: Vec<_> = items.map(|(((place, _), bytes), coded)| (place, bytes, coded)).collect();
        spread(items, |(out, scratch): &mut (Vec<u8>, Vec<u8>), (place, bytes, coded)| {
            if !coded {
                return Ok(Form { bytes: Cow::Borrowed(bytes), mask: 0, coded });
            }
            let mask = coder.encode(place, bytes, out, scratch)?;
            // Filters take room for the worst case; what waits for the others takes what it has.
            Ok(Form { bytes: Cow::Owned(out.as_slice().to_vec()), mask, coded })
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
    let mut groups: Vec<Group> = Vec::new();
    for taken in taken {
        let (Some(shelf), Some(place)) = (taken.shelf(), taken.place().cloned()) else { continue };
        let known = groups.iter_mut().find(|group| Arc::ptr_eq(&group.home, shelf.home()));
        match known {
            Some(group) => group.taken.push((place, taken)),
            None => groups.push(Group { home: shelf.home().clone(), taken: vec![(place, taken)] }),
        }
    }
    groups.iter_mut().for_each(|group| group.taken.sort_by(|left, right| left.0.cmp(&right.0)));
    groups
}
