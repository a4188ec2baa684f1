//! Comparing objects: kinds, links, types, shapes, attributes.

use super::Differ;
use super::print::Difference;
use super::values::Differing;
use crate::arguments::Aspect;
use crate::escape::printable;
use crate::failure::Failure;
use crate::sparse::sections;
use crate::text::{count, lossy, shape, sizes};
use hyperslab::dtype::Datatype;
use hyperslab::space::Extent;
use hyperslab::{Attribute, Dataset, Error, FilterStep, Group, Layout, Link, Node, PathId, Target};
use std::cmp::Ordering;

/// One thing of both sides, or of one.
enum Pair<T> {
    Left(T),
    Right(T),
    Both(T, T),
}

/// Pairs of what has the same name; both lists are in the order of names.
fn pairs<T>(left: Vec<T>, right: Vec<T>, name: impl Fn(&T) -> &[u8]) -> Vec<Pair<T>> {
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(left), Some(right)) => name(left).cmp(name(right)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return pairs,
        };
        match order {
            Ordering::Less => pairs.extend(left.next().map(Pair::Left)),
            Ordering::Greater => pairs.extend(right.next().map(Pair::Right)),
            Ordering::Equal => pairs.extend(left.next().zip(right.next()).map(|(left, right)| Pair::Both(left, right))),
        }
    }
}

impl Differ<'_> {
    /// Compares two objects; those below them wait.
    pub(super) fn objects(&mut self, id: PathId, left: &Node, right: &Node) -> Result<(), Failure> {
        let path = &*self.paths.get(id);
        match (left, right) {
            (Node::Group(left), Node::Group(right)) => self.groups((id, path), left, right)?,
            (Node::Dataset(left), Node::Dataset(right)) => self.dataset_pair(path, left, right)?,
            (Node::Datatype(left), Node::Datatype(right)) => match (left.datatype(), right.datatype()) {
                (Ok(left), Ok(right)) => self.types(path, None, &left, &right)?,
                (Err(why), _) | (_, Err(why)) => self.complain(path, &why),
            },
            _ => {
                let (left, right) = (Some(left.kind().to_owned()), Some(right.kind().to_owned()));
                self.tell(&difference(path, "kind", None, left, right))?;
            }
        }
        if self.options.compares(Aspect::Attributes) && !self.is_told() {
            self.attributes(path, left, right)?;
        }
        Ok(())
    }

    fn groups(&mut self, (id, path): (PathId, &[u8]), left: &Group, right: &Group) -> Result<(), Failure> {
        let (left, right) = match (left.links(), right.links()) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(why), _) | (_, Err(why)) => {
                self.complain(path, &why);
                return Ok(());
            }
        };
        let told = self.options.compares(Aspect::Links);
        let mut below = Vec::new();
        for pair in pairs(left, right, |link: &Link| &link.name) {
            let name = match &pair {
                Pair::Left(link) | Pair::Right(link) | Pair::Both(link, _) => &link.name,
            };
            let path = [path.strip_suffix(b"/").unwrap_or(path), b"/", name].concat();
            if self.is_excluded(&path) {
                continue;
            }
            match pair {
                Pair::Left(link) if told => {
                    let what = describe(&self.left.file, &link);
                    self.tell(&difference(&path, "only left", None, Some(what), None))?;
                }
                Pair::Right(link) if told => {
                    let what = describe(&self.right.file, &link);
                    self.tell(&difference(&path, "only right", None, None, Some(what)))?;
                }
                Pair::Both(left, right) => {
                    let both = self.links(&path, &left, &right)?;
                    below.extend(both.map(|(first, second)| (self.paths.below(id, &left.name), first, second)));
                }
                _ => {}
            }
        }
        // The last one to wait is the first to be compared.
        for (path, left, right) in below.into_iter().rev() {
            self.wait(path, left, right);
        }
        Ok(())
    }

    fn is_excluded(&self, path: &[u8]) -> bool {
        let below = |excluded: &String| {
            let excluded = format!("/{}", excluded.trim_matches('/'));
            path.strip_prefix(excluded.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        self.options.exclude.iter().any(below)
    }

    /// Two links of one name: what they lead to in their files, if both are hard ones.
    fn links(&mut self, path: &[u8], left: &Link, right: &Link) -> Result<Option<(Node, Node)>, Failure> {
        if let (Target::Hard(first), Target::Hard(second)) = (&left.target, &right.target) {
            if self.seen.contains(&(*first, *second)) {
                return Ok(None);
            }
            return match (self.left.file.at(*first), self.right.file.at(*second)) {
                (Ok(left), Ok(right)) => Ok(Some((left, right))),
                (Err(why), _) | (_, Err(why)) => {
                    self.complain(path, &why);
                    Ok(None)
                }
            };
        }
        if left.target != right.target && self.options.compares(Aspect::Links) {
            let words = (describe(&self.left.file, left), describe(&self.right.file, right));
            self.tell(&difference(path, "link", None, Some(words.0), Some(words.1)))?;
        }
        Ok(None)
    }

    fn dataset_pair(&mut self, path: &[u8], left: &Dataset, right: &Dataset) -> Result<(), Failure> {
        self.types(path, None, left.datatype(), right.datatype())?;
        let values = self.options.compares(Aspect::Values);
        let comparable = self.shapes(path, None, (&left.extent(), &right.extent()), values)?;
        if self.options.compares(Aspect::Storage) {
            let words = (storage(left), storage(right));
            if words.0 != words.1 {
                self.tell(&difference(path, "storage", None, Some(words.0), Some(words.1)))?;
            }
        }
        if comparable && values && left.is_sparse() && right.is_sparse() {
            self.fills(path, left, right)?;
        }
        if comparable && values && !self.is_told() {
            let found = self.datasets(left, right);
            self.values(path, None, found)?;
        }
        Ok(())
    }

    /// Undefined elements of two sparse datasets are equal, whatever they read as: their fill value is compared by itself.
    fn fills(&mut self, path: &[u8], left: &Dataset, right: &Dataset) -> Result<(), Failure> {
        let words = || Ok((self.fill_words(left, true)?, self.fill_words(right, false)?));
        match self.same_fill(left, right).and_then(|same| if same { Ok(None) } else { words().map(Some) }) {
            Ok(None) => {}
            Ok(Some((left, right))) => self.tell(&difference(path, "fill value", None, Some(left), Some(right)))?,
            Err(why) => self.complain(path, &why),
        }
        Ok(())
    }

    fn types(&mut self, path: &[u8], name: Option<&[u8]>, left: &Datatype, right: &Datatype) -> Result<(), Failure> {
        if left == right || !self.options.compares(Aspect::Types) {
            return Ok(());
        }
        self.tell(&difference(path, "type", name, Some(left.to_string()), Some(right.to_string())))
    }

    /// Whether values have the same places. If they have not, that is said: as a difference, or, if only `values` are compared, as what prevents it.
    fn shapes(
        &mut self,
        path: &[u8],
        name: Option<&[u8]>,
        (left, right): (&Extent, &Extent),
        values: bool,
    ) -> Result<bool, Failure> {
        let same = left.dims() == right.dims() && left.is_null() == right.is_null();
        if !same && self.options.compares(Aspect::Shapes) {
            self.tell(&difference(path, "shape", name, Some(shape(left)), Some(shape(right))))?;
        } else if !same && values {
            let of = name.map_or_else(String::new, |name| format!("attribute {}: ", printable(name)));
            let why = format!("{of}values of the shapes {} and {} cannot be compared", shape(left), shape(right));
            self.complain(path, &why);
        }
        Ok(same && !left.is_null())
    }

    fn values(&mut self, path: &[u8], name: Option<&[u8]>, found: hyperslab::Result<Differing>) -> Result<(), Failure> {
        match found {
            Ok(found) if found.differing == 0 => Ok(()),
            Ok(found) => {
                let kind = if name.is_some() { "attribute" } else { "values" };
                self.tell(&Difference { values: Some(found), ..difference(path, kind, name, None, None) })
            }
            Err(why) => {
                self.complain(path, &why);
                Ok(())
            }
        }
    }

    fn attributes(&mut self, path: &[u8], left: &Node, right: &Node) -> Result<(), Failure> {
        let comments = (left.comment()?, right.comment()?);
        if comments.0 != comments.1 {
            let [left, right] = [comments.0, comments.1].map(|comment| comment.as_deref().map(lossy));
            self.tell(&difference(path, "comment", None, left, right))?;
        }
        let (left, right) = match (readable(left), readable(right)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(why), _) | (_, Err(why)) => {
                self.complain(path, &why);
                return Ok(());
            }
        };
        for pair in pairs(left, right, |attribute: &Attribute| &attribute.name) {
            match pair {
                Pair::Left(only) => {
                    let what = Some(format!("attribute, {}", only.datatype));
                    self.tell(&difference(path, "only left", Some(&only.name), what, None))?;
                }
                Pair::Right(only) => {
                    let what = Some(format!("attribute, {}", only.datatype));
                    self.tell(&difference(path, "only right", Some(&only.name), None, what))?;
                }
                Pair::Both(left, right) => {
                    let name = Some(left.name.as_slice());
                    self.types(path, name, &left.datatype, &right.datatype)?;
                    if self.shapes(path, name, (&left.extent, &right.extent), true)? {
                        let found = self.attribute_values(&left, &right);
                        self.values(path, name, found)?;
                    }
                }
            }
            if self.is_told() {
                break;
            }
        }
        Ok(())
    }
}

fn difference(
    path: &[u8],
    kind: &'static str,
    attribute: Option<&[u8]>,
    left: Option<String>,
    right: Option<String>,
) -> Difference {
    Difference { path: lossy(path), kind, attribute: attribute.map(lossy), left, right, values: None }
}

/// All attributes, or why one cannot be read.
fn readable(node: &Node) -> Result<Vec<Attribute>, Error> {
    node.attributes()?.into_iter().collect()
}

/// What a link leads to, in a few words.
fn describe(file: &hyperslab::File, link: &Link) -> String {
    match &link.target {
        Target::Hard(address) => file.at(*address).map_or("unreadable object".into(), |node| node.kind().to_owned()),
        Target::Soft(path) => format!("→ {}", printable(path)),
        Target::External { file, path } => format!("→ {}:{}", printable(file), printable(path)),
        Target::User { class, .. } => format!("user-defined link of class {class}"),
    }
}

/// How a dataset is stored, in a few words.
fn storage(dataset: &Dataset) -> String {
    let mut words = match dataset.layout() {
        Ok(Layout::Compact) => "compact".into(),
        Ok(Layout::Contiguous) => "contiguous".into(),
        Ok(Layout::Chunked { chunk, .. }) => {
            format!("{}chunks {}", if dataset.is_sparse() { "sparse " } else { "" }, sizes(&chunk))
        }
        Ok(Layout::External(files)) => format!("{} of external files", count(files.len() as u64, "part")),
        Ok(Layout::Virtual(sources)) => format!("virtual, {}", count(sources.len() as u64, "source")),
        Ok(_) => "another way".into(),
        Err(why) => why.to_string(),
    };
    let extent = dataset.extent();
    let max = extent.max();
    if max != dataset.shape() {
        words.push_str(&format!(", up to {}", sizes(max)));
    }
    let told = |step: &FilterStep| {
        let name = hyperslab::filter::known_name(step.id).map_or_else(|| step.id.to_string(), str::to_owned);
        format!(", {name} {:?}", step.params)
    };
    words.extend(dataset.filters().iter().map(told));
    if let Some(filters) = dataset.section_filters() {
        for (section, name) in sections(dataset) {
            words.push_str(&format!(", {name}: "));
            let steps: String = filters.of(section).iter().map(told).collect();
            words.push_str(steps.strip_prefix(", ").unwrap_or("no filters"));
        }
    }
    words
}
