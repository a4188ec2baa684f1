//! Everything in a file, as `listing.py` lists it.

use std::collections::HashSet;

use hyperslab_object::{Context, Kind, Links, Object, Target};

pub(crate) fn hexed(name: &[u8]) -> String {
    name.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash_of(data: &[u8]) -> String {
    let total = data.iter().fold(0u32, |total, &byte| total.wrapping_mul(31).wrapping_add(byte.into()));
    format!("{}:{total}", data.len())
}

fn hexed_all<'a>(names: impl Iterator<Item = &'a [u8]>) -> String {
    let names: Vec<String> = names.map(|name| format!("'{}'", hexed(name))).collect();
    format!("[{}]", names.join(", "))
}

/// All objects that can be reached, each once. Between two writes of a flush a link that comes or goes may be seen and not found yet, so
/// whether links can be found is looked at only if it is wanted.
pub(crate) fn listing(context: &Context, find: bool) -> hyperslab_object::Result<Vec<String>> {
    let (mut lines, mut seen) = (Vec::new(), HashSet::new());
    let mut open = vec![context.file().root()?];
    while let Some(address) = open.pop() {
        if !seen.insert(address) {
            continue;
        }
        let object = Object::open(context, address)?;
        let kind = match object.kind() {
            Kind::Group => "group",
            Kind::Dataset => "dataset",
            Kind::Datatype => "datatype",
        };
        let comment = hexed(object.comment().unwrap_or_default());
        lines.push(format!("{kind} {address} {} {comment}", object.references()?));
        for attribute in object.attributes(context)? {
            let attribute = attribute?;
            let committed = if attribute.committed.is_some() { "True" } else { "False" };
            let (name, shape, data) = (hexed(&attribute.name), attribute.extent.dims(), hash_of(&attribute.data));
            lines.push(format!(" attribute {name} {shape:?} {committed} {data}"));
            assert_eq!(object.find_attribute(context, &attribute.name)?.unwrap().data, attribute.data);
        }
        if object.header().prefix().ordered {
            let made = object.attribute_names_as_made(context)?;
            lines.push(format!(" attributes as made {}", hexed_all(made.iter().map(Vec::as_slice))));
        }
        if object.kind() == Kind::Group {
            links(context, &object, find, (&mut lines, &mut open))?;
        }
    }
    Ok(lines)
}

fn links(
    context: &Context,
    object: &Object,
    find: bool,
    (lines, open): (&mut Vec<String>, &mut Vec<u64>),
) -> hyperslab_object::Result<()> {
    let links = Links::of(context, object)?;
    let mut all = links.all()?;
    for link in &all {
        let name = hexed(&link.name);
        lines.push(match &link.target {
            Target::Hard(address) => format!(" link {name} hard {address}"),
            Target::Soft(path) => format!(" link {name} soft {}", hexed(path)),
            Target::External { file, path } => format!(" link {name} external {} {}", hexed(file), hexed(path)),
            Target::User { class, .. } => format!(" link {name} user {class}"),
        });
        if find {
            assert_eq!(links.find(&link.name)?.as_ref(), Some(link));
        }
    }
    assert_eq!(links.count()?, all.len() as u64);
    open.extend(all.iter().rev().filter_map(|link| match link.target {
        Target::Hard(address) => Some(address),
        _ => None,
    }));
    if is_tracked(context, object) {
        all.sort_by_key(|link| link.order);
        lines.push(format!(" links as made {}", hexed_all(all.iter().map(|link| link.name.as_slice()))));
    }
    Ok(())
}

pub(crate) fn is_tracked(context: &Context, object: &Object) -> bool {
    use hyperslab_format::message::{LinkInfo, kind};
    let info = object.header().find(kind::LINK_INFO);
    info.is_some_and(|info| LinkInfo::decode(object.header().body(info), context.file().widths()).unwrap().tracked)
}
