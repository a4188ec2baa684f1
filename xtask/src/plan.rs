//! The house plan as a table: which room may import which.
//!
//! The picture of it is in `docs/ARCHITECTURE.md`. A room not built yet is listed too, so that it is born in its place.

/// A room of the house and the rooms that it may import.
pub(crate) struct Room {
    pub(crate) name: &'static str,
    pub(crate) may_import: &'static [&'static str],
    /// Has no file handle, thread or lock.
    pub(crate) pure: bool,
}

const fn pure(name: &'static str, may_import: &'static [&'static str]) -> Room {
    Room { name, may_import, pure: true }
}

const fn room(name: &'static str, may_import: &'static [&'static str]) -> Room {
    Room { name, may_import, pure: false }
}

/// From the ground up.
pub(crate) const PLAN: &[Room] = &[
    // base
    pure("base", &[]),
    // values
    pure("space", &["base"]),
    pure("dtype", &["base"]),
    pure("filter", &["base"]),
    // services
    pure("alloc", &["base"]),
    pure("format", &["base", "space", "dtype"]),
    room("driver", &["base", "space"]),
    room("meta", &["base"]),
    room("cache", &["base", "space"]),
    // one open file
    room("file", &["base", "space", "driver", "meta", "alloc", "format"]),
    // structures in the file
    room("structures", &["base", "space", "dtype", "filter", "driver", "meta", "alloc", "format", "file"]),
    // engine: the two rooms do not see each other
    room("object", &["base", "space", "dtype", "filter", "driver", "meta", "alloc", "format", "file", "structures"]),
    room(
        "chunk",
        &["base", "space", "cache", "dtype", "filter", "driver", "meta", "alloc", "format", "file", "structures"],
    ),
    // one file in this process: openings, open datasets, other files that it leads to
    room(
        "session",
        &["base", "space", "cache", "dtype", "filter", "driver", "format", "file", "structures", "object", "chunk"],
    ),
    // Rust types as values
    room("element", &["base", "dtype", "driver", "format", "structures", "session"]),
    // jobs: objects and files as a whole
    room("check", &["space", "dtype", "driver", "filter", "format", "file", "structures", "object", "chunk"]),
    room("copy", &["base", "space", "dtype", "driver", "format", "file", "object", "chunk", "session"]),
    // beside the model: what its derive macro writes
    pure("derive", &[]),
    // model
    room(
        "hyperslab",
        &[
            "base", "space", "dtype", "filter", "driver", "format", "file", "object", "chunk", "session", "element",
            "check", "copy", "derive",
        ],
    ),
    // doors: programs come in through the model
    room("cli", &["hyperslab"]),
    room("python", &["hyperslab"]),
    room("capi", &["hyperslab"]),
];

/// Packages of the workspace that stand outside the house and may import anything.
pub(crate) const OUTSIDE: &[&str] =
    &["xtask", "hyperslab-bench", "hyperslab-oracle", "hyperslab-hostile", "hyperslab-workshop"];

/// What a pure room must not name: modules of `std`, and words.
pub(crate) const FORBIDDEN_MODULES: &[&str] = &["fs", "net", "thread"];
pub(crate) const FORBIDDEN_WORDS: &[&str] = &["Mutex", "RwLock", "Condvar", "rayon"];

/// The room of a package: `hyperslab-space` is `space`, the face `hyperslab` is itself.
pub(crate) fn room_name(package: &str) -> &str {
    package.strip_prefix("hyperslab-").unwrap_or(package)
}

/// Looks a package up in the plan.
pub(crate) fn find(package: &str) -> Option<&'static Room> {
    let name = room_name(package);
    PLAN.iter().find(|room| room.name == name)
}
