//! Paths of many objects in little memory.

/// Paths that a walk met. Each is stored as a name below another path, so that memory grows with the names and not with the depth of a file.
///
/// ```
/// use hyperslab_object::Paths;
/// let mut paths = Paths::new();
/// let root = paths.top(b"/");
/// let run = paths.below(root, b"run");
/// let images = paths.below(run, b"images");
/// assert_eq!(paths.get(images), b"/run/images");
/// assert_eq!(paths.get(root), b"/");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// The path above and the name; a path that has none above it is there as a whole.
    names: Vec<(Option<PathId>, Box<[u8]>)>,
}

/// One of several [`Paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathId(usize);

impl Paths {
    /// No paths yet.
    pub fn new() -> Paths {
        Paths::default()
    }

    /// Adds a path that others are below.
    pub fn top(&mut self, path: &[u8]) -> PathId {
        self.add(None, path)
    }

    /// Adds the path of an object in a group, from the path of the group and the name in it.
    pub fn below(&mut self, group: PathId, name: &[u8]) -> PathId {
        self.add(Some(group), name)
    }

    /// Adds a path that has some words behind another one.
    pub fn with_suffix(&mut self, path: PathId, suffix: &[u8]) -> PathId {
        match self.names.get(path.0) {
            Some((above, name)) => self.add(*above, &[name, suffix].concat()),
            None => self.add(None, suffix),
        }
    }

    fn add(&mut self, above: Option<PathId>, name: &[u8]) -> PathId {
        self.names.push((above, name.into()));
        PathId(self.names.len() - 1)
    }

    /// The whole path.
    pub fn get(&self, path: PathId) -> Vec<u8> {
        let mut parts = Vec::new();
        let mut next = Some(path);
        while let Some((above, name)) = next.and_then(|path| self.names.get(path.0)) {
            parts.push(&**name);
            next = *above;
        }
        parts.reverse();
        if let [top, _, ..] = parts.as_mut_slice() {
            *top = top.strip_suffix(b"/").unwrap_or(top);
        }
        parts.join(&b'/')
    }
}
