//! Objects that can be made: what a copy of an object will be like.

use hyperslab_dtype::Datatype;
use hyperslab_format::message::{self, FillValue, kind};
use hyperslab_object::{GroupSettings, Object, ObjectSettings};
use hyperslab_session::{DatasetPlan, ObjectHandle, Result, Session, make_dataset};

use crate::gathered::Gathered;

/// An object that can be made.
pub(super) enum Prepared {
    Group(ObjectSettings, GroupSettings),
    /// Without values; what of the fill value is in a heap.
    Dataset(ObjectSettings, Box<DatasetPlan>, Option<Gathered>),
    Datatype(ObjectSettings, Datatype),
}

impl Prepared {
    /// What stands for an object that cannot be read.
    pub(super) fn stand_in() -> Prepared {
        Prepared::Group(ObjectSettings::default(), GroupSettings::default())
    }

    /// Makes the object; where it is. Only within an operation.
    pub(super) fn create(self, session: &Session) -> Result<u64> {
        let context = session.context();
        match self {
            Prepared::Group(object, group) => Ok(hyperslab_object::new_group(context, &object, &group)?),
            Prepared::Datatype(object, datatype) => Ok(hyperslab_object::new_datatype(context, &object, &datatype)?),
            Prepared::Dataset(object, mut planned, fill) => {
                if let Some(fill) = fill {
                    planned.fill.value = FillValue::User(fill.store(session)?);
                }
                Ok(make_dataset(&object, session, &planned, &planned.fill, None, &[])?.address)
            }
        }
    }
}

pub(super) fn settings(object: &Object) -> ObjectSettings {
    let (header, prefix) = (object.header(), object.header().prefix());
    let times = prefix.times.is_some() || prefix.version == 1 && header.find(kind::MODIFICATION_TIME).is_some();
    let (ordered, indexed) = (prefix.ordered, prefix.indexed);
    ObjectSettings { times, ordered, indexed, attribute_limits: prefix.attribute_limits }
}

pub(super) fn group_settings(group: &ObjectHandle) -> Result<GroupSettings> {
    let (context, object) = (group.session.context(), group.current()?);
    let broken = hyperslab_file::Error::at(group.address());
    let mut settings = GroupSettings::default();
    if let Some(links) = object.message(context, kind::LINK_INFO)? {
        let links = message::LinkInfo::decode(&links.bytes, context.file().widths()).map_err(broken)?;
        (settings.tracked, settings.indexed) = (links.tracked, links.indexed);
    }
    if let Some(info) = object.message(context, kind::GROUP_INFO)? {
        let info = message::GroupInfo::decode(&info.bytes).map_err(hyperslab_file::Error::at(group.address()))?;
        (settings.limits, settings.expected) = (info.limits, info.expected);
    }
    Ok(settings)
}
