//! `hyperslab ls`: what is in a file, as a tree or as lines of JSON.

mod record;
mod tree;

use crate::arguments::Ls;
use crate::failure::Failure;
use crate::find;
use crate::names::Names;
use crate::output::Output;
use crate::walk::Walk;
use record::Record;
use std::io::Write;

pub(crate) fn run(options: &Ls, out: &mut Output) -> Result<(), Failure> {
    let file = find::open(&options.file)?;
    let node = find::object(&file, &options.path)?;
    let names = Names::new(&node.file());
    let mut failed = 0;
    for entry in Walk::new(&options.path, node, options.sort, options.depth) {
        let record = Record::new(&entry, &names, options.attributes && options.json);
        failed += u64::from(!record.errors.is_empty());
        if options.json {
            serde_json::to_writer(&mut *out, &record).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            tree::line(out, &entry, &record)?;
            if options.attributes {
                failed += tree::attributes(out, &entry, &names)?;
            }
        }
    }
    match failed {
        0 => Ok(()),
        1 => Err(Failure::Some("1 entry could not be read".into())),
        _ => Err(Failure::Some(format!("{failed} entries could not be read"))),
    }
}
