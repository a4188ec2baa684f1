//! A look at everything in a file, on a storage that tears reads.

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use hyperslab::{LibVersion, OpenOptions as ModelOptions};
use hyperslab_chunk::SurveyedDataset;
use hyperslab_driver::{Driver, Memory, Torn, Transfer};
use hyperslab_file::{Error, OpenFile, OpenOptions, Retry, Survey};
use hyperslab_filter::Registry;
use hyperslab_object::{Context, Kind, Object, Target, survey_shared};

/// What the file of our own is called here.
const OWN: &str = "own";

/// A file whose structures are in the image of a metadata cache.
pub const IMAGE: &str = "rewritten";

/// A file whose shared messages are in a list.
const LIST: &str = "shared-list";

/// A file of our own, whose headers go on in further blocks; one with an image, one with a list; and seeds of the fuzzer.
pub const FILES: [&str; 19] = [
    OWN,
    IMAGE,
    LIST,
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
pub struct Seen {
    /// Blocks and names of links, in the order in which they are met.
    pub content: Vec<(String, u64, u64)>,
    pub problems: Vec<String>,
    pub errors: Vec<Error>,
    /// Whether there are structures without checksums.
    pub is_open: bool,
    /// Where the file begins in its storage.
    pub base: u64,
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

pub type Storage = Arc<Torn<Memory>>;

pub fn storage(file: &str) -> Storage {
    Arc::new(Torn::new(Memory::from(bytes(file))))
}

pub fn bytes(file: &str) -> Vec<u8> {
    let folder = match file {
        OWN => return own(),
        IMAGE | LIST => "tests/data",
        _ => "../../hostile/seeds",
    };
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{folder}/{file}.h5"))).unwrap()
}

fn own() -> Vec<u8> {
    let memory = Arc::new(Memory::new());
    let file = ModelOptions::new().create().truncate().libver_min(LibVersion::V110).open_on(memory.clone()).unwrap();
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

/// Looks at everything in a file through `pages` small pages. If they are few, most blocks are reads of their own; if they are many, no byte is read twice.
pub fn walk(storage: &Storage, pages: usize, attempts: u32) -> Seen {
    let mut options = OpenOptions::default();
    (options.page_size, options.page_buffer) = (Some(512), 512 * pages);
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
    seen.base = file.user_block();
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
    let filtered = !filters.is_empty();
    let (address, layout, extent) = (object.address(), &layout, &extent);
    let kept = SurveyedDataset { address, layout, extent, element, own_element: element, filtered };
    kept.survey(context.file(), seen);
}
