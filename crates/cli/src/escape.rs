//! Text of files as a terminal may see it: the only place that decides which characters are shown as escapes.
//!
//! Lives here: [`printable`] for names, values and reasons before they become part of a line, and [`guard`] for whole output, which lets
//! nothing pass that moves the cursor, changes the direction of text or hides it. Called wherever bytes of a file become text, and by
//! [`Output`](crate::output::Output) for all that is written.

use std::fmt::Display;

/// The format characters of Unicode (category Cf), and the separators of lines and paragraphs: they cannot be seen, and change what is seen.
const FORMAT: [(char, char); 19] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0001}', '\u{e007f}'),
];

/// Whether a character is shown as an escape.
fn is_hidden(letter: char) -> bool {
    letter.is_control() || FORMAT.iter().any(|(first, last)| (*first..=*last).contains(&letter))
}

/// Text on one line that a terminal can show: control and format characters, and bytes that are no characters, are escaped.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match is_hidden(letter) {
                true => text.extend(letter.escape_default()),
                false => text.push(letter),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// What is to be said, on one line that a terminal can show.
pub(crate) fn said(what: &(impl Display + ?Sized)) -> String {
    printable(what.to_string().as_bytes())
}

/// What output is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines with styles.
    Text,
    /// JSON, whose strings may hold anything.
    Json,
}

/// Appends to `out` what may be written of `bytes`. Text keeps line ends and our own styles; in JSON, hidden characters stand inside
/// of strings, so that its own escapes mean the same. Says how many bytes were taken: a character or a style that is cut off at the end waits for
/// more, unless this is the `end`.
pub(crate) fn guard(form: Form, bytes: &[u8], end: bool, out: &mut Vec<u8>) -> usize {
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
        out.extend_from_slice(bytes);
        return bytes.len();
    }
    let whole = if end { bytes.len() } else { whole(bytes) };
    let mut rest = bytes.get(..whole).unwrap_or(bytes);
    while let [first, ..] = rest {
        let style = if form == Form::Text && *first == b'\x1b' { style(rest) } else { None };
        let taken = style.unwrap_or_else(|| {
            // Up to the next style.
            let next = rest.iter().skip(1).position(|byte| *byte == b'\x1b');
            let part = rest.get(..next.map_or(rest.len(), |next| next + 1)).unwrap_or(rest);
            escape(form, part, out);
            part.len()
        });
        if style.is_some() {
            out.extend_from_slice(rest.get(..taken).unwrap_or_default());
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    whole
}

fn escape(form: Form, bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let mut units = [0; 4];
            match letter {
                _ if letter == '\n' || !is_hidden(letter) => {
                    out.extend_from_slice(letter.encode_utf8(&mut units).as_bytes());
                }
                _ if form == Form::Json => {
                    let mut units = [0; 2];
                    let escapes = letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
                    escapes.for_each(|escape| out.extend_from_slice(escape.as_bytes()));
                }
                _ => out.extend_from_slice(letter.escape_default().to_string().as_bytes()),
            }
        }
        match form {
            Form::Text => {
                chunk.invalid().iter().for_each(|byte| out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()))
            }
            Form::Json if !chunk.invalid().is_empty() => out.extend_from_slice(b"\\ufffd"),
            Form::Json => {}
        }
    }
}

/// The styles that are ours: reset, bold, dimmed, underlined, and colours of the foreground.
const STYLES: [&[u8]; 18] = [
    b"\x1b[0m",
    b"\x1b[1m",
    b"\x1b[2m",
    b"\x1b[4m",
    b"\x1b[31m",
    b"\x1b[32m",
    b"\x1b[33m",
    b"\x1b[34m",
    b"\x1b[35m",
    b"\x1b[36m",
    b"\x1b[37m",
    b"\x1b[91m",
    b"\x1b[92m",
    b"\x1b[93m",
    b"\x1b[94m",
    b"\x1b[95m",
    b"\x1b[96m",
    b"\x1b[97m",
];

/// How long the style is that these bytes begin with.
fn style(bytes: &[u8]) -> Option<usize> {
    STYLES.iter().find(|style| bytes.starts_with(style)).map(|style| style.len())
}

/// How many bytes end neither within a character nor within a style.
fn whole(bytes: &[u8]) -> usize {
    let longest = STYLES.iter().map(|style| style.len()).max().unwrap_or(0);
    let tail = bytes.len().saturating_sub(longest);
    let open = bytes.iter().skip(tail).rposition(|byte| *byte == b'\x1b').map(|at| tail + at);
    if let Some(rest) = open.and_then(|at| bytes.get(at..))
        && style(rest).is_none()
        && STYLES.iter().any(|style| style.starts_with(rest))
    {
        return bytes.len() - rest.len();
    }
    let cut = bytes.len().saturating_sub(3);
    let begins = bytes.iter().skip(cut).rposition(|byte| *byte >= 0xc0).map(|at| cut + at);
    match begins.and_then(|at| Some((at, std::str::from_utf8(bytes.get(at..)?)))) {
        Some((at, Err(why))) if why.error_len().is_none() && why.valid_up_to() == 0 => at,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_unseen() {
        assert_eq!(printable("é\u{1b}[31m\n".as_bytes()), "é\\u{1b}[31m\\n");
        assert_eq!(printable(b"a\xffb"), "a\\xffb");
        assert_eq!(
            printable("a\u{202e}b\u{9b}c\u{7f}\u{200b}\u{feff}".as_bytes()),
            "a\\u{202e}b\\u{9b}c\\u{7f}\\u{200b}\\u{feff}"
        );
    }

    #[test]
    fn only_our_styles_pass_the_guard() {
        let guarded = |form, text: &str| {
            let mut out = Vec::new();
            assert_eq!(guard(form, text.as_bytes(), true, &mut out), text.len());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(guarded(Form::Text, "\x1b[1mé\x1b[0m\n"), "\x1b[1mé\x1b[0m\n");
        assert_eq!(guarded(Form::Text, "\x1b[2Ja\x1b]0;x\x07"), "\\u{1b}[2Ja\\u{1b}]0;x\\u{7}");
        assert_eq!(guarded(Form::Text, "a\u{202e}b\tc\r"), "a\\u{202e}b\\tc\\r");
        assert_eq!(guarded(Form::Json, "\"a\u{202e}\u{7f}\u{e0001}é\"\n"), "\"a\\u202e\\u007f\\udb40\\udc01é\"\n");
    }

    /// However output is cut into writes, the same comes out.
    #[test]
    fn cuts_change_nothing() {
        let text = "a\x1b[1mé\x1b[31m→\u{1f600}\x1b[0m\u{202e}\x1b[9m".as_bytes();
        let mut wanted = Vec::new();
        guard(Form::Text, text, true, &mut wanted);
        for cut in 0..=text.len() {
            let mut out = Vec::new();
            let taken = guard(Form::Text, &text[..cut], false, &mut out);
            assert!(cut - taken < 8);
            guard(Form::Text, &text[taken..], true, &mut out);
            assert_eq!(out, wanted, "cut at {cut}");
        }
    }
}
