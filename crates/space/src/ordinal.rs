//! Elements by number: the places that elements have in the order of a selection, and the elements at given places.

use std::ops::Range;

use crate::{
    Points, Result, Selection, Slab, Space,
    slab::Parts,
    span::{self, Span},
    tree::{self, Link, Ordinals},
    view::View,
};

impl Space {
    /// The places, in the order of this selection, of those of its elements that `other` selects too: sorted ranges.
    pub(crate) fn places_in(&self, other: &Space) -> Result<Vec<Range<u64>>> {
        let mut places = Vec::new();
        let Some(holder) = other.view()?.to_tree()? else {
            // No dimensions: the one element is there or not.
            if self.rank() == 0 && self.npoints() > 0 && other.npoints() > 0 {
                places.push(0..1);
            }
            return Ok(places);
        };
        match self.view()? {
            View::Points(points) => {
                for (place, point) in points.iter().enumerate() {
                    if tree::contains(&holder, point) {
                        let place = place as u64;
                        tree::append(&mut places, place..place + 1);
                    }
                }
            }
            view => {
                if let Some(own) = view.to_tree()? {
                    places = tree::ordinals(&own, &holder)?;
                }
            }
        }
        Ok(places)
    }

    /// This selection, made ready to be asked for elements by place.
    pub(crate) fn numbered(&self) -> Result<Numbered<'_>> {
        Ok(match self.view()? {
            View::Points(points) => Numbered::Points(points),
            View::Slabs(slabs) if slabs.is_empty() => Numbered::Scalar,
            View::Slabs(slabs) if slabs.len() == 1 => {
                Numbered::Line(slabs.first().copied().unwrap_or(Slab::block(0, 0)))
            }
            view => Numbered::Tree(view.to_tree()?),
        })
    }
}

/// A selection whose elements can be found by number.
#[derive(Clone, Debug)]
pub(crate) enum Numbered<'a> {
    Scalar,
    Line(Slab),
    Tree(Option<Link>),
    Points(&'a Points),
}

impl Numbered<'_> {
    /// The elements at sorted places, all of which must exist, in the order of the selection.
    pub(crate) fn take(&self, places: &[Range<u64>]) -> Result<Selection> {
        Ok(match self {
            _ if places.is_empty() => Selection::NONE,
            Numbered::Scalar => Selection::ALL,
            Numbered::Line(slab) => match places {
                [one] => Selection::from_parts(&[slab.take(one.start, one.end)])?,
                _ => Selection::from_tree(Link::leaf(line(slab, places))),
            },
            Numbered::Tree(None) => Selection::NONE,
            Numbered::Tree(Some(root)) => Selection::from_tree(tree::take(root, 0, &mut Ordinals::new(places))),
            Numbered::Points(points) => {
                let nth = |place: u64| points.get(usize::try_from(place).ok()?);
                let flat = places.iter().cloned().flatten().filter_map(nth).flatten().copied().collect();
                Selection::from_points(Points::new(points.rank(), flat)?)
            }
        })
    }
}

fn line(slab: &Slab, places: &[Range<u64>]) -> Vec<Span<()>> {
    let mut spans = Vec::new();
    for part in places.iter().flat_map(|range| -> Parts { slab.take(range.start, range.end) }) {
        for span in part.spans() {
            span::push(&mut spans, span);
        }
    }
    spans
}
