//! Links, attributes and datasets that come and go.

use super::{Growth, Work};
use crate::files::create;
use crate::libhdf5::Hdf5;
use anyhow::Result;
use std::path::Path;

/// In the order of the table.
pub(super) const CASES: &[Growth] = &[
    Growth {
        name: "links, old",
        count: LINKS,
        ours: |path, count| our_links(path, count, false, Soft),
        theirs: |hdf5, path, count| their_links(hdf5, path, count, false, Soft),
    },
    Growth {
        name: "links, latest",
        count: LINKS,
        ours: |path, count| our_links(path, count, true, Soft),
        theirs: |hdf5, path, count| their_links(hdf5, path, count, true, Soft),
    },
    Growth {
        name: "links deleted, old",
        count: LINKS,
        ours: |path, count| our_links(path, count, false, Deleted),
        theirs: |hdf5, path, count| their_links(hdf5, path, count, false, Deleted),
    },
    Growth {
        name: "links deleted, latest",
        count: LINKS,
        ours: |path, count| our_links(path, count, true, Deleted),
        theirs: |hdf5, path, count| their_links(hdf5, path, count, true, Deleted),
    },
    Growth {
        name: "hard links to one object, latest",
        count: LINKS,
        ours: |path, count| our_links(path, count, true, Hard),
        theirs: |hdf5, path, count| their_links(hdf5, path, count, true, Hard),
    },
    Growth {
        name: "hard links to one object, old",
        count: LINKS,
        ours: |path, count| our_links(path, count, false, Hard),
        theirs: |hdf5, path, count| their_links(hdf5, path, count, false, Hard),
    },
    Growth {
        name: "attributes",
        count: ATTRIBUTES,
        ours: |path, count| our_attributes(path, count, false),
        theirs: |hdf5, path, count| their_attributes(hdf5, path, count, false),
    },
    Growth {
        name: "attributes deleted",
        count: ATTRIBUTES,
        ours: |path, count| our_attributes(path, count, true),
        theirs: |hdf5, path, count| their_attributes(hdf5, path, count, true),
    },
    Growth {
        name: "datasets written again, old",
        count: REWRITES,
        ours: |path, count| our_rewrites(path, count, false),
        theirs: |hdf5, path, count| their_rewrites(hdf5, path, count, false),
    },
    Growth {
        name: "datasets written again, latest",
        count: REWRITES,
        ours: |path, count| our_rewrites(path, count, true),
        theirs: |hdf5, path, count| their_rewrites(hdf5, path, count, true),
    },
];

const LINKS: u64 = 200_000;
const ATTRIBUTES: u64 = 20_000;
const REWRITES: u64 = 60_000;

/// What becomes of links.
#[derive(Clone, Copy, PartialEq)]
enum Links {
    /// Soft ones are made.
    Soft,
    /// Hard ones to one object are made.
    Hard,
    /// Soft ones were made, and are deleted.
    Deleted,
}
use Links::{Deleted, Hard, Soft};

fn our_links(path: &Path, count: u64, latest: bool, links: Links) -> Result<Work<'static>> {
    let file = create(path, latest)?;
    let group = file.root()?.create_group("group")?;
    let object = hyperslab::Node::Group(group.create_group("object")?);
    if links == Deleted {
        (0..count).try_for_each(|nth| group.soft_link(format!("link{nth}"), "/nowhere"))?;
    }
    Ok(Box::new(move || {
        let _open = &file;
        for nth in 0..count {
            let name = format!("link{nth}");
            match links {
                Soft => group.soft_link(name, "/nowhere")?,
                Hard => group.hard_link(name, &object)?,
                Deleted => group.delete(name)?,
            }
        }
        Ok(())
    }))
}

fn their_links<'a>(hdf5: &'a Hdf5, path: &Path, count: u64, latest: bool, links: Links) -> Result<Work<'a>> {
    let file = hdf5.create(path, latest)?;
    let group = hdf5.new_group(&file, "group")?;
    drop(hdf5.new_group(&group, "object")?);
    if links == Deleted {
        (0..count).try_for_each(|nth| hdf5.soft_link(&group, &format!("link{nth}"), "/nowhere"))?;
    }
    Ok(Box::new(move || {
        let _open = &file;
        for nth in 0..count {
            let name = format!("link{nth}");
            match links {
                Soft => hdf5.soft_link(&group, &name, "/nowhere")?,
                Hard => hdf5.hard_link(&group, &name, "object")?,
                Deleted => hdf5.unlink(&group, &name)?,
            }
        }
        Ok(())
    }))
}

/// Attributes of one group, outside of its header.
fn our_attributes(path: &Path, count: u64, deleted: bool) -> Result<Work<'static>> {
    let file = create(path, true)?;
    let group = file.root()?.create_group("group")?;
    if deleted {
        (0..count).try_for_each(|nth| group.set_attribute(format!("attribute{nth}"), nth as f64))?;
    }
    Ok(Box::new(move || {
        let _open = &file;
        for nth in 0..count {
            let name = format!("attribute{nth}");
            if deleted { group.remove_attribute(name)? } else { group.set_attribute(name, nth as f64)? }
        }
        Ok(())
    }))
}

fn their_attributes<'a>(hdf5: &'a Hdf5, path: &Path, count: u64, deleted: bool) -> Result<Work<'a>> {
    let file = hdf5.create(path, true)?;
    let group = hdf5.new_group(&file, "group")?;
    if deleted {
        (0..count).try_for_each(|nth| hdf5.write_attribute(&group, &format!("attribute{nth}"), nth as f64))?;
    }
    Ok(Box::new(move || {
        let _open = &file;
        for nth in 0..count {
            let name = format!("attribute{nth}");
            if deleted {
                hdf5.remove_attribute(&group, &name)?
            } else {
                hdf5.write_attribute(&group, &name, nth as f64)?
            }
        }
        Ok(())
    }))
}

/// A dataset that is deleted and made again with its values.
fn our_rewrites(path: &Path, count: u64, latest: bool) -> Result<Work<'static>> {
    let (file, values) = (create(path, latest)?, [1f32; 100]);
    let root = file.root()?;
    root.new_dataset::<f32>().contiguous().write("data", &values)?;
    Ok(Box::new(move || {
        let _open = &file;
        for _ in 0..count {
            root.delete("data")?;
            root.new_dataset::<f32>().contiguous().write("data", &values)?;
        }
        Ok(())
    }))
}

fn their_rewrites<'a>(hdf5: &'a Hdf5, path: &Path, count: u64, latest: bool) -> Result<Work<'a>> {
    let (file, values) = (hdf5.create(path, latest)?, [1f32; 100]);
    drop(hdf5.write_floats(&file, "data", &[100], None, &values)?);
    Ok(Box::new(move || {
        for _ in 0..count {
            hdf5.unlink(&file, "data")?;
            drop(hdf5.write_floats(&file, "data", &[100], None, &values)?);
        }
        Ok(())
    }))
}
