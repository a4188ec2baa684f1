//! Differences as people and programs see them.

use super::values::Differing;
use crate::escape::printable;
use crate::style::{ATTRIBUTE, DATASET, FAINT, SHAPE, TYPE};
use crate::text::count;
use serde::Serialize;
use std::io::{self, Write};

/// A value on a line has at most this many letters.
const LONGEST: usize = 60;

/// A difference.
#[derive(Serialize)]
pub(crate) struct Difference {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attribute: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) right: Option<String>,
    #[serde(flatten)]
    pub(crate) values: Option<Differing>,
}

impl Difference {
    pub(crate) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let name = printable(self.path.as_bytes());
        let attribute = match &self.attribute {
            Some(name) => format!(" {ATTRIBUTE}@{}{ATTRIBUTE:#}", printable(name.as_bytes())),
            None => String::new(),
        };
        let subject = format!("{DATASET}{name}{DATASET:#}{attribute}");
        let side = |side: &Option<String>| cut(side.as_deref().unwrap_or("nothing"));
        match (self.kind, &self.values) {
            ("only left", _) => writeln!(out, "{TYPE}-{TYPE:#} {subject}  {FAINT}{}{FAINT:#}", side(&self.left)),
            ("only right", _) => writeln!(out, "{SHAPE}+{SHAPE:#} {subject}  {FAINT}{}{FAINT:#}", side(&self.right)),
            (_, Some(Differing { first, compared: 1, .. })) if let [only] = first.as_slice() => {
                let (left, right) = (cut(&only.left), cut(&only.right));
                writeln!(out, "{TYPE}≠{TYPE:#} {subject}  {left} {FAINT}and{FAINT:#} {right}")
            }
            (_, Some(values)) => {
                writeln!(out, "{TYPE}≠{TYPE:#} {subject}  {}", summary(values))?;
                values.print(out)
            }
            (kind, None) => {
                let (left, right) = (side(&self.left), side(&self.right));
                writeln!(out, "{TYPE}≠{TYPE:#} {subject}  {kind}: {left} {FAINT}and{FAINT:#} {right}")
            }
        }
    }
}

fn summary(values: &Differing) -> String {
    let all = count(values.compared, "value");
    let largest = values.largest.map_or(String::new(), |largest| format!(", by {largest:?} at the most"));
    let only = match (values.defined_only_left, values.defined_only_right) {
        (0, 0) => String::new(),
        (left, 0) => format!("; {left} defined only left"),
        (0, right) => format!("; {right} defined only right"),
        (left, right) => format!("; {left} defined only left, {right} only right"),
    };
    format!("{} of {all} differ{}{largest}{only}", values.differing, if values.differing == 1 { "s" } else { "" })
}

impl Differing {
    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let place = |at: &[u64]| format!("[{}]", at.iter().map(u64::to_string).collect::<Vec<_>>().join(", "));
        let rows: Vec<[String; 3]> =
            self.first.iter().map(|example| [place(&example.at), cut(&example.left), cut(&example.right)]).collect();
        let widest = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let (first, second) = (widest(0), widest(1));
        for [at, left, right] in &rows {
            writeln!(out, "    {FAINT}{at:first$}{FAINT:#}  {left:second$}  {right}")?;
        }
        match self.differing - self.first.len() as u64 {
            0 => Ok(()),
            hidden => writeln!(out, "    {FAINT}… and {hidden} more{FAINT:#}"),
        }
    }
}

fn cut(text: &str) -> String {
    let text = printable(text.as_bytes());
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(&text)),
        None => text,
    }
}
