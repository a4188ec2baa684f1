//! What an operation does to the model.

use super::model::{Attribute, Dataset, Link, Model, Object, What};
use super::operation::referred;
use super::{Kind, NewDataset, Operation, Picked, Storage, numbers};
use std::collections::{BTreeMap, HashMap};

/// Larger copies would fill programs with more and more of the same.
const COPIED: usize = 12;

/// Why the model did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Every library refuses this.
    Refused,
    /// The model does not know what comes of it: no program does it.
    Unclear,
}

type Result<T> = std::result::Result<T, Refusal>;

impl Model {
    /// Does an operation, or says why not.
    ///
    /// # Errors
    /// If nothing changes.
    pub fn apply(&mut self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Group { path, ordered } => self.add(path, What::Group(BTreeMap::new(), *ordered)),
            Operation::Dataset(new) => self.dataset(new),
            Operation::Commit { path, kind } => self.add(path, What::Datatype(*kind)),
            Operation::Write { path, picked, seed, targets } => {
                let kind = self.dataset_at(path)?.kind;
                let count = picked.indices().iter().map(|along| along.len() as u64).product();
                let values = self.values(kind, *seed, count, targets)?;
                self.dataset_at(path)?.write(picked, &values)
            }
            Operation::Resize { path, shape } => self.dataset_at(path)?.resize(shape),
            Operation::Attribute { path, name, kind, committed, shape, seed, targets } => {
                self.check_committed(committed.as_deref(), *kind)?;
                let values = self.values(*kind, *seed, shape.iter().product(), targets)?;
                let attribute = Attribute { kind: *kind, shape: shape.clone(), values };
                self.object_at(path)?.attributes.insert(name.clone(), attribute);
                Ok(())
            }
            Operation::Unset { path, name } => {
                self.object_at(path)?.attributes.remove(name).map(drop).ok_or(Refusal::Refused)
            }
            Operation::Call { path, from, to } => {
                let attributes = &mut self.object_at(path)?.attributes;
                // libhdf5 refuses a name that is taken, but leaves a copy of the attribute in the heap, which later breaks it.
                if from == to || attributes.contains_key(to) {
                    return Err(Refusal::Unclear);
                }
                let attribute = attributes.remove(from).ok_or(Refusal::Refused)?;
                attributes.insert(to.clone(), attribute);
                Ok(())
            }
            Operation::Hard { path, target } => {
                let number = self.find(target)?;
                self.link(path, Link::Hard(number))
            }
            Operation::Soft { path, target } => self.link(path, Link::Soft(target.clone())),
            Operation::External { path, file, target } => self.link(path, Link::External(file.clone(), target.clone())),
            Operation::Move { from, to } => self.rename(from, to),
            Operation::Copy { from, to } => self.copy(from, to),
            Operation::Delete { path } => self.delete(path),
            Operation::Flush => Ok(()),
        }
    }

    /// The object that a path of hard links leads to.
    pub fn find(&self, path: &str) -> Result<usize> {
        path.split('/').filter(|name| !name.is_empty()).try_fold(0, |number, name| {
            match self.links(number)?.get(name) {
                Some((_, Link::Hard(next))) => Ok(*next),
                Some(_) => Err(Refusal::Unclear),
                None => Err(Refusal::Refused),
            }
        })
    }

    pub(super) fn links(&self, number: usize) -> Result<&BTreeMap<String, (u64, Link)>> {
        match self.objects.get(number).map(|object| &object.what) {
            Some(What::Group(links, _)) => Ok(links),
            _ => Err(Refusal::Refused),
        }
    }

    fn links_mut(&mut self, number: usize) -> Result<&mut BTreeMap<String, (u64, Link)>> {
        match self.objects.get_mut(number).map(|object| &mut object.what) {
            Some(What::Group(links, _)) => Ok(links),
            _ => Err(Refusal::Refused),
        }
    }

    fn object_at(&mut self, path: &str) -> Result<&mut Object> {
        let number = self.find(path)?;
        self.objects.get_mut(number).ok_or(Refusal::Unclear)
    }

    fn dataset_at(&mut self, path: &str) -> Result<&mut Dataset> {
        match &mut self.object_at(path)?.what {
            What::Dataset(dataset) => Ok(dataset),
            _ => Err(Refusal::Unclear),
        }
    }

    fn add(&mut self, path: &str, what: What) -> Result<()> {
        self.link(path, Link::Hard(self.objects.len()))?;
        // Groups on the way may have been made: the new object is the last, and the link says so.
        let number = self.objects.len();
        let (parent, name) = split(path);
        let parent = self.find(parent)?;
        if let Some((_, link)) = self.links_mut(parent)?.get_mut(name) {
            *link = Link::Hard(number);
        }
        self.objects.push(Object { what, attributes: BTreeMap::new() });
        Ok(())
    }

    /// Makes a link, and the groups before it that are missing.
    fn link(&mut self, path: &str, link: Link) -> Result<()> {
        let (parents, name) = split(path);
        let mut number = 0;
        // Nothing is made if it cannot all be made.
        let mut missing = false;
        for parent in parents.split('/').filter(|name| !name.is_empty()) {
            match self.links(number)?.get(parent) {
                Some((_, Link::Hard(next))) => number = *next,
                Some(_) => return Err(Refusal::Unclear),
                None => {
                    missing = true;
                    break;
                }
            }
        }
        if !missing && self.links(number)?.contains_key(name) {
            return Err(Refusal::Refused);
        }
        number = 0;
        for parent in parents.split('/').filter(|name| !name.is_empty()) {
            number = match self.links(number)?.get(parent) {
                Some((_, Link::Hard(next))) => *next,
                _ => {
                    let (new, order) = (self.objects.len(), self.next());
                    // Such groups are like the one that they are in.
                    let what = What::Group(BTreeMap::new(), self.is_ordered(number));
                    self.objects.push(Object { what, attributes: BTreeMap::new() });
                    self.links_mut(number)?.insert(parent.into(), (order, Link::Hard(new)));
                    new
                }
            };
        }
        let order = self.next();
        self.links_mut(number)?.insert(name.into(), (order, link));
        Ok(())
    }

    fn is_ordered(&self, number: usize) -> bool {
        matches!(self.objects.get(number), Some(Object { what: What::Group(_, true), .. }))
    }

    fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn unlink(&mut self, path: &str) -> Result<Link> {
        let (parent, name) = split(path);
        let parent = self.find(parent)?;
        self.links_mut(parent)?.remove(name).map(|(_, link)| link).ok_or(Refusal::Refused)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let mut moved = self.clone();
        let link = moved.unlink(from)?;
        // Into itself: what is there of the way to the new name must be there without the old one.
        let mut way = to;
        while let Some((before, _)) = way.rsplit_once('/') {
            if self.find(before).is_ok() && moved.find(before) != self.find(before) {
                return Err(Refusal::Unclear);
            }
            way = before;
        }
        if self.find(to) != Err(Refusal::Refused) {
            return Err(if from == to { Refusal::Unclear } else { Refusal::Refused });
        }
        moved.link(to, link)?;
        *self = moved;
        Ok(())
    }

    /// It is unknown what becomes of references to what is gone: another object may get its place.
    fn delete(&mut self, path: &str) -> Result<()> {
        let mut without = self.clone();
        without.unlink(path)?;
        let names = without.first_names();
        let there = |values: &[u64]| {
            values.iter().filter_map(|value| value.checked_sub(1)).all(|number| names.contains_key(&(number as usize)))
        };
        for object in names.keys().filter_map(|number| without.objects.get(*number)) {
            let held = match &object.what {
                What::Dataset(dataset) if dataset.kind == Kind::Reference => &dataset.values[..],
                _ => &[],
            };
            let mut attributes = object.attributes.values().filter(|attribute| attribute.kind == Kind::Reference);
            if !there(held) || !attributes.all(|attribute| there(&attribute.values)) {
                return Err(Refusal::Unclear);
            }
        }
        *self = without;
        Ok(())
    }

    /// A copy of everything that an object leads to, each object once.
    fn copy(&mut self, from: &str, to: &str) -> Result<()> {
        let first = self.find(from)?;
        let mut copies = vec![first];
        let mut at = 0;
        while let Some(&number) = copies.get(at) {
            at += 1;
            for (_, link) in self.links(number).into_iter().flat_map(BTreeMap::values) {
                if let Link::Hard(next) = link
                    && !copies.contains(next)
                {
                    copies.push(*next);
                }
            }
            if copies.len() > COPIED {
                return Err(Refusal::Unclear);
            }
        }
        // Into itself: how much of it is copied depends on when the groups on the way are made.
        let mut way = to;
        while let Some((before, _)) = way.rsplit_once('/') {
            if self.find(before).is_ok_and(|number| copies.contains(&number)) {
                return Err(Refusal::Unclear);
            }
            way = before;
        }
        let mut with = self.clone();
        let places = copies.iter().enumerate().map(|(nth, number)| (*number, self.objects.len() + nth));
        let places: HashMap<usize, usize> = places.collect();
        for number in copies {
            let mut object = self.objects.get(number).cloned().ok_or(Refusal::Unclear)?;
            // References: libhdf5 copies none in chunks, and those in attributes refer to nothing then.
            let held = matches!(&object.what, What::Dataset(dataset) if dataset.kind == Kind::Reference);
            if held || object.attributes.values().any(|attribute| attribute.kind == Kind::Reference) {
                return Err(Refusal::Unclear);
            }
            if let What::Group(links, _) = &mut object.what {
                for (_, link) in links.values_mut() {
                    if let Link::Hard(next) = link {
                        *next = places.get(next).copied().ok_or(Refusal::Unclear)?;
                    }
                }
            }
            with.objects.push(object);
        }
        with.link(to, Link::Hard(self.objects.len()))?;
        *self = with;
        Ok(())
    }

    /// The numbers of values.
    fn values(&self, kind: Kind, seed: u64, count: u64, targets: &[String]) -> Result<Vec<u64>> {
        let numbers = numbers(seed, count);
        if kind != Kind::Reference {
            return Ok(numbers);
        }
        let targets = targets.iter().map(|path| self.find(path).map_err(|_| Refusal::Unclear));
        let targets = targets.collect::<Result<Vec<usize>>>()?;
        let place = |number| referred(&targets, number).map_or(0, |target| *target as u64 + 1);
        Ok(numbers.into_iter().map(place).collect())
    }

    fn check_committed(&self, path: Option<&str>, kind: Kind) -> Result<()> {
        let Some(path) = path else { return Ok(()) };
        let named = self.objects.get(self.find(path)?).map(|object| &object.what);
        if matches!(named, Some(What::Datatype(named)) if *named == kind) { Ok(()) } else { Err(Refusal::Unclear) }
    }

    fn dataset(&mut self, new: &NewDataset) -> Result<()> {
        self.check_committed(new.committed.as_deref(), new.kind)?;
        let (fill, count) = (new.fill.unwrap_or(0), new.shape.iter().product());
        let values = match new.seed {
            Some(seed) => self.values(new.kind, seed, count, &new.targets)?,
            None => vec![fill; count as usize],
        };
        let max = new.max.clone().unwrap_or_else(|| new.shape.iter().copied().map(Some).collect());
        let chunked = matches!(new.storage, Storage::Chunks(_));
        let (kind, shape) = (new.kind, new.shape.clone());
        self.add(&new.path, What::Dataset(Dataset { kind, shape, max, chunked, fill, values }))
    }
}

impl Dataset {
    fn write(&mut self, picked: &Picked, values: &[u64]) -> Result<()> {
        let indices = picked.indices();
        if indices.len() != self.shape.len() {
            return Err(Refusal::Unclear);
        }
        let mut places: Vec<Vec<u64>> = vec![Vec::new()];
        for along in &indices {
            places = places.iter().flat_map(|index| along.iter().map(|&at| [&index[..], &[at]].concat())).collect();
        }
        let found: Option<Vec<usize>> = places.iter().map(|index| self.place(index)).collect();
        let found = found.ok_or(Refusal::Refused)?;
        for (place, number) in found.iter().zip(values) {
            if let Some(value) = self.values.get_mut(*place) {
                *value = *number;
            }
        }
        Ok(())
    }

    fn resize(&mut self, shape: &[u64]) -> Result<()> {
        if shape.len() != self.shape.len() || shape.is_empty() || !self.chunked {
            return Err(Refusal::Unclear);
        }
        if shape.iter().zip(&self.max).any(|(size, max)| max.is_some_and(|max| *size > max)) {
            return Err(Refusal::Refused);
        }
        *self = self.resized(shape);
        Ok(())
    }
}

/// The path before the last name, and that name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
