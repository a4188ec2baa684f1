//! A file as plain collections: what every other file of the same program must say.

use super::Kind;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// A file. Objects that nothing leads to stay; no program sees them.
#[derive(Clone, Debug)]
pub struct Model {
    /// All objects; the first is the root group.
    pub objects: Vec<Object>,
    /// How many links were made, which orders them.
    pub(super) made: u64,
}

/// An object, with its attributes.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is.
    pub what: What,
    /// By name.
    pub attributes: BTreeMap<String, Attribute>,
}

/// What an object is.
#[derive(Clone, Debug)]
pub enum What {
    /// Links by name, with their order; and whether that is kept.
    Group(BTreeMap<String, (u64, Link)>, bool),
    /// Values.
    Dataset(Dataset),
    /// A datatype.
    Datatype(Kind),
}

/// What a name leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// An object, by number.
    Hard(usize),
    /// A path.
    Soft(String),
    /// A file and a path.
    External(String, String),
}

/// An array of values, as numbers.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The type of values.
    pub kind: Kind,
    /// Its size.
    pub shape: Vec<u64>,
    /// How far it may grow.
    pub max: Vec<Option<u64>>,
    /// Whether it is in chunks.
    pub chunked: bool,
    /// What unwritten elements are.
    pub fill: u64,
    /// The last dimension fastest. References are one more than the number of an object, or zero.
    pub values: Vec<u64>,
}

/// A small array.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The type of values.
    pub kind: Kind,
    /// Its size.
    pub shape: Vec<u64>,
    /// The last dimension fastest.
    pub values: Vec<u64>,
}

impl Default for Model {
    fn default() -> Model {
        let root = Object { what: What::Group(BTreeMap::new(), false), attributes: BTreeMap::new() };
        Model { objects: vec![root], made: 0 }
    }
}

impl Model {
    /// Every link and what it leads to, by path, as `changes.py` and [`look`](super::look()) see it. In full, all values are there, and
    /// objects with several names are there again; then no group may hold itself.
    pub fn look(&self, in_full: bool) -> BTreeMap<String, Value> {
        let (mut seen, mut found) = (HashMap::new(), BTreeMap::new());
        let names = self.first_names();
        self.see(0, "/", &mut seen, &names, in_full, &mut found);
        found
    }

    /// The first name of every object that has one.
    pub(super) fn first_names(&self) -> HashMap<usize, String> {
        let mut names = HashMap::new();
        self.name_first(0, "/", &mut names);
        names
    }

    fn name_first(&self, number: usize, path: &str, names: &mut HashMap<usize, String>) {
        if names.contains_key(&number) {
            return;
        }
        names.insert(number, path.into());
        for (name, (_, link)) in self.links(number).into_iter().flatten() {
            if let Link::Hard(next) = link {
                self.name_first(*next, &format!("{}/{name}", path.trim_end_matches('/')), names);
            }
        }
    }

    fn see(
        &self,
        number: usize,
        path: &str,
        seen: &mut HashMap<usize, String>,
        names: &HashMap<usize, String>,
        in_full: bool,
        found: &mut BTreeMap<String, Value>,
    ) {
        let Some(object) = self.objects.get(number) else { return };
        if let Some(first) = seen.get(&number).filter(|_| !in_full) {
            found.insert(path.into(), json!({"same": first}));
            return;
        }
        seen.insert(number, path.into());
        let attributes = object.attributes.iter();
        let attributes: BTreeMap<_, _> =
            attributes.map(|(name, attribute)| (name, attribute.record(names, in_full))).collect();
        let mut record = match &object.what {
            What::Group(links, true) if !links.is_empty() => {
                let mut names: Vec<_> = links.iter().map(|(name, (order, _))| (order, name)).collect();
                names.sort();
                json!({"group": names.into_iter().map(|(_, name)| name).collect::<Vec<_>>()})
            }
            What::Group(..) => json!({"group": null}),
            What::Dataset(dataset) => dataset.record(names, in_full),
            What::Datatype(kind) => json!({"datatype": kind}),
        };
        record["attributes"] = json!(attributes);
        found.insert(path.into(), record);
        let What::Group(links, _) = &object.what else { return };
        for (name, (_, link)) in links {
            let path = format!("{}/{name}", path.trim_end_matches('/'));
            match link {
                Link::Hard(number) => self.see(*number, &path, seen, names, in_full, found),
                Link::Soft(target) => drop(found.insert(path, json!({"soft": target}))),
                Link::External(file, target) => drop(found.insert(path, json!({"external": [file, target]}))),
            }
        }
    }
}

impl Dataset {
    pub(super) fn record(&self, names: &HashMap<usize, String>, in_full: bool) -> Value {
        let values = written(told(self.kind, &self.values, names), in_full);
        json!({"dataset": self.kind, "shape": self.shape, "max": self.max, "values": values})
    }

    /// Where an element is.
    pub(super) fn place(&self, index: &[u64]) -> Option<usize> {
        let sides = self.shape.iter().zip(index);
        let place = sides.clone().try_fold(0, |place, (size, at)| (at < size).then_some(place * size + at));
        place.and_then(|place| usize::try_from(place).ok())
    }

    /// Where the nth element of a shape is.
    pub(super) fn index(shape: &[u64], mut nth: u64) -> Vec<u64> {
        let mut index = Vec::with_capacity(shape.len());
        for size in shape.iter().rev() {
            index.push(nth % size);
            nth /= size;
        }
        index.reverse();
        index
    }

    /// The same with another size.
    pub(super) fn resized(&self, shape: &[u64]) -> Dataset {
        let count = shape.iter().product::<u64>();
        let value = |nth: u64| {
            let index = Dataset::index(shape, nth);
            self.place(&index).and_then(|place| self.values.get(place).copied()).unwrap_or(self.fill)
        };
        Dataset { shape: shape.to_vec(), values: (0..count).map(value).collect(), ..self.clone() }
    }
}

impl Attribute {
    pub(super) fn record(&self, names: &HashMap<usize, String>, in_full: bool) -> Value {
        let values = written(told(self.kind, &self.values, names), in_full);
        json!({"kind": self.kind, "shape": self.shape, "values": values})
    }
}

/// Values as JSON; references are names.
fn told(kind: Kind, numbers: &[u64], names: &HashMap<usize, String>) -> Vec<Value> {
    if kind == Kind::Reference {
        let name = |number: &u64| number.checked_sub(1).map(|number| names.get(&(number as usize)));
        return numbers.iter().map(|number| json!(name(number))).collect();
    }
    numbers.iter().map(|&number| kind.json(number)).collect()
}

/// Values, or a digest of many.
pub(super) fn written(values: Vec<Value>, in_full: bool) -> Value {
    let all = Value::from(values);
    if in_full {
        return all;
    }
    let text = all.to_string();
    if text.len() > 200 { crate::hashed(text.as_bytes()).into() } else { text.into() }
}
