//! Counts of what was compared, and what differed.

use std::collections::BTreeMap;

use hyperslab_format::Unfit;

#[derive(Default)]
pub struct Tally {
    file: String,
    counts: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Tally {
    pub fn open(&mut self, file: &str) {
        self.file = file.to_owned();
    }

    pub fn wrong(&mut self, kind: &str, why: impl std::fmt::Display) {
        self.wrong.push(format!("{}: {kind}: {why}", self.file));
    }

    pub fn expect<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.wrong(what, format!("{found:?} found, {expected:?} expected"));
        }
    }

    /// The bytes that were decoded against those that were encoded.
    pub fn same(&mut self, kind: &str, stored: &[u8], encoded: Result<Vec<u8>, Unfit>) {
        *self.counts.entry(kind.to_owned()).or_default() += 1;
        match encoded {
            Ok(encoded) if encoded == stored => {}
            Ok(encoded) => {
                let at = encoded.iter().zip(stored).position(|(left, right)| left != right);
                let at = at.unwrap_or(encoded.len().min(stored.len()));
                let part = |bytes: &[u8]| {
                    let part = &bytes[at.saturating_sub(16).min(bytes.len())..(at + 16).min(bytes.len())];
                    part.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
                };
                let (ours, theirs) = (part(&encoded), part(stored));
                let lengths = (encoded.len(), stored.len());
                self.wrong(kind, format!("at byte {at} of {lengths:?}: {ours} encoded, {theirs} stored"));
            }
            Err(why) => self.wrong(kind, why),
        }
    }

    /// As [`Tally::same`], but what lies behind the encoded bytes is room that was left over.
    pub fn front(&mut self, kind: &str, stored: &[u8], encoded: Result<Vec<u8>, Unfit>) {
        let length = encoded.as_ref().map_or(0, Vec::len);
        self.same(kind, stored.get(..length).unwrap_or(stored), encoded);
    }

    pub fn has(&self, kind: &str) -> bool {
        self.counts.contains_key(kind)
    }

    pub fn print(&self) {
        for (kind, count) in &self.counts {
            println!("{count:8} {kind}");
        }
    }

    pub fn assert_none_wrong(&self) {
        let some = self.wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.wrong.is_empty(), "{} blocks differ:\n{some}", self.wrong.len());
    }
}
