//! From what a person typed to an object; or to words that help.

use crate::escape::printable;
use crate::failure::Failure;
use hyperslab::{Error, File, Group, Link, Node, OpenOptions, Target};
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
    Ok(options.swmr_read().open(path)?)
}

/// The object at a path.
pub(crate) fn object(file: &File, path: &str) -> Result<Node, Failure> {
    file.get(path).map_err(|why| match why {
        Error::Missing(at) => not_a_group(file, path).unwrap_or_else(|| nowhere(file, path, &at)),
        other => Failure::Object { path: path.into(), why: Box::new(other) },
    })
}

/// Why a path leads nowhere; `at` is what is missing, in the file that links led to.
fn nowhere(file: &File, path: &str, at: &str) -> Failure {
    let path = format!("/{}", path.trim_matches('/'));
    let Some((above, name, group)) = last_group(file, &path) else { return missing(file, at, "") };
    if let Ok(Some(Link { target: Target::External { file: home, .. }, .. })) = group.link(name) {
        let hint = format!(" in {}, where {above}/{name} leads", printable(&home));
        return Failure::Missing { path: at.into(), hint };
    }
    let found = group.file();
    let home = found.path().filter(|_| found != *file);
    let place = home.map_or_else(String::new, |home| format!(" in {}", home.display()));
    missing(&found, at, &place)
}

/// The last group on the way to where a path leads: its path without the slash at the end, the name that follows, the group.
fn last_group<'a>(file: &File, path: &'a str) -> Option<(&'a str, &'a str, Group)> {
    path.rmatch_indices('/').find_map(|(end, _)| {
        let (above, rest) = (path.get(..end)?, path.get(end + 1..)?);
        let group = file.group(if above.is_empty() { "/" } else { above }).ok()?;
        Some((above, rest.split('/').next().unwrap_or(rest), group))
    })
}

/// What is there instead.
fn missing(file: &File, path: &str, place: &str) -> Failure {
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
    Failure::Missing { path: path.into(), hint: format!("{place}{hint}") }
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
