//! A look at every block of an object that is not a value: header, links, attributes; and at shared messages.

use hyperslab_base::Reader;
use hyperslab_file::{Block, Error, Survey};
use hyperslab_format::{
    index::record::{Form, Record, kind as record},
    message::{self, Link, Shared, kind},
    shared_messages,
};
use hyperslab_structures::walk;

use crate::{
    Context, Kind, Links, Object, may_lag,
    shared_blocks::{SharedList, SharedTable},
};

const OBJECT: &str = "object header";

/// An object that was looked at.
#[derive(Debug)]
pub struct Surveyed {
    /// The object.
    pub object: Object,
    /// The links of a group, as far as they could be read.
    pub links: Vec<Link>,
    /// The committed datatypes that it uses, one time for each use: each of them counts as a hard link.
    pub committed: Vec<u64>,
}

/// A heap, and trees over what is in it: the names, and the order of creation.
struct Dense {
    what: &'static str,
    heap: Option<u64>,
    trees: [(Option<u64>, u8); 2],
}

impl Object {
    /// Shows the blocks of the object at an address. Nothing if it was met before, or cannot be understood; the survey knows which.
    pub fn survey(context: &Context, address: u64, survey: &mut dyn Survey) -> Option<Surveyed> {
        let object = survey.found(OBJECT, address, Object::open_guarded(context, address))?;
        if !object.header().survey(survey) {
            return None;
        }
        for message in object.guards() {
            let why = match message.kind {
                kind::LOST => "it stands for an object that was damaged when the file was copied".into(),
                other => format!("it cannot be opened: its message of type {other:#x} must be understood"),
            };
            survey.note(OBJECT, address, why);
        }
        let mut committed = Vec::new();
        object.survey_messages(context, survey, &mut committed);
        let links = if object.kind() == Kind::Group { object.survey_links(context, survey) } else { Vec::new() };
        object.survey_attributes(context, survey, &mut committed);
        Some(Surveyed { object, links, committed })
    }

    /// What a dataset or datatype must be able to say of itself, and what it shares with others.
    fn survey_messages(&self, context: &Context, survey: &mut dyn Survey, committed: &mut Vec<u64>) {
        let (address, header, widths) = (self.address(), self.header(), context.file().widths());
        for message in header.messages().filter(|message| message.flags.is_shared() && message.kind != kind::ATTRIBUTE)
        {
            let shared = Shared::decode(header.body(message), widths).map_err(Error::at(address));
            if let Some((Shared::Committed(at), _)) = survey.found("shared message", address, shared) {
                committed.push(at);
            }
        }
        survey.found(OBJECT, address, self.references());
        if self.kind() == Kind::Group {
            return;
        }
        survey.found("datatype message", address, self.datatype(context));
        if self.kind() == Kind::Dataset {
            survey.found("dataspace message", address, self.extent(context));
            survey.found("data layout message", address, self.layout(context));
            survey.found("filter pipeline message", address, self.filters(context));
            survey.found("fill value message", address, self.fill(context));
            let external = survey.found("external files message", address, self.external(context)).flatten();
            if let Some(external) = external {
                let heap = external.heap.and_then(|heap| walk::local_heap(context.file(), heap, survey));
                for slot in &external.slots {
                    let name = heap.as_ref().map_or(Ok(()), |heap| heap.string(slot.name).map(drop));
                    survey.found("external files message", address, name);
                }
            }
        }
    }

    fn survey_links(&self, context: &Context, survey: &mut dyn Survey) -> Vec<Link> {
        let (header, address, file) = (self.header(), self.address(), context.file());
        if let Some(found) = header.find(kind::SYMBOL_TABLE) {
            let table = message::SymbolTable::decode(header.body(found), file.widths()).map_err(Error::at(address));
            let Some(table) = survey.found("symbol table message", address, table) else { return Vec::new() };
            let heap = table.heap.and_then(|heap| walk::local_heap(file, heap, survey));
            if let Some(root) = table.btree {
                walk::group_tree(file, root, heap.as_ref(), survey);
            }
        } else if let Some(found) = header.find(kind::LINK_INFO) {
            let info = message::LinkInfo::decode(header.body(found), file.widths()).map_err(Error::at(address));
            let Some(info) = survey.found("link info message", address, info) else { return Vec::new() };
            let trees = [(info.names, record::LINK_NAME), (info.orders, record::LINK_ORDER)];
            Dense { what: "links", heap: info.heap, trees }.survey(context, address, survey);
        }
        let links = Links::of(context, self).and_then(|links| links.all());
        survey.found("group", address, links).unwrap_or_default()
    }

    fn survey_attributes(&self, context: &Context, survey: &mut dyn Survey, committed: &mut Vec<u64>) {
        let (header, address) = (self.header(), self.address());
        if let Some(found) = header.find(kind::ATTRIBUTE_INFO) {
            let info = message::AttributeInfo::decode(header.body(found), context.file().widths());
            if let Some(info) = survey.found("attribute info message", address, info.map_err(Error::at(address))) {
                let trees = [(info.names, record::ATTRIBUTE_NAME), (info.orders, record::ATTRIBUTE_ORDER)];
                Dense { what: "attributes", heap: info.heap, trees }.survey(context, address, survey);
            }
        }
        let attributes = survey.found("attributes", address, self.attributes(context)).unwrap_or_default();
        for attribute in attributes {
            committed.extend(survey.found("attribute", address, attribute).and_then(|attribute| attribute.committed));
        }
    }
}

impl Dense {
    /// Shows heap and trees. All of them must tell of as many things.
    fn survey(&self, context: &Context, object: u64, survey: &mut dyn Survey) {
        let file = context.file();
        let objects = self.heap.and_then(|heap| walk::fractal_heap(file, heap, context.unfilter(), survey));
        // Attributes that are shared are in another heap.
        let mut elsewhere = 0;
        let mut counts = Vec::new();
        for (nth, &(tree, kind)) in self.trees.iter().enumerate() {
            let Some(tree) = tree else { continue };
            let mut last = None;
            let header = walk::tree(file, tree, &[kind], survey, &mut |survey, (_, node), bytes| {
                let decoded = Form::Plain(kind).decode(bytes, file.widths()).map_err(Error::at(node));
                let Some(decoded) = survey.found(self.what, node, decoded) else { return };
                let (place, shared) = key(&decoded);
                elsewhere += u64::from(nth == 0 && shared);
                let rises = last.is_none_or(|last| if nth == 0 { last <= place } else { last < place });
                if !rises {
                    survey.problem(
                        "B-tree node (version 2)",
                        node,
                        format!("its records of {} do not rise", self.what),
                    );
                }
                last = Some(place);
            });
            counts.extend(header.map(|header| header.records));
        }
        if let [names, orders] = *counts.as_slice()
            && names != orders
        {
            let why = format!("{names} {} by name, but {orders} in the order of creation", self.what);
            survey.problem(OBJECT, object, why);
        }
        if let (Some(objects), Some(names)) = (objects, counts.first())
            && objects.saturating_add(elsewhere) != *names
        {
            let why = format!("{names} {} by name, but {objects} objects in their heap", self.what);
            // A program that is killed may leave objects that have no name yet, or none any more.
            match objects.saturating_add(elsewhere) > *names && may_lag(file) {
                true => survey.note(OBJECT, object, why),
                false => survey.problem(OBJECT, object, why),
            }
        }
    }
}

/// What records rise by, and whether the message is in the heap of shared ones.
fn key(record: &Record) -> (i64, bool) {
    match record {
        Record::LinkName { hash, .. } => (i64::from(*hash), false),
        Record::LinkOrder { order, .. } => (*order, false),
        Record::AttributeName { entry, hash } => (i64::from(*hash), entry.flags & 2 != 0),
        Record::AttributeOrder(entry) => (i64::from(entry.order), entry.flags & 2 != 0),
        _ => (0, false),
    }
}

/// Shows the table of shared messages, its indexes and their heaps.
pub fn survey_shared(context: &Context, survey: &mut dyn Survey) {
    const WHAT: &str = SharedTable::WHAT;
    let file = context.file();
    let Some((address, indexes)) = file.shared_table().and_then(|shared| Some((shared.table?, shared.indexes))) else {
        return;
    };
    let size = shared_messages::table_size(indexes, file.widths()) as u64;
    if !survey.block(WHAT, address, size) {
        return;
    }
    for index in survey.found(WHAT, address, file.load_once(&SharedTable(indexes), address)).unwrap_or_default() {
        if let Some(heap) = index.heap {
            walk::fractal_heap(file, heap, context.unfilter(), survey);
        }
        let Some(place) = index.index else { continue };
        if index.is_list {
            list(context, place, &index, survey);
        } else {
            let header = walk::tree(file, place, &[record::SHARED], survey, &mut |survey, (_, node), bytes| {
                let decoded = shared_messages::SharedRecord::decode(&mut Reader::new(WHAT, bytes), file.widths());
                survey.found(WHAT, node, decoded.map_err(Error::at(node)));
            });
            if let Some(header) = header {
                survey.equal(WHAT, address, "messages", u64::from(index.messages), header.records);
            }
        }
    }
}

fn list(context: &Context, address: u64, index: &shared_messages::SharedIndex, survey: &mut dyn Survey) {
    const WHAT: &str = SharedList::WHAT;
    let widths = context.file().widths();
    let size = shared_messages::list_size(index.max_list, widths) as u64;
    if survey.block(WHAT, address, size) {
        survey.found(WHAT, address, context.file().load_once(&SharedList(index), address));
    }
}
