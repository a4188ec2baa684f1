//! Free sections, by address and by size.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Rule, Span};

/// Free space: sections that never touch, since neighbours become one.
///
/// ```
/// use hyperslab_alloc::{Rule, Sections, Span};
/// let mut free = Sections::default();
/// free.add(Span { start: 0, len: 100 });
/// free.add(Span { start: 200, len: 50 });
/// assert_eq!(free.take(40, Rule::ANYWHERE).map(|span| span.start), Some(200), "the smallest that fits");
/// free.add(Span { start: 100, len: 100 });
/// assert_eq!(free.iter().next(), Some(Span { start: 0, len: 200 }));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// Sections do not grow together over multiples of this; 0 for none.
    border: u64,
    by_start: BTreeMap<u64, u64>,
    by_len: BTreeSet<(u64, u64)>,
}

/// With a rule the best fit may need a larger section; so many sizes are looked at before any larger one is taken.
const LOOKS: usize = 64;

impl Sections {
    /// Free space that is cut at all multiples of `border`.
    pub fn cut_at(border: u64) -> Sections {
        Sections { border, ..Sections::default() }
    }

    /// Adds a section that is disjoint from all others.
    pub fn add(&mut self, span: Span) {
        let (mut start, mut end) = (span.start, span.end());
        if start >= end {
            return;
        }
        let before = self.by_start.range(..start).next_back().map(|(&start, &len)| Span { start, len });
        if let Some(before) = before.filter(|before| before.end() == start && !self.is_border(start)) {
            self.remove(before);
            start = before.start;
        }
        if let Some(&len) = self.by_start.get(&end).filter(|_| !self.is_border(end)) {
            let after = Span { start: end, len };
            self.remove(after);
            end = after.end();
        }
        self.insert(Span::between(start, end));
    }

    /// Takes `len` bytes out of the smallest section that has them where the rule allows it.
    pub fn take(&mut self, len: u64, rule: Rule) -> Option<Span> {
        let place = |&(size, start): &(u64, u64)| {
            let place = rule.place(start, len)?;
            let section = Span { start, len: size };
            (place.checked_add(len)? <= section.end()).then_some((section, Span { start: place, len }))
        };
        let mut fitting = self.by_len.range((len, 0)..);
        let near = fitting.by_ref().take(LOOKS).find_map(place);
        let sure = || self.by_len.range((len.saturating_add(rule.slack(len)), 0)..).next().and_then(place);
        let (section, taken) = near.or_else(|| fitting.next().and_then(|_| sure()))?;
        self.remove(section);
        self.insert(Span::between(section.start, taken.start));
        self.insert(Span::between(taken.end(), section.end()));
        Some(taken)
    }

    /// The same, out of the section that ends at `end` only if no other has them.
    ///
    /// ```
    /// # use hyperslab_alloc::{Rule, Sections, Span};
    /// let mut free = Sections::default();
    /// free.add(Span { start: 0, len: 100 });
    /// free.add(Span { start: 200, len: 50 });
    /// assert_eq!(free.take_before(250, 40, Rule::ANYWHERE).map(|span| span.start), Some(0));
    /// assert_eq!(free.take_before(250, 61, Rule::ANYWHERE), None);
    /// assert_eq!(free.take_before(250, 50, Rule::ANYWHERE).map(|span| span.start), Some(40));
    /// assert_eq!(free.take_before(250, 50, Rule::ANYWHERE).map(|span| span.start), Some(200));
    /// ```
    pub fn take_before(&mut self, end: u64, len: u64, rule: Rule) -> Option<Span> {
        let last = self.take_last(end);
        let taken = self.take(len, rule);
        last.into_iter().for_each(|last| self.insert(last));
        taken.or_else(|| if last.is_some() { self.take(len, rule) } else { None })
    }

    /// The length of the largest section of `least` to `most` bytes all of which the rule gives out as one piece.
    pub fn largest(&self, least: u64, most: u64, rule: Rule) -> Option<u64> {
        let fitting = self.by_len.range((least, 0)..=(most.max(least), u64::MAX)).rev().take(LOOKS);
        let mut whole = fitting.filter(|(size, start)| rule.place(*start, *size) == Some(*start));
        whole.next().map(|(size, _)| *size)
    }

    /// Takes exactly this range, if all of it is free.
    pub fn take_at(&mut self, span: Span) -> bool {
        let around = self.by_start.range(..=span.start).next_back().map(|(&start, &len)| Span { start, len });
        let Some(around) = around.filter(|around| around.end() >= span.end() && !span.is_empty()) else { return false };
        self.remove(around);
        self.insert(Span::between(around.start, span.start));
        self.insert(Span::between(span.end(), around.end()));
        true
    }

    /// Takes the section that ends at `end`.
    pub fn take_last(&mut self, end: u64) -> Option<Span> {
        let last = self.by_start.range(..end).next_back().map(|(&start, &len)| Span { start, len });
        let last = last.filter(|last| last.end() == end)?;
        self.remove(last);
        Some(last)
    }

    /// The section that holds this address.
    pub fn around(&self, address: u64) -> Option<Span> {
        let found = self.by_start.range(..=address).next_back().map(|(&start, &len)| Span { start, len });
        found.filter(|found| address < found.end())
    }

    /// All sections in the order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        self.by_start.iter().map(|(&start, &len)| Span { start, len })
    }

    /// How many bytes are free.
    pub fn bytes(&self) -> u64 {
        self.by_start.values().sum()
    }

    /// How many sections there are.
    pub fn len(&self) -> usize {
        self.by_start.len()
    }

    /// Whether nothing is free.
    pub fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    fn is_border(&self, address: u64) -> bool {
        self.border > 0 && address.is_multiple_of(self.border)
    }

    fn insert(&mut self, span: Span) {
        if !span.is_empty() {
            self.by_start.insert(span.start, span.len);
            self.by_len.insert((span.len, span.start));
        }
    }

    fn remove(&mut self, span: Span) {
        self.by_start.remove(&span.start);
        self.by_len.remove(&(span.len, span.start));
    }
}
