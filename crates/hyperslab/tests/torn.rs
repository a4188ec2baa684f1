//! Reads of metadata that meet a write: every structure with a checksum notices, and a file that reads again gets what is there.
//!
//! Structures that the format gives no checksum are torn too, but what they say then is not looked at: headers of version 1 and their continuations, B-trees of version 1, symbol table nodes,
//! local heaps and global heap collections, and huge objects of fractal heaps.

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use hyperslab::{Low, OpenOptions as ModelOptions};
use hyperslab_chunk::Kept;
use hyperslab_driver::{Driver, Memory, Missing, Torn, Transfer};
use hyperslab_file::{Error, OpenFile, OpenOptions, Retry, Survey};
use hyperslab_filter::Registry;
use hyperslab_object::{Context, Kind, Object, Target, survey_shared};

/// What the file of our own is called here.
const OWN: &str = "own";

/// A file of our own, whose headers go on in further blocks; and seeds of the fuzzer.
const FILES: [&str; 17] = [
    OWN,
    "dense-old",
    "dense",
    "filtered-heap",
    "filters",
    "free-pages",
    "free-space",
    "growing-virtual",
    "indexes-v110",
    "indexes",
    "old-chunks",
    "old-groups",
    "old-types",
    "pages",
    "shared-messages",
    "small-widths",
    "virtual",
];

/// All that a walk over a file meets.
#[derive(Default)]
struct Seen {
    /// Blocks and names of links, in the order in which they are met.
    content: Vec<(String, u64, u64)>,
    problems: Vec<String>,
    errors: Vec<Error>,
    /// Whether there are structures without checksums.
    is_open: bool,
}

impl Survey for Seen {
    fn block(&mut self, what: &'static str, address: u64, length: u64) -> bool {
        const OPEN: [&str; 6] = [
            "local heap",
            "group B-tree",
            "symbol table node",
            "chunk B-tree",
            "global heap collection",
            "huge object of a fractal heap",
        ];
        self.is_open |= OPEN.contains(&what);
        self.content.push((what.into(), address, length));
        true
    }

    fn shared(&mut self, what: &'static str, address: u64, length: u64) -> bool {
        self.block(what, address, length)
    }

    fn free(&mut self, address: u64, length: u64) {
        self.content.push(("free".into(), address, length));
    }

    fn problem(&mut self, what: &'static str, address: u64, why: String) {
        self.problems.push(format!("{what} at {address:#x}: {why}"));
    }

    fn note(&mut self, _: &'static str, _: u64, _: String) {}

    fn failed(&mut self, _: &'static str, _: u64, why: Error) {
        self.errors.push(why);
    }
}

type Storage = Arc<Torn<Memory>>;

fn storage(file: &str) -> Storage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../hostile/seeds/{file}.h5"));
    let bytes = if file == OWN { own() } else { fs::read(path).unwrap() };
    Arc::new(Torn::new(Memory::from(bytes)))
}

fn own() -> Vec<u8> {
    let memory = Arc::new(Memory::new());
    let file = ModelOptions::new().create().truncate().low(Low::V110).open_on(memory.clone()).unwrap();
    let group = file.root().unwrap().create_group("group").unwrap();
    for nth in 0..6 {
        group.set_attribute(format!("a{nth}"), [nth; 60]).unwrap();
        file.flush().unwrap();
    }
    drop(group);
    file.close().unwrap();
    let mut bytes = vec![0; usize::try_from(memory.len(&Transfer::default()).unwrap()).unwrap()];
    memory.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    bytes
}

/// Looks at everything in a file through few and small pages, so that most blocks are reads of their own.
fn walk(storage: &Storage, attempts: u32) -> Seen {
    let mut options = OpenOptions::default();
    (options.page_size, options.pages) = (512, 8);
    options.retry = Retry { attempts, ..Retry::default() };
    let mut seen = Seen::default();
    let file = match OpenFile::open(storage.clone(), &options) {
        Ok(file) => file,
        Err(why) => {
            seen.errors.push(why);
            return seen;
        }
    };
    seen.is_open |= file.superblock().version < 2;
    let context = Context::new(file, hyperslab_chunk::unfilter(Arc::new(Registry::default())));
    context.file().survey(&mut seen);
    survey_shared(&context, &mut seen);
    let root = context.file().root();
    let (mut met, mut waiting) =
        (HashSet::new(), Vec::from_iter((&mut seen as &mut dyn Survey).found("root", 0, root)));
    while let Some(address) = waiting.pop() {
        if !met.insert(address) {
            continue;
        }
        let Some(found) = Object::survey(&context, address, &mut seen) else { continue };
        seen.is_open |= found.object.header().prefix().version == 1;
        if found.object.kind() == Kind::Dataset {
            values(&context, &found.object, &mut seen);
        }
        for link in found.links {
            seen.content.push((format!("link {}", link.name.escape_ascii()), address, 0));
            waiting.extend(if let Target::Hard(target) = link.target { Some(target) } else { None });
        }
        waiting.extend(found.committed);
    }
    seen
}

/// Where the values of a dataset are: its chunk index.
fn values(context: &Context, object: &Object, seen: &mut Seen) {
    let (Ok(layout), Ok(extent)) = (object.layout(context), object.extent(context)) else { return };
    let (Ok((datatype, _)), Ok(filters)) = (object.datatype(context), object.filters(context)) else { return };
    let element = datatype.size() as u64;
    let filtered = !filters.steps.is_empty();
    let kept = Kept { address: object.address(), layout: &layout, extent: &extent, element, filtered };
    kept.survey(context.file(), seen);
}

/// Files of which all that a walk reads has checksums, with what a walk meets there and how many reads it takes.
fn sealed() -> Vec<(&'static str, Seen, u64)> {
    let all = FILES.into_iter().map(|file| {
        let storage = storage(file);
        let seen = walk(&storage, 1);
        assert!(seen.errors.is_empty() && seen.problems.is_empty(), "{file}: {:?} {:?}", seen.errors, seen.problems);
        (file, seen, storage.reads())
    });
    let sealed: Vec<_> = all.filter(|(_, seen, _)| !seen.is_open).collect();
    let kinds: HashSet<&str> =
        sealed.iter().flat_map(|(_, seen, _)| &seen.content).map(|(what, ..)| what.as_str()).collect();
    for what in [
        "superblock",
        "object header",
        "object header continuation",
        "B-tree (version 2)",
        "B-tree node (version 2)",
        "fractal heap",
        "fractal heap direct block",
        "fixed array",
        "fixed array data block",
        "extensible array",
        "extensible array index block",
        "extensible array data block",
        "free-space manager",
        "list of free sections",
    ] {
        assert!(kinds.contains(what), "no file with all checksums has a {what}: {kinds:?}");
    }
    sealed
}

#[test]
fn every_torn_read_is_noticed_by_signature_version_length_or_checksum() {
    for (file, whole, reads) in sealed() {
        let mut noticed = 0;
        for nth in 0..reads {
            for missing in [Missing::Front, Missing::Back, Missing::All] {
                let storage = storage(file);
                storage.arm(nth, missing);
                let seen = walk(&storage, 1);
                let about = format!("{file}, read {nth}, {missing:?}");
                for why in &seen.errors {
                    assert!(why.torn_at().is_some(), "{about}: {why:?}");
                }
                if seen.errors.is_empty() {
                    assert_eq!((&seen.content, &seen.problems), (&whole.content, &whole.problems), "{about}");
                }
                noticed += usize::from(!seen.errors.is_empty());
            }
        }
        println!("{file}: {noticed} of {} torn reads were noticed, the others changed nothing", 3 * reads);
        assert!(noticed > 0, "{file}");
    }
}

#[test]
fn a_file_that_reads_again_is_read_as_it_is() {
    for (file, whole, reads) in sealed() {
        for nth in 0..reads {
            for missing in [Missing::Front, Missing::Back, Missing::All] {
                let storage = storage(file);
                storage.arm(nth, missing);
                let seen = walk(&storage, 3);
                assert!(seen.errors.is_empty(), "{file}, read {nth}, {missing:?}: {:?}", seen.errors);
                assert_eq!(named(&seen), named(&whole), "{file}, read {nth}, {missing:?}");
            }
        }
    }
}

/// The structures that the file names. A trailer with free space behind its end is named by nothing: one that is torn is none, and so is what it says.
fn named(seen: &Seen) -> Vec<&(String, u64, u64)> {
    seen.content.iter().filter(|(what, ..)| !["space trailer", "free"].contains(&what.as_str())).collect()
}

/// Whatever is torn, also without a checksum, a walk ends.
#[test]
fn no_torn_read_stops_the_program() {
    for file in FILES {
        let storage = storage(file);
        walk(&storage, 1);
        for nth in 0..storage.reads() {
            for missing in [Missing::Front, Missing::Back] {
                storage.arm(nth, missing);
                walk(&storage, 1);
            }
        }
    }
}
