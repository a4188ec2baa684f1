//! Random operations that suit the model: most of them can be done.

use super::kind::KINDS;
use super::model::{Dataset, Link, Model, What};
use super::{Kind, NewDataset, Operation, Picked, Storage};
use std::collections::HashSet;

/// What programs may do.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Groups may have several names, so that they can hold themselves.
    pub loops: bool,
    /// Attributes may be larger than a header's message.
    pub large_attributes: bool,
    /// Sizes take four bytes, in which libhdf5 knows no size without limit, and copies no values of variable length.
    pub narrow: bool,
    /// Values may be references.
    pub references: bool,
    /// One in so many operations is a flush.
    pub flushes: u32,
}

/// A source of operations; equal seeds give equal ones.
pub struct Writer {
    random: fastrand::Rng,
    style: Style,
}

impl Writer {
    /// Starts from a seed.
    pub fn new(seed: u64, style: Style) -> Writer {
        Writer { random: fastrand::Rng::with_seed(seed), style }
    }

    /// Whether something happens that happens once in so many times.
    pub fn one_in(&mut self, times: u32) -> bool {
        self.random.u32(0..times) == 0
    }

    /// A number below another one.
    pub fn below(&mut self, end: usize) -> usize {
        self.random.usize(0..end.max(1))
    }

    /// The next operation.
    pub fn operation(&mut self, model: &Model) -> Operation {
        if self.one_in(self.style.flushes) {
            return Operation::Flush;
        }
        let path = self.new_path(model);
        let objects = paths(model, |_| true);
        // The first objects get most attributes, so that some have many.
        let few = objects.get(..objects.len().min(3)).unwrap_or_default().to_vec();
        let target = if self.one_in(3) { self.pick(&few) } else { self.pick(&objects) };
        match self.random.u32(0..100) {
            0..10 => Operation::Group { path, ordered: self.one_in(4) },
            10..32 => self.new_dataset(model, path),
            32..34 => Operation::Commit { path, kind: self.kind() },
            34..50 => self.write(model).unwrap_or(Operation::Flush),
            50..58 => self.resize(model).unwrap_or(Operation::Flush),
            58..74 => self.attribute(model, target),
            74..78 => Operation::Unset { name: self.attribute_of(model, &target), path: target },
            78..81 => {
                let (from, to) = (self.attribute_of(model, &target), self.attribute_name());
                Operation::Call { path: target, from, to }
            }
            81..84 => {
                let loops = self.style.loops;
                let targets = paths(model, |what| loops || !matches!(what, What::Group(..)));
                let target = self.pick(&targets);
                if target == "/" { Operation::Soft { path, target } } else { Operation::Hard { path, target } }
            }
            84..86 => Operation::Soft { path, target },
            86 => Operation::External { path, file: "other file.h5".into(), target },
            87..91 => {
                let links = links(model);
                Operation::Move { from: self.pick(&links), to: path }
            }
            91..94 if !self.style.narrow => Operation::Copy { from: self.pick(&objects), to: path },
            _ => {
                let links = links(model);
                Operation::Delete { path: self.pick(&links) }
            }
        }
    }

    fn pick(&mut self, paths: &[String]) -> String {
        let at = self.below(paths.len());
        paths.get(at).cloned().unwrap_or_else(|| "/nothing".into())
    }

    /// Where something new may go; seldom something is there already, or groups on the way are missing.
    fn new_path(&mut self, model: &Model) -> String {
        let groups = paths(model, |what| matches!(what, What::Group(..)));
        // The first groups get most, so that some become large.
        let few = groups.get(..groups.len().min(3)).unwrap_or_default().to_vec();
        let group = if self.one_in(2) { self.pick(&few) } else { self.pick(&groups) };
        let name = match self.random.u32(0..10) {
            0 => format!("way {}/end", self.below(20)),
            1 => format!("a name of more than a few characters {}", self.below(1000)),
            2..5 => format!("{}", self.below(10)),
            _ => format!("n{}", self.below(1000)),
        };
        format!("{}/{name}", group.trim_end_matches('/'))
    }

    fn kind(&mut self) -> Kind {
        // References are the last.
        let at = self.below(KINDS.len() - usize::from(!self.style.references));
        KINDS.get(at).copied().unwrap_or(Kind::I4)
    }

    fn attribute_name(&mut self) -> String {
        format!("attribute {}", self.below(14))
    }

    fn attribute_of(&mut self, model: &Model, path: &str) -> String {
        let object = model.find(path).ok().and_then(|number| model.objects.get(number));
        let names: Vec<String> = object.map(|object| object.attributes.keys().cloned().collect()).unwrap_or_default();
        if names.is_empty() || self.one_in(20) { self.attribute_name() } else { self.pick(&names) }
    }

    /// What references refer to.
    fn targets(&mut self, model: &Model, kind: Kind) -> Vec<String> {
        let objects = if kind == Kind::Reference { paths(model, |_| true) } else { Vec::new() };
        (0..objects.len().min(3)).map(|_| self.pick(&objects)).collect()
    }

    /// A committed datatype, perhaps, and the kind of values that have it or any other.
    fn committed(&mut self, model: &Model) -> (Option<String>, Kind) {
        let types = paths(model, |what| matches!(what, What::Datatype(_)));
        let committed = (!types.is_empty() && self.one_in(5)).then(|| self.pick(&types));
        let named = committed.as_ref().and_then(|path| model.objects.get(model.find(path).ok()?));
        match named.map(|object| &object.what) {
            Some(What::Datatype(kind)) => (committed, *kind),
            _ => (None, self.kind()),
        }
    }

    fn attribute(&mut self, model: &Model, path: String) -> Operation {
        let large = self.style.large_attributes && self.one_in(25);
        let shape = match self.random.u32(0..4) {
            _ if large => vec![20_000],
            0 => Vec::new(),
            1 => vec![self.random.u64(1..4), self.random.u64(1..5)],
            _ => vec![self.random.u64(1..30)],
        };
        let (committed, kind) = if large { (None, Kind::I4) } else { self.committed(model) };
        let (name, targets) = (self.attribute_name(), self.targets(model, kind));
        Operation::Attribute { path, name, kind, committed, shape, seed: self.random.u64(0..1000), targets }
    }

    fn new_dataset(&mut self, model: &Model, path: String) -> Operation {
        let (committed, kind) = self.committed(model);
        let rank = [0, 1, 1, 1, 2, 2, 3][self.below(7)];
        let most = [1, 300, 30, 9].get(rank).copied().unwrap_or(1);
        let mut shape: Vec<u64> = (0..rank).map(|_| self.random.u64(1..=most)).collect();
        let mut max = None;
        let storage = match self.random.u32(0..10) {
            _ if rank == 0 => Storage::Contiguous,
            0 => Storage::Compact,
            1..3 => Storage::Contiguous,
            _ => {
                let narrow = self.style.narrow;
                let limit = |size: u64, random: &mut fastrand::Rng| match random.u32(0..4) {
                    0 if !narrow => None,
                    1 => Some(size + random.u64(0..20)),
                    _ => Some(size),
                };
                let limits: Vec<_> = shape.iter().map(|&size| limit(size, &mut self.random)).collect();
                let chunk = shape.iter().map(|&size| self.random.u64(1..=size.min(40))).collect::<Vec<_>>();
                // Many chunks make trees and arrays with several blocks; too many take too long.
                let enough = |chunk: &[u64]| {
                    shape.iter().zip(chunk).map(|(size, side)| size.div_ceil(*side)).product::<u64>() <= 150
                };
                let chunk = if enough(&chunk) { chunk } else { shape.clone() };
                max = Some(limits);
                if self.one_in(8) {
                    let grows = |(size, max): (&u64, &Option<u64>)| if max.is_none() { 0 } else { *size };
                    shape = shape.iter().zip(max.iter().flatten()).map(grows).collect();
                }
                Storage::Chunks(chunk)
            }
        };
        let chunked = matches!(storage, Storage::Chunks(_));
        let blocks = matches!(&storage, Storage::Chunks(chunk) if chunk.iter().product::<u64>() >= 8);
        let filters = if chunked && self.one_in(2) { self.filters(kind, blocks) } else { Vec::new() };
        let fill = (kind.is_number() && self.one_in(3)).then(|| self.random.u64(1..90));
        let seed = (!self.one_in(4)).then(|| self.random.u64(0..1000));
        let early = !matches!(storage, Storage::Compact) && self.one_in(5);
        // libhdf5 cannot resize them before they have a chunk.
        let plain = !filters.is_empty() && seed.is_some() && !shape.contains(&0) && self.one_in(3);
        let targets = self.targets(model, kind);
        Operation::Dataset(NewDataset {
            path,
            kind,
            committed,
            shape,
            max,
            storage,
            filters,
            plain,
            fill,
            early,
            seed,
            targets,
        })
    }

    /// Filters for a kind; `blocks` says that chunks have enough elements for one that wants blocks of them.
    fn filters(&mut self, kind: Kind, blocks: bool) -> Vec<&'static str> {
        let sets: [&[&str]; 8] = [
            &["shuffle", "deflate"],
            &["deflate"],
            &["lzf"],
            &["shuffle", "deflate", "fletcher32"],
            &["fletcher32"],
            &["scaleoffset"],
            &["nbit"],
            &["szip"],
        ];
        // libhdf5 refuses filters that are not optional for what is of variable length.
        let end = match kind {
            Kind::Text | Kind::List | Kind::Note => 3,
            kind if kind.is_integer() => sets.len() - usize::from(!blocks),
            _ => 5,
        };
        let at = self.below(end);
        sets.get(at).map(|set| set.to_vec()).unwrap_or_default()
    }

    fn some_dataset<'a>(
        &mut self,
        model: &'a Model,
        wanted: impl Fn(&Dataset) -> bool,
    ) -> Option<(String, &'a Dataset)> {
        let datasets = paths(model, |what| matches!(what, What::Dataset(dataset) if wanted(dataset)));
        if datasets.is_empty() {
            return None;
        }
        let path = self.pick(&datasets);
        match &model.objects.get(model.find(&path).ok()?)?.what {
            What::Dataset(dataset) => Some((path, dataset)),
            _ => None,
        }
    }

    fn write(&mut self, model: &Model) -> Option<Operation> {
        let (path, dataset) = self.some_dataset(model, |dataset| !dataset.values.is_empty())?;
        let whole = self.one_in(4);
        let mut slab = |size: u64| {
            if whole {
                return (0, size, 1);
            }
            let start = self.random.u64(0..size);
            let step = self.random.u64(1..4);
            (start, self.random.u64(1..=(size - start).div_ceil(step)), step)
        };
        let slabs: Vec<_> = dataset.shape.iter().map(|&size| slab(size)).collect();
        let rows = dataset.shape.first().copied().filter(|_| !whole && self.one_in(5));
        let rows = rows.map(|size| (0..size).filter(|_| self.one_in(4)).take(20).collect::<Vec<_>>());
        let picked = Picked { slabs, rows: rows.filter(|rows| !rows.is_empty()) };
        let targets = self.targets(model, dataset.kind);
        Some(Operation::Write { path, picked, seed: self.random.u64(0..1000), targets })
    }

    fn resize(&mut self, model: &Model) -> Option<Operation> {
        let fixed = |dataset: &Dataset| dataset.shape.iter().zip(&dataset.max).all(|(size, max)| *max == Some(*size));
        let (path, dataset) = self.some_dataset(model, |dataset| dataset.chunked && !fixed(dataset))?;
        let most = if dataset.shape.len() == 1 { 400 } else { 30 };
        let limit = |max: Option<u64>| max.map_or(most, |max| max.min(most));
        let size = |max: &Option<u64>| self.random.u64(0..=limit(*max));
        let mut shape: Vec<u64> = dataset.max.iter().map(size).collect();
        if let (true, Some(first), Some(Some(max))) = (self.one_in(20), shape.first_mut(), dataset.max.first()) {
            *first = max + 1;
        }
        Some(Operation::Resize { path, shape })
    }
}

/// The paths of objects, each with its first name, that are as wanted.
fn paths(model: &Model, wanted: impl Fn(&What) -> bool) -> Vec<String> {
    walk(model)
        .into_iter()
        .filter(|(_, number)| matches!(model.objects.get(*number), Some(object) if wanted(&object.what)))
        .map(|(path, _)| path)
        .collect()
}

/// The paths of all links.
fn links(model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for (path, number) in walk(model) {
        let names: Vec<_> = model.links(number).map(|links| links.keys().collect()).unwrap_or_default();
        found.extend(names.iter().map(|name| format!("{}/{name}", path.trim_end_matches('/'))));
    }
    found
}

fn walk(model: &Model) -> Vec<(String, usize)> {
    let (mut found, mut seen) = (vec![("/".to_owned(), 0)], HashSet::from([0]));
    let mut at = 0;
    while let Some((path, number)) = found.get(at).cloned() {
        at += 1;
        let Ok(links) = model.links(number) else { continue };
        for (name, (_, link)) in links {
            if let Link::Hard(next) = link
                && seen.insert(*next)
            {
                found.push((format!("{}/{name}", path.trim_end_matches('/')), *next));
            }
        }
    }
    found
}
