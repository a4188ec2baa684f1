//! `hyperslab ls`: what is in a file, as a tree or as lines of JSON.

mod record;
mod tree;

use crate::arguments::Ls;
use crate::failure::Failure;
use crate::names::Names;
use crate::text::count;
use crate::walk::Walk;
use crate::{find, output};
use record::Record;
use std::io::Write;

pub(crate) fn run(options: &Ls) -> Result<(), Failure> {
    let file = find::open(&options.file)?;
    let node = find::object(&file, &options.path)?;
    let names = Names::new(&file);
    // A line goes out when it is whole, so that a long listing can be read while it grows.
    let mut out = output::standard(options.json);
    let mut failed = 0;
    for entry in Walk::new(&file, &options.path, node, options.sort, options.depth) {
        let record = Record::new(&entry, &names, options.attributes && options.json);
        failed += u64::from(!record.errors.is_empty());
        if options.json {
            serde_json::to_writer(&mut out, &record).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            tree::line(&mut out, &entry, &record)?;
            if options.attributes {
                failed += tree::attributes(&mut out, &entry, &names)?;
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::Some(format!("{} could not be read", count(failed, "entry").replace("entrys", "entries")))),
    }
}
