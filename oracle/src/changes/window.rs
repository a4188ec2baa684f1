//! What a file may hold after a crash: everything that was flushed, unless the program itself changed it since.
//!
//! Objects are compared, not paths: what moved and was then changed may be seen under its old name with its new content.

use super::model::{Dataset, Link, Model, Object, What};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

type Seen = BTreeMap<String, Value>;
type Result<T> = std::result::Result<T, String>;

/// States that a program went through, from the last flush on.
pub struct Window<'a> {
    states: &'a [Model],
}

impl<'a> Window<'a> {
    /// From the state that was flushed last to the one that was begun last.
    pub fn new(states: &'a [Model]) -> Window<'a> {
        Window { states }
    }

    /// What is wrong with what a file holds, which was looked at in full; nothing if it may hold that.
    pub fn wrong(&self, seen: &Seen) -> Option<String> {
        let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in seen.keys().filter(|path| *path != "/") {
            let (parent, name) = path.rsplit_once('/').unwrap_or_default();
            below.entry(if parent.is_empty() { "/" } else { parent }).or_default().push(name);
        }
        match (Sight { states: self.states, seen, below }).object(0, "/") {
            Err(why) => Some(why),
            Ok(found) => {
                let reached: Vec<_> = self.states.iter().map(Model::first_names).collect();
                let lost = |number: &&usize| reached.iter().all(|names| names.contains_key(number));
                let lost = reached.first()?.keys().filter(lost).find(|number| !found.contains(number))?;
                let names: Vec<_> = reached.iter().map(|names| names.get(lost)).collect();
                Some(format!("the object {names:?} has no name"))
            }
        }
    }
}

/// What was seen, and the states that it is held against.
struct Sight<'a> {
    states: &'a [Model],
    seen: &'a Seen,
    below: BTreeMap<&'a str, Vec<&'a str>>,
}

impl Sight<'_> {
    /// Which objects are at a path and below it, if what is there can be an object of the program.
    fn object(&self, number: usize, path: &str) -> Result<BTreeSet<usize>> {
        let states: Vec<&Object> = self.states.iter().filter_map(|state| state.objects.get(number)).collect();
        let always = states.len() == self.states.len();
        let record = self.seen.get(path).ok_or_else(|| format!("{path} is gone"))?;
        attributes(record, &states, always).map_err(|why| format!("{path} {why}"))?;
        let mut found = BTreeSet::from([number]);
        match states.first().map(|object| &object.what) {
            Some(What::Group(..)) if record.get("group").is_some() => found.extend(self.links(number, path, always)?),
            Some(What::Dataset(_)) if record.get("dataset").is_some() => {
                let states = states.iter().filter_map(|object| match &object.what {
                    What::Dataset(dataset) => Some(dataset),
                    _ => None,
                });
                values(record, &states.collect::<Vec<_>>(), always).map_err(|why| format!("{path} {why}"))?;
            }
            Some(What::Datatype(kind)) if record.get("datatype") == Some(&serde_json::json!(kind)) => {}
            other => return Err(format!("{path} should be {other:?}, but is {record}")),
        }
        Ok(found)
    }

    fn links(&self, number: usize, path: &str, always: bool) -> Result<BTreeSet<usize>> {
        let states: Vec<_> = self.states.iter().filter_map(|state| state.links(number).ok()).collect();
        let names = self.below.get(path).map(Vec::as_slice).unwrap_or_default();
        if let Some(first) = states.first().filter(|_| always) {
            let lost = |name: &&String| {
                !names.contains(&name.as_str()) && states.iter().all(|links| links.contains_key(*name))
            };
            if let Some(name) = first.keys().find(lost) {
                return Err(format!("{path} lost its link {name}"));
            }
        }
        let mut found = BTreeSet::new();
        for name in names {
            let path = format!("{}/{name}", path.trim_end_matches('/'));
            let mut may: Vec<&Link> =
                states.iter().filter_map(|links| links.get(*name)).map(|(_, link)| link).collect();
            may.dedup();
            let mut said = format!("{path} came from nowhere");
            let fits = may.into_iter().find_map(|link| match self.link(link, &path) {
                Ok(objects) => Some(objects),
                Err(why) => {
                    said = why;
                    None
                }
            });
            found.extend(fits.ok_or(said)?);
        }
        Ok(found)
    }

    fn link(&self, link: &Link, path: &str) -> Result<BTreeSet<usize>> {
        let record = self.seen.get(path);
        let expected = match link {
            Link::Hard(number) => return self.object(*number, path),
            Link::Soft(target) => serde_json::json!({"soft": target}),
            Link::External(file, target) => serde_json::json!({"external": [file, target]}),
        };
        if record == Some(&expected) {
            Ok(BTreeSet::new())
        } else {
            Err(format!("{path} should be {expected}, but is {record:?}"))
        }
    }
}

fn attributes(record: &Value, states: &[&Object], always: bool) -> Result<()> {
    let none = serde_json::Map::new();
    let seen = record.get("attributes").and_then(Value::as_object).unwrap_or(&none);
    for (name, value) in seen {
        let had = states.iter().filter_map(|object| object.attributes.get(name));
        if !had.map(|attribute| attribute.record(&Default::default(), true)).any(|had| had == *value) {
            return Err(format!("has an attribute {name} that it never had: {value}"));
        }
    }
    let first = states.first().filter(|_| always);
    let lost = first
        .into_iter()
        .flat_map(|object| object.attributes.keys())
        .find(|name| !seen.contains_key(*name) && states.iter().all(|object| object.attributes.contains_key(*name)));
    lost.map_or(Ok(()), |name| Err(format!("lost the attribute {name}")))
}

/// The extent is one that the dataset had, and each element one that it had at this place. One that is newer than the flush may not have
/// got its first values yet.
fn values(record: &Value, states: &[&Dataset], always: bool) -> Result<()> {
    let has = |dataset: &&&Dataset| {
        let may = dataset.record(&Default::default(), true);
        ["dataset", "shape", "max"].iter().all(|key| may.get(key) == record.get(key))
    };
    let Some(shape) = states.iter().find(has).map(|dataset| &dataset.shape) else {
        return Err(format!("has another shape or type: {} {}", record["dataset"], record["shape"]));
    };
    let values = record.get("values").and_then(Value::as_array).ok_or("has no values")?;
    if values.len() as u64 != shape.iter().product::<u64>() {
        return Err(format!("has {} values", values.len()));
    }
    for (nth, value) in values.iter().enumerate() {
        let index = Dataset::index(shape, nth as u64);
        let had = |dataset: &&Dataset| {
            let number = dataset.place(&index).and_then(|place| dataset.values.get(place).copied());
            number.is_some_and(|number| dataset.kind.json(number) == *value)
                || !always && dataset.kind.json(dataset.fill) == *value
        };
        if !states.iter().any(had) {
            return Err(format!("has {value} at {index:?}, which it never had there"));
        }
    }
    Ok(())
}
