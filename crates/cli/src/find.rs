//! From what a person typed to an object; or to words that help.

use crate::escape::printable;
use crate::failure::Failure;
use hyperslab::{Error, File, Node, OpenOptions};
use std::path::Path;

/// Names that a complaint lists.
const LISTED: usize = 8;

/// How alike two names must be, from 0 to 1, for one to be meant by the other.
const ALIKE: f64 = 0.8;

pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    open_with(path, OpenOptions::new())
}

/// As [`open`], in a way that was said.
pub(crate) fn open_with(path: &Path, options: OpenOptions) -> Result<File, Failure> {
    // A name with a percent sign may stand for several files.
    if !path.exists() && !path.to_string_lossy().contains('%') {
        return Err(Failure::NoFile(path.display().to_string()));
    }
    // What a SWMR writer has open can be looked at, too.
    options.swmr_read().open(path).map_err(|why| Failure::Open { file: path.display().to_string(), why: Box::new(why) })
}

/// The object at a path.
pub(crate) fn object(file: &File, path: &str) -> Result<Node, Failure> {
    file.get(path).map_err(|why| match why {
        Error::Missing(at) => not_a_group(file, path).unwrap_or_else(|| missing(file, &at)),
        other => Failure::Object { path: path.into(), why: Box::new(other) },
    })
}

/// What is there instead.
fn missing(file: &File, path: &str) -> Failure {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let above = if above.is_empty() { "/" } else { above };
    let links = match file.get(above) {
        Ok(Node::Group(group)) => group.links().unwrap_or_default(),
        _ => Vec::new(),
    };
    let names: Vec<String> = links.iter().map(|link| printable(&link.name)).collect();
    let alike = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = names.iter().max_by(|left, right| alike(left).total_cmp(&alike(right)));
    let mut hint = match best.filter(|best| alike(best) >= ALIKE) {
        Some(best) => format!("; did you mean {}/{best}?", if above == "/" { "" } else { above }),
        None => String::new(),
    };
    if hint.is_empty() {
        let mut shown = names.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
        match names.len().saturating_sub(LISTED) {
            0 if names.is_empty() => shown = "nothing".into(),
            0 => {}
            more => shown.push_str(&format!(" and {more} more")),
        }
        hint = format!("; the group {above} has: {shown}");
    }
    Failure::Missing { path: path.into(), hint }
}

/// The part of a path that is an object without links.
fn not_a_group(file: &File, path: &str) -> Option<Failure> {
    let ends = path.match_indices('/').map(|(end, _)| end).filter(|&end| end > 0);
    let above = ends.filter_map(|end| path.get(..end));
    above.into_iter().find_map(|above| match file.get(above) {
        Ok(Node::Group(_)) | Err(_) => None,
        Ok(other) => Some(Failure::NotGroup { path: path.into(), above: above.into(), kind: other.kind() }),
    })
}
