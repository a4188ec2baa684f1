//! Which driver a file name asks for.

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Driver, Family, Local};

use crate::Result;

/// The storage behind a path, and its name: a path with a `%d` (or `%05d`, say) is a family of files, any other one file.
pub(crate) fn open(path: &Path) -> Result<(Arc<dyn Driver>, &'static str)> {
    match path.to_str().filter(|name| is_template(name)) {
        Some(template) => Ok((Arc::new(family(template)?), "family")),
        None => Ok((Arc::new(Local::open(path)?), "sec2")),
    }
}

/// The first member tells how large all but the last are.
fn family(template: &str) -> Result<Family<Local>> {
    let open = |name: &str, _: bool| {
        let there = Path::new(name).exists();
        there.then(|| Local::open(name)).transpose()
    };
    let first = open(&first_name(template), false)?;
    let size = first.map_or(Ok(1), |first| first.len())?;
    Ok(Family::open(template, size.max(1), Box::new(open))?)
}

fn is_template(name: &str) -> bool {
    digits_after_percent(name).is_some()
}

/// The template with its number zero.
fn first_name(template: &str) -> String {
    let Some((start, end)) = digits_after_percent(template) else { return template.to_owned() };
    let width: usize = template.get(start + 1..end).and_then(|digits| digits.parse().ok()).unwrap_or(1);
    let (before, after) = (template.get(..start).unwrap_or_default(), template.get(end + 1..).unwrap_or_default());
    format!("{before}{:0width$}{after}", 0, width = width.min(32))
}

/// Where the percent sign and where the `d` of a `%05d` are.
fn digits_after_percent(name: &str) -> Option<(usize, usize)> {
    let mut signs = name.match_indices('%').map(|(start, _)| start);
    signs.find_map(|start| {
        let rest = name.get(start + 1..)?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        rest.get(digits..)?.starts_with('d').then_some((start, start + 1 + digits))
    })
}
