//! Arrays as nested brackets, written while their values come.

use crate::names::Names;
use crate::value_json;
use hyperslab::Value;
use std::io::{self, Write};

/// What became of an array.
pub(crate) struct Written {
    pub(crate) count: u64,
    /// Why it ended early.
    pub(crate) failed: Option<hyperslab::Error>,
}

/// How an array looks as text.
pub(crate) struct Shape {
    pub(crate) dims: Vec<u64>,
    /// In each dimension, the element before which some are left out.
    pub(crate) gaps: Vec<Option<u64>>,
    /// Values are moved to the right to have this width.
    pub(crate) pad: usize,
    /// Longer values are cut.
    pub(crate) longest: usize,
    /// Lines break before this column; rows share one line if there is no end.
    pub(crate) width: usize,
}

impl Shape {
    pub(crate) fn new(dims: &[u64], width: usize) -> Shape {
        Shape { dims: dims.to_vec(), gaps: vec![None; dims.len()], pad: 0, longest: usize::MAX, width }
    }
}

/// Where brackets stand: how many elements each has around it, outermost first.
struct Brackets(Vec<u64>);

impl Brackets {
    fn new(dims: &[u64]) -> Brackets {
        let mut inside = 1u64;
        let mut blocks: Vec<u64> = dims
            .iter()
            .rev()
            .map(|&dim| {
                inside = inside.saturating_mul(dim);
                inside
            })
            .collect();
        blocks.reverse();
        Brackets(blocks)
    }

    /// How many open before the element with this number, and how many close after the one before it.
    fn at(&self, number: u64) -> usize {
        self.0.iter().filter(|&&block| number.is_multiple_of(block)).count()
    }

    fn is_empty(&self) -> bool {
        self.0.first() == Some(&0)
    }
}

type Values<'a> = &'a mut dyn Iterator<Item = hyperslab::Result<Value>>;

/// Writes an array as JSON, of at most `most` values. It is whole JSON also if values are missing.
pub(crate) fn json(
    out: &mut impl Write,
    dims: &[u64],
    mut values: impl Iterator<Item = hyperslab::Result<Value>>,
    names: &Names,
    most: u64,
) -> io::Result<Written> {
    let mut each = |out: &mut dyn Write, number: u64, opening: usize, value: &Value| {
        out.write_all(if number > 0 { b"," } else { b"" })?;
        out.write_all("[".repeat(opening).as_bytes())?;
        value_json::write(&mut &mut *out, value, names)
    };
    let (written, open) = walk(out, dims, &mut values, most, &mut each)?;
    if dims.is_empty() && written.count == 0 {
        out.write_all(b"null")?;
    }
    out.write_all("]".repeat(open).as_bytes())?;
    Ok(written)
}

/// Writes an array as text, of at most `most` values.
pub(crate) fn text(
    out: &mut impl Write,
    shape: &Shape,
    mut values: impl Iterator<Item = hyperslab::Result<Value>>,
    names: &Names,
    most: u64,
) -> io::Result<Written> {
    let mut lines = Lines { shape, column: 0, blocks: Brackets::new(&shape.dims) };
    let mut each = |out: &mut dyn Write, number: u64, opening: usize, value: &Value| {
        let compound = matches!(value, Value::Compound(_));
        let mut text = names.show(value);
        if let Some((end, _)) = text.char_indices().nth(shape.longest) {
            text.truncate(end);
            text.push('…');
        }
        lines.value(out, number, opening, compound, &text)
    };
    let (written, open) = walk(out, &shape.dims, &mut values, most, &mut each)?;
    if written.failed.is_none() && values.next().is_some() {
        out.write_all(if written.count > 0 { ", …".as_bytes() } else { "…".as_bytes() })?;
    }
    out.write_all("]".repeat(open).as_bytes())?;
    Ok(written)
}

type Each<'a> = &'a mut dyn FnMut(&mut dyn Write, u64, usize, &Value) -> io::Result<()>;

/// Calls `each` for every value with the number of brackets that open before it; says how many are still open at the end.
fn walk(
    out: &mut impl Write,
    dims: &[u64],
    values: Values<'_>,
    most: u64,
    each: Each<'_>,
) -> io::Result<(Written, usize)> {
    let brackets = Brackets::new(dims);
    let mut written = Written { count: 0, failed: None };
    if brackets.is_empty() {
        out.write_all(b"[]")?;
        return Ok((written, 0));
    }
    while written.count < most {
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(why)) => {
                written.failed = Some(why);
                break;
            }
            None => break,
        };
        each(out, written.count, brackets.at(written.count), &value)?;
        written.count += 1;
        out.write_all("]".repeat(brackets.at(written.count)).as_bytes())?;
    }
    if written.count == 0 {
        out.write_all("[".repeat(dims.len().min(1)).as_bytes())?;
        return Ok((written, dims.len().min(1)));
    }
    let open = dims.len() - brackets.at(written.count);
    Ok((written, open))
}

/// Rows below each other, long ones broken.
struct Lines<'a> {
    shape: &'a Shape,
    column: usize,
    blocks: Brackets,
}

impl Lines<'_> {
    fn value(
        &mut self,
        out: &mut dyn Write,
        number: u64,
        opening: usize,
        compound: bool,
        text: &str,
    ) -> io::Result<()> {
        let rank = self.shape.dims.len();
        let long = text.chars().count().max(self.shape.pad);
        if number > 0 {
            // A new row or record starts a new line; a value too long for this one does too.
            let breaks = opening > 0 || compound || self.column + 2 + long > self.shape.width;
            let breaks = breaks && self.shape.width < usize::MAX;
            let indent = rank - opening;
            if self.is_gap(number, opening) {
                self.separate(out, opening > 0 && breaks, indent)?;
                out.write_all("…".as_bytes())?;
                self.column += 1;
            }
            self.separate(out, breaks, indent)?;
        }
        out.write_all("[".repeat(opening).as_bytes())?;
        self.column += opening + long;
        write!(out, "{text:>pad$}", pad = self.shape.pad)
    }

    fn separate(&mut self, out: &mut dyn Write, breaks: bool, indent: usize) -> io::Result<()> {
        if breaks {
            self.column = indent;
            // An empty line between matrices.
            let end = if indent + 1 < self.shape.dims.len() { "\n\n" } else { "\n" };
            write!(out, ",{end}{:indent$}", "")
        } else {
            self.column += 2;
            out.write_all(b", ")
        }
    }

    /// Whether elements are left out before this one, in the dimension in which it is the next.
    fn is_gap(&self, number: u64, opening: usize) -> bool {
        let Some(dim) = (self.shape.dims.len()).checked_sub(opening + 1) else { return false };
        let within = self.blocks.0.get(dim + 1).copied().unwrap_or(1);
        let index = self.shape.dims.get(dim).map(|size| number / within % size);
        index.is_some() && self.shape.gaps.get(dim).copied().flatten() == index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dims: &[u64], gaps: &[Option<u64>], width: usize, most: u64) -> String {
        let count: u64 = dims.iter().product();
        let shape = Shape { gaps: gaps.to_vec(), ..Shape::new(dims, width) };
        let mut lines = Lines { shape: &shape, column: 0, blocks: Brackets::new(dims) };
        let mut values = (0..count).map(|number| Ok(Value::Unsigned(number.into())));
        let mut out = Vec::new();
        let mut each = |out: &mut dyn Write, number: u64, opening: usize, value: &Value| {
            lines.value(out, number, opening, false, &value.to_string())
        };
        let (_, open) = walk(&mut out, dims, &mut values, most, &mut each).unwrap();
        String::from_utf8(out).unwrap() + &"]".repeat(open)
    }

    #[test]
    fn rows_stand_below_each_other() {
        assert_eq!(shown(&[2, 3], &[None; 2], 80, 9), "[[0, 1, 2],\n [3, 4, 5]]");
        assert_eq!(shown(&[2, 1, 2], &[None; 3], 80, 9), "[[[0, 1]],\n\n [[2, 3]]]");
        assert_eq!(shown(&[2, 3], &[None; 2], usize::MAX, 9), "[[0, 1, 2], [3, 4, 5]]");
    }

    #[test]
    fn long_rows_are_broken() {
        assert_eq!(shown(&[7], &[None], 9, 9), "[0, 1, 2,\n 3, 4, 5,\n 6]");
    }

    #[test]
    fn brackets_close_where_values_end() {
        assert_eq!(shown(&[2, 3], &[None; 2], 80, 4), "[[0, 1, 2],\n [3]]");
        assert_eq!(shown(&[2, 0], &[None; 2], 80, 9), "[]");
        assert_eq!(shown(&[], &[], 80, 9), "0");
    }

    #[test]
    fn gaps_are_marked_in_every_dimension() {
        assert_eq!(shown(&[2, 4], &[Some(1), Some(2)], 80, 9), "[[0, 1, …, 2, 3],\n …,\n [4, 5, …, 6, 7]]");
    }
}
