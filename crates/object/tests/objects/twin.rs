//! What a file should hold: the obvious way to keep it, and the listing that follows from it.

use std::collections::{BTreeMap, HashMap, HashSet};

use hyperslab_object::{Attribute, Context, Kind, Links, Object, Result, Target};

use super::listing::{hexed, is_tracked};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Goal {
    Hard(u64),
    Soft(Vec<u8>),
    External(Vec<u8>, Vec<u8>),
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) committed: Option<u64>,
    pub(crate) data: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Thing {
    pub(crate) kind: &'static str,
    /// Tells it from others that were at its address.
    pub(crate) serial: usize,
    pub(crate) names: u32,
    pub(crate) comment: Vec<u8>,
    pub(crate) links: BTreeMap<Vec<u8>, Goal>,
    /// Names in the order in which they were made, if that is kept.
    pub(crate) link_order: Option<Vec<Vec<u8>>>,
    pub(crate) attributes: BTreeMap<Vec<u8>, Value>,
    pub(crate) attribute_order: Option<Vec<Vec<u8>>>,
    /// The committed datatype of a dataset.
    pub(crate) committed: Option<u64>,
    /// Attributes may be large.
    pub(crate) new_header: bool,
}

/// Things by the address of their header.
#[derive(Clone, Debug, Default)]
pub(crate) struct Twin {
    pub(crate) things: HashMap<u64, Thing>,
    pub(crate) root: u64,
}

impl Twin {
    /// The twin of a file that another library made.
    pub(crate) fn of(context: &Context) -> Result<Twin> {
        let root = context.file().root()?;
        let (mut twin, mut open) = (Twin { things: HashMap::new(), root }, vec![root]);
        while let Some(at) = open.pop() {
            if twin.things.contains_key(&at) {
                continue;
            }
            let object = Object::open(context, at)?;
            let mut thing = Thing {
                serial: twin.things.len(),
                names: object.references()?,
                new_header: object.header().prefix().version == 2,
                ..Thing::default()
            };
            for attribute in object.attributes(context)? {
                let Attribute { name, committed, data, .. } = attribute?;
                thing.attributes.insert(name, Value { committed, data });
            }
            if object.header().prefix().ordered {
                thing.attribute_order = Some(object.attribute_names_as_made(context)?);
            }
            thing.kind = match object.kind() {
                Kind::Group => {
                    let mut links = Links::of(context, &object)?.all()?;
                    for link in &links {
                        let goal = match link.target.clone() {
                            Target::Hard(at) => Goal::Hard(at),
                            Target::Soft(path) => Goal::Soft(path),
                            Target::External { file, path } => Goal::External(file, path),
                            Target::User { .. } => panic!("no such links are made"),
                        };
                        if let Goal::Hard(at) = goal {
                            open.push(at);
                        }
                        thing.links.insert(link.name.clone(), goal);
                    }
                    links.sort_by_key(|link| link.order);
                    let tracked = is_tracked(context, &object);
                    thing.link_order = tracked.then(|| links.into_iter().map(|link| link.name).collect());
                    "group"
                }
                Kind::Dataset => {
                    thing.committed = object.datatype(context)?.1;
                    "dataset"
                }
                Kind::Datatype => "datatype",
            };
            twin.things.insert(at, thing);
        }
        Ok(twin)
    }

    pub(crate) fn of_kind(&self, kind: &str) -> Vec<u64> {
        let mut found: Vec<u64> = self.things.iter().filter(|(_, one)| one.kind == kind).map(|(at, _)| *at).collect();
        found.sort_unstable();
        found
    }

    pub(crate) fn thing(&mut self, at: u64) -> &mut Thing {
        self.things.get_mut(&at).unwrap()
    }

    pub(crate) fn link(&mut self, group: u64, name: &[u8], goal: Goal) {
        if let Goal::Hard(at) = goal {
            self.thing(at).names += 1;
        }
        let group = self.thing(group);
        assert!(group.links.insert(name.to_vec(), goal).is_none());
        group.link_order.iter_mut().for_each(|order| order.push(name.to_vec()));
    }

    pub(crate) fn take(&mut self, group: u64, name: &[u8]) -> Goal {
        let group = self.thing(group);
        group.link_order.iter_mut().for_each(|order| order.retain(|one| one != name));
        group.links.remove(name).unwrap()
    }

    /// Takes a link away; the datasets that go with it.
    pub(crate) fn unlink(&mut self, group: u64, name: &[u8]) -> Vec<u64> {
        let mut gone = Vec::new();
        if let Goal::Hard(at) = self.take(group, name) {
            self.lose(at, &mut gone);
        }
        gone.sort_unstable();
        gone
    }

    pub(crate) fn lose(&mut self, at: u64, gone: &mut Vec<u64>) {
        let Some(thing) = self.things.get_mut(&at) else { return };
        thing.names -= 1;
        if thing.names > 0 {
            return;
        }
        let thing = self.things.remove(&at).unwrap();
        if thing.kind == "dataset" {
            gone.push(at);
        }
        let types = thing.attributes.values().filter_map(|value| value.committed).chain(thing.committed);
        let named = thing.links.values().filter_map(|goal| match goal {
            Goal::Hard(at) => Some(*at),
            _ => None,
        });
        types.chain(named).collect::<Vec<_>>().into_iter().for_each(|at| self.lose(at, gone));
    }

    /// Objects that can be reached from the root group: address and serial number.
    pub(crate) fn reached(&self) -> HashSet<(u64, usize)> {
        let (mut seen, mut open) = (HashSet::new(), vec![self.root]);
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(self.things[&at].links.values().filter_map(|goal| match goal {
                    Goal::Hard(at) => Some(*at),
                    _ => None,
                }));
            }
        }
        seen.into_iter().map(|at| (at, self.things[&at].serial)).collect()
    }

    /// Objects that cannot be reached now are others when they can be again.
    pub(crate) fn age(&mut self) {
        let reached = self.reached();
        let lost = self.things.iter_mut().filter(|(at, thing)| !reached.contains(&(**at, thing.serial)));
        lost.for_each(|(_, thing)| thing.serial += 1 << 40);
    }

    pub(crate) fn listing(&self) -> Vec<String> {
        let (mut lines, mut seen, mut open) = (Vec::new(), HashSet::new(), vec![self.root]);
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let thing = &self.things[&at];
            lines.push(format!("{} {at} {} {}", thing.kind, thing.names, hexed(&thing.comment)));
            for (name, value) in &thing.attributes {
                let committed = if value.committed.is_some() { "True" } else { "False" };
                let total = value.data.iter().fold(0u32, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
                let (count, length) = (value.data.len() / 4, value.data.len());
                lines.push(format!(" attribute {} [{count}] {committed} {length}:{total}", hexed(name)));
            }
            let all = |names: &Vec<Vec<u8>>| {
                let names: Vec<String> = names.iter().map(|name| format!("'{}'", hexed(name))).collect();
                format!("[{}]", names.join(", "))
            };
            lines.extend(thing.attribute_order.as_ref().map(|made| format!(" attributes as made {}", all(made))));
            for (name, goal) in &thing.links {
                let name = hexed(name);
                lines.push(match goal {
                    Goal::Hard(at) => format!(" link {name} hard {at}"),
                    Goal::Soft(path) => format!(" link {name} soft {}", hexed(path)),
                    Goal::External(file, path) => format!(" link {name} external {} {}", hexed(file), hexed(path)),
                });
            }
            open.extend(thing.links.values().rev().filter_map(|goal| match goal {
                Goal::Hard(at) => Some(*at),
                _ => None,
            }));
            lines.extend(thing.link_order.as_ref().map(|made| format!(" links as made {}", all(made))));
        }
        lines
    }
}
