//! New objects: groups, datasets, committed datatypes, and the root group of a new file.

use hyperslab_dtype::Datatype;
use hyperslab_file::{Error, HeaderEdit, NewHeader, Result, now};
use hyperslab_format::{
    message::{self, DatasetFilters, FillValue, FillWrite, GroupInfo, LinkInfo, kind},
    object_header::{Flags, Prefix},
    superblock::Root,
    symbol_table::{Cache, Entry},
    version,
};
use hyperslab_space::Extent;
use hyperslab_structures::{LocalHeap, group_tree};

use crate::{Context, InitialAttributes, NewAttribute, NewType, counts, parts, plan::Plan, set_attribute};

/// What every new object may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectSettings {
    /// Whether the object keeps times.
    pub times: bool,
    /// Whether attributes remember the order in which they were made.
    pub ordered: bool,
    /// Whether attributes can be found by that order.
    pub indexed: bool,
    /// How many attributes lie in the header at most, and how many outside at least; 8 and 6 if nothing is said.
    pub attribute_limits: Option<[u16; 2]>,
}

impl Default for ObjectSettings {
    fn default() -> ObjectSettings {
        ObjectSettings { times: true, ordered: false, indexed: false, attribute_limits: None }
    }
}

/// What a new group may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSettings {
    /// Whether links remember the order in which they were made.
    pub tracked: bool,
    /// Whether links can be found by that order.
    pub indexed: bool,
    /// How many links lie in the header at most, and how many outside at least; 8 and 6 if nothing is said.
    pub limits: Option<[u16; 2]>,
    /// How many links are expected, and how long their names are; 4 and 8 if nothing is said.
    pub expected: Option<[u16; 2]>,
    /// How many bytes the names of an old group are expected to take.
    pub name_bytes: Option<u32>,
}

impl GroupSettings {
    /// Those of a group that is there, for another one like it.
    pub fn of(context: &Context, address: u64) -> Result<GroupSettings> {
        let (header, widths) = (HeaderEdit::open(context.file(), address)?, context.file().widths());
        let mut settings = GroupSettings::default();
        if let Some(id) = header.find(kind::LINK_INFO) {
            let info = LinkInfo::decode(header.body(id), widths).map_err(Error::at(address))?;
            (settings.tracked, settings.indexed) = (info.tracked, info.indexed);
        }
        if let Some(id) = header.find(kind::GROUP_INFO) {
            let info = GroupInfo::decode(header.body(id)).map_err(Error::at(address))?;
            (settings.limits, settings.expected) = (info.limits, info.expected);
        }
        Ok(settings)
    }
}

/// What a new dataset is made of.
#[derive(Debug)]
pub struct DatasetParts<'a> {
    /// Its size.
    pub extent: &'a Extent,
    /// The type of its values.
    pub datatype: NewType<'a>,
    /// What values are that were never written.
    pub fill: &'a FillWrite,
    /// How values are stored: the message.
    pub layout: Vec<u8>,
    /// Whether the layout never changes: space is there from the beginning.
    pub constant_layout: bool,
    /// The filters of its chunks.
    pub filters: Option<&'a DatasetFilters>,
    /// The external files that hold its values: the message.
    pub external: Option<Vec<u8>>,
    /// Its attributes.
    pub attributes: InitialAttributes<'a>,
}

/// The size of a dataset's header, beside values that lie in it: most messages fit, and such headers fill pages without a gap.
const DATASET_HEADER: usize = 256;

impl ObjectSettings {
    fn header(&self, context: &Context, room: usize) -> Result<NewHeader> {
        if self.indexed && !self.ordered {
            return Err(Error::Refused("attributes that are found by an order must remember it".into()));
        }
        let version = version::object_header(context.file().libver_min(), self.ordered);
        let ObjectSettings { times, ordered, indexed, attribute_limits } = *self;
        let attribute_limits = attribute_limits.filter(|limits| *limits != [8, 6]);
        Ok(NewHeader { version, times, ordered, indexed, attribute_limits, room })
    }

    /// How many bytes messages with these bodies take.
    fn sizes(&self, context: &Context, bodies: &[usize]) -> usize {
        let prefix = self.prefix(version::object_header(context.file().libver_min(), self.ordered));
        bodies.iter().map(|&body| prefix.message_size(body)).sum()
    }

    /// What a header of this version begins with.
    fn prefix(&self, version: u8) -> Prefix {
        match version {
            1 => Prefix::old(0, 0, 0),
            _ => Prefix { ordered: self.ordered, ..Prefix::new(0) },
        }
    }
}

/// Makes the root group of a file that has none.
pub fn new_root(context: &Context, object: &ObjectSettings, group: &GroupSettings) -> Result<()> {
    let file = context.file();
    let address = new_group(context, object, group)?;
    let root = match file.superblock().version {
        0 | 1 => {
            let header = HeaderEdit::open(file, address)?;
            let table = header.find(kind::SYMBOL_TABLE).map(|id| header.body(id));
            let table = table.map(|body| message::SymbolTable::decode(body, file.widths())).transpose();
            let cache = match table.map_err(Error::at(address))? {
                Some(message::SymbolTable { btree, heap }) => Cache::Group { btree, heap },
                None => Cache::Nothing,
            };
            Root::Entry(Entry { name: 0, header: Some(address), cache })
        }
        _ => Root::Header(Some(address)),
    };
    file.set_root(root)
}

/// Makes a group without links; where it is. It has no name yet: [`link_new`](crate::link_new) gives it its first one.
pub fn new_group(context: &Context, object: &ObjectSettings, group: &GroupSettings) -> Result<u64> {
    if group.indexed && !group.tracked {
        return Err(Error::Refused("links that are found by an order must remember it".into()));
    }
    let file = context.file();
    let [expected, name] = group.expected.unwrap_or([4, 8]).map(usize::from);
    let offset = file.widths().offsets.bytes();
    if !version::new_group(file.libver_min(), group.tracked, false) {
        let new = object.header(context, 4 + 2 * offset)?;
        let names = 8 + expected * (name + 1).next_multiple_of(8) + 2 * file.widths().lengths.bytes();
        let heap = LocalHeap::create(file, group.name_bytes.map_or(names as u64, u64::from))?;
        let table = message::SymbolTable { btree: Some(group_tree::create(file)?), heap: Some(heap.address()) };
        let mut header = new.begin(file);
        header.add(kind::SYMBOL_TABLE, Flags::NONE, None, table.encode(file.widths())?)?;
        return header.save();
    }
    let info = GroupInfo { limits: group.limits, expected: group.expected };
    let links = LinkInfo {
        tracked: group.tracked,
        next_order: 0,
        indexed: group.indexed,
        heap: None,
        names: None,
        orders: None,
    };
    let (info_body, links_body) = (info.encode(), links.encode(file.widths())?);
    let link = 3 + if group.tracked { 8 } else { 0 } + offset + name;
    let links_room = expected * object.sizes(context, &[link]);
    let links_room = if expected > usize::from(info.max_compact()) || links_room > 65_535 { 0 } else { links_room };
    let room = object.sizes(context, &[info_body.len(), links_body.len()]) + links_room;
    let mut header = object.header(context, room)?.begin(file);
    header.add(kind::LINK_INFO, Flags::NONE, None, links_body)?;
    header.add(kind::GROUP_INFO, Flags::CONSTANT, None, info_body)?;
    header.save()
}

/// The attributes of a new dataset of this type, which have different names. Refuses those that it cannot get, before anything is made for it: to find that out, their
/// values may be any bytes.
pub fn initial_attributes<'a>(
    context: &Context,
    object: &ObjectSettings,
    datatype: &NewType<'_>,
    attributes: &'a [NewAttribute<'a>],
) -> Result<InitialAttributes<'a>> {
    InitialAttributes::encode(context, &object.prefix(dataset_version(context, object, datatype)), attributes)
}

/// The version of a dataset's header. Only one with a checksum is believed a suspicious type.
fn dataset_version(context: &Context, object: &ObjectSettings, datatype: &NewType<'_>) -> u8 {
    match datatype {
        NewType::Own(datatype) if datatype.is_suspicious() => 2,
        _ => version::object_header(context.file().libver_min(), object.ordered),
    }
}

/// Makes the header of a dataset; where it is. It has no name yet.
pub fn new_dataset(context: &Context, object: &ObjectSettings, parts: DatasetParts<'_>) -> Result<u64> {
    let (file, libver_min) = (context.file(), context.file().libver_min());
    let in_header = if parts.layout.len() > DATASET_HEADER { parts.layout.len() } else { 0 };
    let mut new = object.header(context, 0)?;
    new.room = DATASET_HEADER - new.around() + in_header;
    new.version = dataset_version(context, object, &parts.datatype);
    let mut header = new.begin(file);
    if !parts.attributes.is_empty() {
        // It has what it needs. One without attributes gets some as a rule.
        header.decode_later();
    }
    header.add(kind::DATASPACE, Flags::NONE, None, parts::extent(context, parts.extent, 0)?)?;
    let (datatype, flags) = parts.datatype.encode(context)?;
    header.add(kind::DATATYPE, constant(flags), None, datatype)?;
    header.add(kind::FILL_VALUE, Flags::CONSTANT, None, parts.fill.encode(version::fill_value(libver_min))?)?;
    if version::old_fill_value(libver_min) && matches!(parts.fill.value, FillValue::User(_)) {
        header.add(kind::OLD_FILL_VALUE, Flags::CONSTANT, None, parts.fill.encode_old()?)?;
    }
    if let Some(filters) = parts.filters.filter(|filters| !filters.is_empty()) {
        header.add(filters.message_kind(), Flags::CONSTANT, None, filters.encode()?)?;
    }
    if let Some(files) = parts.external {
        header.add(kind::EXTERNAL_FILES, Flags::CONSTANT, None, files)?;
    }
    let flags = if parts.constant_layout { Flags::CONSTANT } else { Flags::NONE };
    header.add(kind::DATA_LAYOUT, flags, None, parts.layout)?;
    if new.version == 1 && object.times {
        header.add(kind::MODIFICATION_TIME, Flags::NONE, None, message::encode_modification_time(now()))?;
    }
    let left = parts.attributes.add_to_new(context, &mut header)?;
    let (mut plan, committed) = (Plan::new(context), parts.datatype.committed());
    committed.map_or(Ok(()), |committed| counts::plan_gain(context, &mut plan, committed))?;
    let change = plan.begin()?;
    let address = header.save()?;
    committed.map_or(Ok(()), |committed| counts::gain(context, &change, committed, address))?;
    drop(change);
    left.iter().try_for_each(|attribute| set_attribute(context, address, attribute).map(drop))?;
    Ok(address)
}

/// Makes a committed datatype; where it is. It has no name yet.
pub fn new_datatype(context: &Context, object: &ObjectSettings, datatype: &Datatype) -> Result<u64> {
    let (body, _) = NewType::Own(datatype).encode(context)?;
    let room = object.sizes(context, &[body.len()]);
    let mut header = object.header(context, room)?.begin(context.file());
    header.add(kind::DATATYPE, Flags(Flags::CONSTANT.0 | Flags::NEVER_SHARED.0), None, body)?;
    header.save()
}

fn constant(flags: Flags) -> Flags {
    Flags(flags.0 | Flags::CONSTANT.0)
}
