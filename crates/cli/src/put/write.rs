//! Writing what `put` was told to: first a rehearsal, then the file.

use super::attribute::Attribute;
use super::{fit, round};
use crate::arguments::{Kind, Put};
use crate::failure::Failure;
use crate::storing::Sections;
use hyperslab::driver::Memory;
use hyperslab::dtype::{Class, Datatype};
use hyperslab::{Dataset, Error, File, Group, NewDataset, Node, OpenOptions, Storable, Target};
use std::str::FromStr;
use std::sync::Arc;

/// What is to be written.
pub(super) struct Job<'a> {
    pub(super) options: &'a Put,
    pub(super) words: Option<&'a [String]>,
    pub(super) attributes: &'a [Attribute<'a>],
}

impl Job<'_> {
    /// Writes values and attributes. An error that is not one of the storage has changed nothing.
    pub(super) fn run(&self, file: &File) -> Result<(), Failure> {
        let (root, path) = (file.root()?, self.options.path.as_str());
        let there = match file.get(path) {
            Ok(node) => Some(node),
            Err(Error::Missing(_)) => None,
            Err(why) => return Err(self.object(why)),
        };
        match (self.words, there) {
            (None, there) => {
                self.rehearse(None)?;
                let group = || root.require_group(path).map(Node::Group).map_err(|why| self.object(why));
                self.set(&there.map_or_else(group, Ok)?)
            }
            (Some(words), Some(Node::Dataset(dataset))) if !self.describes() => {
                self.check(words, &dataset)?;
                self.rehearse(None)?;
                overwrite(&dataset, words).map_err(|why| self.object(why))?;
                self.set(&Node::Dataset(dataset))
            }
            (Some(words), Some(old @ Node::Dataset(_))) => {
                self.rehearse(Some(words))?;
                self.replace(&root, &old, words)
            }
            (Some(_), Some(other)) => Err(Failure::NotDataset { path: path.into(), kind: other.kind() }),
            (Some(words), None) => {
                self.rehearse(Some(words))?;
                let dataset = self.create(&root, Some(path), words)?;
                self.set(&Node::Dataset(dataset))
            }
        }
    }

    fn object(&self, why: Error) -> Failure {
        Failure::Object { path: self.options.path.clone(), why: Box::new(why) }
    }

    /// Whether it is said what the dataset is like.
    fn describes(&self) -> bool {
        let Put { kind, shape, chunks, filter, sparse, .. } = self.options;
        kind.is_some() || shape.is_some() || chunks.is_some() || filter.is_some() || *sparse
    }

    /// Whether words are values of a dataset that is there.
    fn check(&self, words: &[String], dataset: &Dataset) -> Result<(), Failure> {
        let (path, wanted) = (self.options.path.clone(), dataset.len());
        match wanted == words.len() as u64 {
            true => fit::check(&path, words, dataset.datatype(), &dataset.shape()),
            false => Err(Failure::Count { path, wanted, given: words.len() }),
        }
    }

    /// Makes everything that is new in memory, where it fails as it would in the file.
    fn rehearse(&self, new: Option<&[String]>) -> Result<(), Failure> {
        let bounds = OpenOptions::new().libver_min(self.options.libver_min).libver_max(self.options.libver_max);
        let scratch = bounds.truncate().open_on(Arc::new(Memory::new()))?;
        let root = scratch.root()?;
        let node = match new {
            Some(words) => Node::Dataset(self.create(&root, None, words)?),
            None => Node::Group(root),
        };
        self.set(&node)
    }

    fn set(&self, node: &Node) -> Result<(), Failure> {
        self.attributes.iter().try_for_each(|attribute| attribute.set(node)).map_err(|why| self.object(why))
    }

    /// Makes a dataset anew, with the attributes of the old one, which goes when the new one is complete.
    fn replace(&self, root: &Group, old: &Node, words: &[String]) -> Result<(), Failure> {
        let path = self.options.path.as_str();
        let names = old.hard_links().map_err(|why| self.object(why))?;
        if names > 1 {
            return Err(Failure::ManyNames { path: path.into(), names });
        }
        let (group, name) = self.hard_link(root)?;
        let home = old.file().root().map_err(|why| self.object(why))?;
        let new = Node::Dataset(self.create(&home, None, words)?);
        old.copy_attributes_to(&new).map_err(|why| self.object(why))?;
        self.set(&new)?;
        group.replace(name, &new).map_err(|why| self.object(why))
    }

    /// The group and the name of the hard link to a dataset that is there: the path may lead to it by links to other paths, which stay.
    fn hard_link(&self, root: &Group) -> Result<(Group, Vec<u8>), Failure> {
        let (mut group, mut path) = (root.clone(), self.options.path.clone().into_bytes());
        loop {
            let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".");
            let mut names: Vec<&[u8]> = names.collect();
            let name = names.pop().unwrap_or_default().to_vec();
            let start = if path.starts_with(b"/") { group.file().root() } else { Ok(group) };
            let last = start.and_then(|start| names.iter().try_fold(start, |group, name| group.group(name)));
            group = last.map_err(|why| self.object(why))?;
            match group.link(&name).map_err(|why| self.object(why))?.map(|link| link.target) {
                Some(Target::Hard(_)) => return Ok((group, name)),
                Some(Target::Soft(target)) => path = target,
                Some(_) => return Err(Failure::OtherFiles(self.options.path.clone())),
                None => return Err(self.object(Error::Missing(String::from_utf8_lossy(&path).into_owned()))),
            }
        }
    }

    /// Makes a dataset with these values, at a path or without a name.
    fn create(&self, root: &Group, path: Option<&str>, words: &[String]) -> Result<Dataset, Failure> {
        match self.options.kind.unwrap_or_else(|| usual(words)) {
            Kind::I8 => self.write::<i8>(root, path, words),
            Kind::I16 => self.write::<i16>(root, path, words),
            Kind::I32 => self.write::<i32>(root, path, words),
            Kind::I64 => self.write::<i64>(root, path, words),
            Kind::U8 => self.write::<u8>(root, path, words),
            Kind::U16 => self.write::<u16>(root, path, words),
            Kind::U32 => self.write::<u32>(root, path, words),
            Kind::U64 => self.write::<u64>(root, path, words),
            Kind::F32 => self.write::<f32>(root, path, words),
            Kind::F64 => self.write::<f64>(root, path, words),
            Kind::Text => self.write::<String>(root, path, words),
        }
    }

    fn write<T: Storable + FromStr>(
        &self,
        root: &Group,
        path: Option<&str>,
        words: &[String],
    ) -> Result<Dataset, Failure> {
        let Put { shape, chunks, filter, sparse, section_filter, path: told, .. } = self.options;
        let is_stored = chunks.is_some() || *sparse || filter.as_ref().is_some_and(|filters| !filters.is_empty());
        let shape = match shape {
            Some(shape) => shape.0.clone(),
            None if words.len() == 1 && !is_stored => Vec::new(),
            None => vec![words.len() as u64],
        };
        fit::check(told, words, &T::datatype()?, &shape)?;
        let new: NewDataset = root.new_dataset::<T>();
        let new = if shape.is_empty() { new.scalar() } else { new.shape(&shape) };
        let new = chunks.iter().fold(new, |new, chunk| new.chunks(&chunk.0));
        let new = if *sparse { new.sparse() } else { new };
        let new = filter.iter().fold(new, |new, filters| filters.give(new, shape.len()));
        let new = section_filter.iter().cloned().collect::<Sections>().give(new, shape.len());
        let values = parsed::<T>(words)?;
        let made = match path {
            Some(path) => new.write(path, &values),
            None => new.write_unnamed(&values),
        };
        made.map_err(|why| self.object(why))
    }
}

/// Values that are words of their type, in the type that holds all of them.
fn overwrite(dataset: &Dataset, words: &[String]) -> Result<(), Error> {
    let trouble = |why: Failure| Error::Value(why.to_string());
    match basis(dataset.datatype()) {
        Class::Fixed(fixed) if fixed.signed => dataset.write(&parsed::<i128>(words).map_err(trouble)?),
        Class::Fixed(_) | Class::Bitfield(_) => dataset.write(&parsed::<u128>(words).map_err(trouble)?),
        Class::Float(float) if u32::from(float.mantissa.size) + 2 < f64::MANTISSA_DIGITS => {
            let number = |word: &String| round::to_odd(word).ok_or_else(|| trouble(Failure::Value(word.clone())));
            dataset.write(&words.iter().map(number).collect::<Result<Vec<_>, _>>()?)
        }
        Class::Float(_) => dataset.write(&parsed::<f64>(words).map_err(trouble)?),
        _ => dataset.write(words),
    }
}

/// What the values of a type are made of.
fn basis(datatype: &Datatype) -> &Class {
    match datatype.class() {
        Class::Enum(names) => basis(names.base()),
        Class::Complex(part) => basis(part),
        class => class,
    }
}

/// The type of values if the user gives none.
fn usual(words: &[String]) -> Kind {
    let all = |are: fn(&str) -> bool| words.iter().all(|word| are(word));
    match () {
        () if all(|word| word.parse::<i64>().is_ok()) => Kind::I64,
        () if all(|word| word.parse::<u64>().is_ok()) => Kind::U64,
        () if all(|word| word.parse::<f64>().is_ok()) => Kind::F64,
        () => Kind::Text,
    }
}

fn parsed<T: FromStr>(words: &[String]) -> Result<Vec<T>, Failure> {
    let one = |text: &String| text.parse().map_err(|_| Failure::Value(text.clone()));
    words.iter().map(one).collect()
}
