//! Random changes of a file and of its twin.

use hyperslab_dtype::{Datatype, Order};
use hyperslab_format::{
    message::{AllocTime, DataLayout, FillTime, FillValue, FillWrite, Layout},
    version::{self, LibVersion},
};
use hyperslab_object::{
    self as object, CharSet, Context, DatasetParts, GroupSettings, InitialAttributes, Name, NewAttribute, NewType,
    ObjectSettings, Result, Target,
};
use hyperslab_space::Extent;

use super::twin::{Goal, Thing, Twin, Value};

pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) random: fastrand::Rng,
    pub(crate) twin: Twin,
    pub(crate) low: LibVersion,
    /// Whether links move.
    pub(crate) moves: bool,
    made: usize,
}

fn int() -> Datatype {
    Datatype::integer(4, true, Order::Little).unwrap()
}

fn charset(name: &[u8]) -> CharSet {
    if name.is_ascii() { CharSet::Ascii } else { CharSet::Utf8 }
}

impl Program {
    pub(crate) fn new(seed: u64, low: LibVersion) -> Program {
        let mut random = fastrand::Rng::with_seed(seed);
        let moves = random.bool();
        Program { seed, random, twin: Twin::default(), low, moves, made: 1 << 32 }
    }

    fn settings(&mut self) -> (ObjectSettings, GroupSettings) {
        let random = &mut self.random;
        let (ordered, tracked) = (random.u8(0..3) == 0, random.u8(0..3) == 0);
        let limits = |random: &mut fastrand::Rng| (random.u8(0..3) == 0).then_some([4, 2]);
        let object = ObjectSettings {
            times: random.bool(),
            ordered,
            indexed: ordered && random.bool(),
            attribute_limits: limits(random),
        };
        let group =
            GroupSettings { tracked, indexed: tracked && random.bool(), limits: limits(random), ..Default::default() };
        (object, group)
    }

    fn thing(&mut self, kind: &'static str, object: &ObjectSettings, group: &GroupSettings) -> Thing {
        let tracked = kind == "group" && group.tracked;
        self.made += 1;
        Thing {
            kind,
            serial: self.made,
            link_order: tracked.then(Vec::new),
            attribute_order: object.ordered.then(Vec::new),
            new_header: version::object_header(self.low, object.ordered) == 2,
            ..Thing::default()
        }
    }

    pub(crate) fn begin(&mut self, context: &Context) -> Result<()> {
        let (object, group) = self.settings();
        context.file().operate(|| object::new_root(context, &object, &group))?;
        let root = context.file().root()?;
        self.twin.root = root;
        let thing = Thing { names: 1, ..self.thing("group", &object, &group) };
        self.twin.things.insert(root, thing);
        Ok(())
    }

    fn one(&mut self, of: &[u64]) -> Option<u64> {
        self.random.choice(of.iter()).copied()
    }

    fn group(&mut self) -> u64 {
        // Most links go to few groups, so that these grow.
        let groups = self.twin.of_kind("group");
        if self.random.bool() { groups[0] } else { self.one(&groups).unwrap() }
    }

    fn any(&mut self) -> u64 {
        let mut all: Vec<u64> = self.twin.things.keys().copied().collect();
        all.sort_unstable();
        if self.random.bool() { all[0] } else { self.one(&all).unwrap() }
    }

    fn name(&mut self) -> Vec<u8> {
        let number = self.random.u32(0..100);
        match self.random.u8(0..60) {
            0 => format!("ä{number}").into_bytes(),
            1 => vec![b'a' + number as u8 % 26; self.random.usize(1..400)],
            _ => format!("name {number}").into_bytes(),
        }
    }

    fn free_name(&mut self, group: u64) -> Vec<u8> {
        loop {
            let name = self.name();
            if !self.twin.thing(group).links.contains_key(&name) {
                return name;
            }
        }
    }

    fn some_link(&mut self, group: u64) -> Option<Vec<u8>> {
        let names: Vec<Vec<u8>> = self.twin.thing(group).links.keys().cloned().collect();
        self.random.choice(names)
    }

    fn some_attribute(&mut self, at: u64) -> Option<Vec<u8>> {
        let names: Vec<Vec<u8>> = self.twin.thing(at).attributes.keys().cloned().collect();
        self.random.choice(names)
    }

    fn value(&mut self, at: u64) -> Value {
        let new_header = self.twin.thing(at).new_header;
        let count = match self.random.u8(0..80) {
            0 if new_header => self.random.usize(16_000..20_000),
            1..10 => self.random.usize(0..300),
            _ => self.random.usize(0..8),
        };
        let data = (0..4 * count).map(|_| self.random.u8(..)).collect();
        let committed =
            (self.random.u8(0..5) == 0).then(|| self.twin.of_kind("datatype")).and_then(|all| self.one(&all));
        Value { committed, data }
    }

    /// One operation.
    pub(crate) fn step(&mut self, context: &Context) -> Result<()> {
        match self.random.u8(0..32) {
            0..5 => self.make(context),
            5..12 => self.link(context),
            12..16 => self.unlink(context),
            16..19 => self.rename(context),
            19..26 => self.set_attribute(context),
            26..29 => self.remove_attribute(context),
            29 => self.rename_attribute(context),
            30 => self.write_attribute(context),
            _ => {
                let at = self.any();
                let comment = self.random.bool().then(|| self.name());
                self.twin.thing(at).comment = comment.clone().unwrap_or_default();
                context.file().operate(|| object::set_comment(context, at, comment.as_deref()))
            }
        }
    }

    fn make(&mut self, context: &Context) -> Result<()> {
        let ((object, settings), group) = (self.settings(), self.group());
        let name = self.free_name(group);
        let kind = self.random.u8(0..4);
        let committed = self.twin.of_kind("datatype");
        let committed = self.one(&committed).filter(|_| self.random.bool());
        let at = context.file().operate(|| {
            let at = match kind {
                0 | 1 => object::new_group(context, &object, &settings)?,
                2 => object::new_datatype(context, &object, &int())?,
                _ => {
                    let layout = Layout::Contiguous { address: None, size: Some(12) };
                    let layout =
                        DataLayout { version: 3, old_sizes: Vec::new(), layout }.encode(context.file().widths())?;
                    let (alloc, write) = (AllocTime::Late, FillTime::IfSet);
                    let fill = FillWrite { value: FillValue::User(vec![1, 2, 3, 4]), alloc, write };
                    let own = int();
                    let parts = DatasetParts {
                        extent: &Extent::simple(&[3]).unwrap(),
                        datatype: committed.map_or(NewType::Own(&own), NewType::Committed),
                        fill: &fill,
                        layout,
                        constant_layout: false,
                        filters: None,
                        external: None,
                        attributes: InitialAttributes::default(),
                    };
                    object::new_dataset(context, &object, parts)?
                }
            };
            object::link_new(context, group, &Name::new(&name, charset(&name)), at)?;
            Ok::<u64, object::Error>(at)
        })?;
        let kind = ["group", "group", "datatype", "dataset"][usize::from(kind)];
        let mut thing = self.thing(kind, &object, &settings);
        if kind == "dataset" {
            thing.committed = committed;
            committed.into_iter().for_each(|at| self.twin.thing(at).names += 1);
        }
        self.twin.things.insert(at, thing);
        self.twin.link(group, &name, Goal::Hard(at));
        Ok(())
    }

    fn link(&mut self, context: &Context) -> Result<()> {
        let group = self.group();
        let name = self.free_name(group);
        let goal = match self.random.u8(0..12) {
            0..4 => Goal::Hard(self.any()),
            4 => Goal::External(b"other.h5".to_vec(), self.name()),
            _ => Goal::Soft(self.name()),
        };
        let target = match goal.clone() {
            Goal::Hard(at) => Target::Hard(at),
            Goal::Soft(path) => Target::Soft(path),
            Goal::External(file, path) => Target::External { file, path },
        };
        context.file().operate(|| object::link(context, group, &Name::new(&name, charset(&name)), target.clone()))?;
        let again = context.file().operate(|| object::link(context, group, &Name::new(&name, charset(&name)), target));
        assert!(again.is_err(), "two links of one name");
        self.twin.link(group, &name, goal);
        Ok(())
    }

    fn unlink(&mut self, context: &Context) -> Result<()> {
        let group = self.group();
        let Some(name) = self.some_link(group) else { return Ok(()) };
        let mut dropped = Vec::new();
        context.file().operate(|| {
            object::unlink(context, group, &name, &mut |gone| {
                dropped.extend((gone.kind() == object::Kind::Dataset).then(|| gone.address()));
                Ok(())
            })
        })?;
        dropped.sort_unstable();
        assert_eq!(dropped, self.twin.unlink(group, &name), "datasets that go");
        Ok(())
    }

    fn rename(&mut self, context: &Context) -> Result<()> {
        if !self.moves {
            return Ok(());
        }
        let (from, to) = (self.group(), self.group());
        let Some(old) = self.some_link(from) else { return Ok(()) };
        let new = self.free_name(to);
        context.file().operate(|| object::rename(context, (from, &old), (to, &new), charset(&new)))?;
        let goal = self.twin.take(from, &old);
        // As one that comes: the count of names stays.
        if let Goal::Hard(at) = goal {
            self.twin.thing(at).names -= 1;
        }
        self.twin.link(to, &new, goal);
        Ok(())
    }

    fn set_attribute(&mut self, context: &Context) -> Result<()> {
        let (at, name) = (self.any(), self.name());
        let value = self.value(at);
        let (extent, own) = (Extent::simple(&[value.data.len() as u64 / 4]).unwrap(), int());
        let attribute = NewAttribute {
            name: &name,
            charset: charset(&name),
            datatype: value.committed.map_or(NewType::Own(&own), NewType::Committed),
            extent: &extent,
            data: &value.data,
        };
        context.file().operate(|| object::set_attribute(context, at, &attribute))?;
        value.committed.into_iter().for_each(|at| self.twin.thing(at).names += 1);
        let thing = self.twin.thing(at);
        if let Some(order) = &mut thing.attribute_order {
            order.retain(|one| *one != name);
            order.push(name.clone());
        }
        let old = thing.attributes.insert(name, value);
        if let Some(at) = old.and_then(|old| old.committed) {
            self.twin.lose(at, &mut Vec::new());
        }
        Ok(())
    }

    fn remove_attribute(&mut self, context: &Context) -> Result<()> {
        let at = self.any();
        let Some(name) = self.some_attribute(at) else { return Ok(()) };
        context.file().operate(|| object::remove_attribute(context, at, &name, |_| ()))?;
        let thing = self.twin.thing(at);
        thing.attribute_order.iter_mut().for_each(|order| order.retain(|one| *one != name));
        if let Some(at) = thing.attributes.remove(&name).unwrap().committed {
            self.twin.lose(at, &mut Vec::new());
        }
        Ok(())
    }

    fn rename_attribute(&mut self, context: &Context) -> Result<()> {
        let (at, new) = (self.any(), self.name());
        let Some(old) = self.some_attribute(at) else { return Ok(()) };
        if self.twin.thing(at).attributes.contains_key(&new) {
            return Ok(());
        }
        context.file().operate(|| object::rename_attribute(context, at, &old, &new, charset(&new)))?;
        let thing = self.twin.thing(at);
        let value = thing.attributes.remove(&old).unwrap();
        thing.attributes.insert(new.clone(), value);
        let order = thing.attribute_order.iter_mut().flatten().filter(|one| **one == old);
        order.for_each(|one| *one = new.clone());
        Ok(())
    }

    fn write_attribute(&mut self, context: &Context) -> Result<()> {
        let at = self.any();
        let Some(name) = self.some_attribute(at) else { return Ok(()) };
        let length = self.twin.thing(at).attributes[&name].data.len();
        let data: Vec<u8> = (0..length).map(|_| self.random.u8(..)).collect();
        context.file().operate(|| object::write_attribute(context, at, &name, &data))?;
        self.twin.thing(at).attributes.get_mut(&name).unwrap().data = data;
        Ok(())
    }
}
