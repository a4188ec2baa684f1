//! Facts for people: a line each, lists as tables. Frames and colour only on a terminal.

use super::facts::{Bounds, Encoded, Facts, MANY, Pattern, Segment};
use anstyle::Style;
use comfy_table::{CellAlignment, Table, presets};
use std::io::{self, IsTerminal, Write};

const NAME: Style = Style::new().bold();

pub(crate) fn facts(output: &mut impl Write, facts: &Facts) -> io::Result<()> {
    let whole = facts.shape.iter().fold(1u128, |whole, side| whole.saturating_mul((*side).into()));
    line(output, "elements", &format!("{} of {whole}", facts.elements))?;
    line(output, "bounds", &facts.bounds.as_ref().map_or_else(|| "none".to_owned(), corners))?;
    line(output, "regular", &facts.regular.as_deref().map_or_else(|| "no".to_owned(), patterns))?;
    line(output, "blocks", &facts.blocks.to_string())?;
    let unit = if facts.element_size == 1 { "byte" } else { "bytes" };
    let number = facts.runs.map_or_else(|| format!("more than {MANY}"), |runs| runs.to_string());
    let runs = format!("{number}, together {} bytes (element size {} {unit})", facts.bytes, facts.element_size);
    line(output, "runs", &runs)?;
    line(output, "encoded", &facts.encoded.iter().map(size).collect::<Vec<_>>().join(", "))?;
    let head =
        if facts.segments.is_empty() { "none" } else { "start stride count block × bytes, sub-patterns indented" };
    line(output, "segments", head)?;
    segments(output, &facts.segments, 1)?;
    if let Some(blocks) = &facts.block_list {
        writeln!(output)?;
        let rows = blocks.iter().map(|block| [list(&block.low), list(&block.high)]);
        writeln!(output, "{}", table(["first", "last"], rows).trim_fmt())?;
    }
    if let Some(runs) = &facts.run_list {
        writeln!(output)?;
        let rows = runs.iter().map(|run| [run.offset.to_string(), run.bytes.to_string()]);
        writeln!(output, "{}", table(["offset", "bytes"], rows).trim_fmt())?;
    }
    if let Some(hex) = &facts.hex {
        writeln!(output, "\n{hex}")?;
    }
    Ok(())
}

fn line(output: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(output, "{NAME}{name:<9}{NAME:#} {text}")
}

fn segments(output: &mut impl Write, list: &[Segment], depth: usize) -> io::Result<()> {
    for Segment { start, stride, count, block, size, within } in list {
        writeln!(output, "{:indent$}{start} {stride} {count} {block} × {size}", "", indent = 8 + 2 * depth)?;
        segments(output, within, depth + 1)?;
    }
    Ok(())
}

/// Right-aligned columns; framed for a terminal, bare in a pipe.
fn table(header: [&str; 2], rows: impl Iterator<Item = [String; 2]>) -> Table {
    let mut table = Table::new();
    let framed = io::stdout().is_terminal();
    table.load_style(if framed { presets::UTF8_FULL_CONDENSED } else { presets::NOTHING });
    table.set_header(header).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn size(encoded: &Encoded) -> String {
    let bytes = encoded.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
    format!("{} {bytes}", encoded.low)
}

fn patterns(patterns: &[Pattern]) -> String {
    let one = |Pattern { start, stride, count, block }: &Pattern| {
        format!("start {start} stride {stride} count {count} block {block}")
    };
    patterns.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn corners(bounds: &Bounds) -> String {
    format!("{} to {}", list(&bounds.low), list(&bounds.high))
}

fn list(numbers: &[u64]) -> String {
    format!("[{}]", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}
