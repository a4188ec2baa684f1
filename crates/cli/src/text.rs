//! Bytes, sizes and shapes as people read them.

use crate::escape::printable;
use hyperslab::space::{Extent, UNLIMITED};

/// A type of so many letters is told as a whole.
const SHORT_TYPE: usize = 72;

/// A datatype on part of a line; one with many members is cut.
pub(crate) fn datatype(name: &str) -> String {
    let name = printable(name.as_bytes());
    let Some((end, _)) = name.char_indices().nth(SHORT_TYPE) else { return name };
    let kept = name.get(..end).unwrap_or(&name);
    // Braces that were opened are closed, so that the shape after it is not taken for a member's.
    let open = kept.matches('{').count().saturating_sub(kept.matches('}').count());
    format!("{kept}…{}", "}".repeat(open))
}

/// A size in the unit that makes it short.
pub(crate) fn bytes(size: u64) -> String {
    let mut value = size as f64;
    let mut units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].into_iter().peekable();
    let mut unit = "B";
    while value >= 999.5
        && let Some(next) = units.next()
    {
        value /= 1024.0;
        unit = next;
    }
    match unit {
        "B" => format!("{size} B"),
        _ if value < 9.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

/// The size of all values of a dataset, which may have more bytes than 64 bits can count.
pub(crate) fn whole_size(size: Option<u64>) -> String {
    size.map_or_else(|| "over 16 EiB".to_owned(), bytes)
}

/// `20×64×64`, or the word for what has no dimensions.
pub(crate) fn shape(extent: &Extent) -> String {
    match extent.rank() {
        0 if extent.is_null() => "empty".into(),
        0 => "scalar".into(),
        _ => sizes(extent.dims()),
    }
}

pub(crate) fn sizes(sizes: &[u64]) -> String {
    let size = |&size: &u64| if size == UNLIMITED { "∞".to_owned() } else { size.to_string() };
    sizes.iter().map(size).collect::<Vec<_>>().join("×")
}

/// The sizes for other programs; none for what has no place for elements.
pub(crate) fn dims(extent: &Extent) -> Option<Vec<u64>> {
    (!extent.is_null()).then(|| extent.dims().to_vec())
}

/// A name as text for other programs; what is no text in it is replaced.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `0.0123 %`: with three digits that count.
pub(crate) fn percent(percent: f64) -> String {
    if percent == 0.0 || percent >= 99.95 {
        return format!("{percent:.0} %");
    }
    let digits = (2.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = if percent < 1e-6 { format!("{percent:.2e}") } else { format!("{percent:.digits$}") };
    let short = if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{short} %")
}

/// `1 link`, `2 links`.
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let shown = [0, 999, 1000, 1024, 10_000, 1_048_576, 123_456_789, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "999 B", "1.0 KiB", "1.0 KiB", "9.8 KiB", "1.0 MiB", "118 MiB", "16 EiB"]);
    }

    #[test]
    fn long_types_are_cut() {
        assert_eq!(datatype("compound {x: f32}"), "compound {x: f32}");
        let long = format!("compound {{{}: enum {{A = 0, B = 1}}}}", "x".repeat(50));
        assert_eq!(datatype(&long), format!("compound {{{}: enum {{A = …}}}}", "x".repeat(50)));
    }

    #[test]
    fn percentages_are_short() {
        let shown = [0.0, 100.0, 50.0, 12.345, 0.5, 0.012_345, 0.000_012_345, 9.1e-10].map(percent);
        assert_eq!(shown, ["0 %", "100 %", "50 %", "12.3 %", "0.5 %", "0.0123 %", "0.0000123 %", "9.10e-10 %"]);
    }
}
