//! `hyperslab select`: build the selection, then say what it is.

mod facts;
mod print;

use crate::arguments::Select;
use crate::failure::Failure;
use crate::output::Output;
use hyperslab::space::{Op, Space};
use std::io::Write;

pub(crate) fn run(select: &Select, output: &mut Output) -> Result<(), Failure> {
    let space = selection(select)?;
    let facts = facts::gather(&space, select)?;
    if select.json {
        serde_json::to_writer(&mut *output, &facts).map_err(std::io::Error::from)?;
        writeln!(output)?;
    } else {
        print::facts(output, &facts)?;
    }
    Ok(())
}

fn selection(select: &Select) -> Result<Space, Failure> {
    let mut space = Space::simple(&select.shape.0)?;
    space.select_hyperslab(Op::Set, &select.slice.slabs(&select.shape)?)?;
    for (op, slice) in &select.steps {
        space.select_hyperslab(*op, &slice.slabs(&select.shape)?)?;
    }
    Ok(space)
}
