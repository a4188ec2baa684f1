//! What a killed program may leave, and nothing else: objects in heaps of links and attributes that no name leads to, and counts of names
//! that are too high, or too low by a name that an object had while it moved. `docs/writing.md` says why they are there.

use std::collections::HashMap;

use hyperslab_file::{Header, OpenFile, Result};

use crate::{Context, Kind, Object, attributes, counts, links};

/// Whether the file may hold what a killed program left: it is marked as open.
pub fn may_lag(file: &OpenFile) -> bool {
    file.marks().writing
}

/// Takes away what a killed program left, in all objects that names lead to; how many objects were changed. Only within an operation.
///
/// Nothing changes if there are more objects than `most`, or if one cannot be read: then its names are not known, and no count is wrong for
/// sure.
pub fn mend(context: &Context, most: usize) -> Result<usize> {
    let file = context.file();
    let root = file.root()?;
    let (mut names, mut waiting) = (HashMap::from([(root, 1u32)]), vec![root]);
    let (mut lagging, mut says) = (Vec::new(), Vec::new());
    while let Some(address) = waiting.pop() {
        if names.len() > most {
            return Ok(0);
        }
        let object = Object::open(context, address)?;
        if object.kind() == Kind::Group && links::lag(context, &object)? {
            lagging.push((address, links::mend as fn(&Context, u64) -> Result<()>));
        }
        if attributes::lag(context, address)? {
            lagging.push((address, attributes::mend));
        }
        says.push((address, object.references()?));
        for named in counts::named_by(context, &object)? {
            let count = names.entry(named).or_insert_with(|| {
                waiting.push(named);
                0
            });
            *count = count.saturating_add(1);
        }
    }
    let changed = lagging.len();
    lagging.into_iter().try_for_each(|(address, mend)| mend(context, address))?;
    // A message that several objects share may use a committed datatype, and counts once.
    if file.shared_table().is_some() {
        return Ok(changed);
    }
    let other = |(address, says): (u64, u32)| Some((address, *names.get(&address).filter(|has| **has != says)?));
    let counts: Vec<_> = says.into_iter().filter_map(other).collect();
    for &(address, has) in &counts {
        Header::set_references(file, address, has)?;
    }
    Ok(changed + counts.len())
}
