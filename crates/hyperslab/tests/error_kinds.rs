//! Kinds of errors: each is provoked and matched, and causes lead down to what the operating system said.

use std::{
    error::Error as _,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab::{
    Durability, Error, ErrorKind, ExternalAccess, File, LibVersion, OpenOptions, Result,
    driver::{self, Damage, Driver, Fault, Local, Lock, Memory, Operation, Target, Transfer},
    dtype::{Charset, Datatype, Padding},
};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("hyperslab-kinds-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn in_memory() -> File {
    File::create_on(Arc::new(Memory::new())).unwrap()
}

/// A file with `numbers`, 1 to 6 in chunks of 2.
fn numbers(path: &Path) -> File {
    let file = OpenOptions::new().create().truncate().libver_min(LibVersion::V110).open(path).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().max_shape([None]).chunks([2]).deflate(1);
    new.write("numbers", &[1, 2, 3, 4, 5, 6]).unwrap();
    file
}

/// The error of a kind. Its text is complete: what its causes say is in it.
fn expect<T>(kind: ErrorKind, result: Result<T>) -> Error {
    let why = result.err().unwrap_or_else(|| panic!("no error, but {kind}"));
    assert_eq!(why.kind(), kind, "{why}");
    let mut text = why.to_string();
    let mut next = why.source();
    while let Some(cause) = next {
        let below = cause.to_string();
        // Of a lock, the words for it say more than those of the system.
        assert!(text.contains(&below) || kind == ErrorKind::Locked, "{below:?} is not in {text:?}");
        text = below;
        next = cause.source();
    }
    why
}

/// The error of the operating system behind an error.
fn os_error(why: &Error) -> &io::Error {
    let mut next = why.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return found;
        }
        next = cause.source();
    }
    panic!("no cause of {why} is the system's")
}

#[test]
fn names() {
    let scratch = Scratch::new("names");
    let file = numbers(&scratch.path("a.h5"));
    let root = file.root().unwrap();
    expect(ErrorKind::NotFound, file.dataset("nothing"));
    expect(ErrorKind::NotFound, root.attribute("nothing"));
    expect(ErrorKind::AlreadyExists, root.create_group("numbers"));
    expect(ErrorKind::AlreadyExists, root.soft_link("numbers", "/x"));
    expect(ErrorKind::ObjectMismatch, file.group("numbers"));
    root.soft_link("ring", "/other").unwrap();
    root.soft_link("other", "/ring").unwrap();
    expect(ErrorKind::LinkLoop, file.get("ring"));
    root.external_link("outside", "gone.h5", "/x").unwrap();
    expect(ErrorKind::NotFound, file.get("outside"));
    expect(ErrorKind::InvalidArgument, root.create_group("zero\0"));
}

#[test]
fn files() {
    let scratch = Scratch::new("files");
    let (path, other) = (scratch.path("a.h5"), scratch.path("other.h5"));
    let file = numbers(&path);
    expect(ErrorKind::AlreadyExists, File::create_new(&path));
    expect(ErrorKind::Locked, File::create(&path)); // by this process
    let group = file.root().unwrap();
    file.close().unwrap();
    expect(ErrorKind::Closed, group.create_group("x"));

    let lock = Local::options().write(true).open(&path).unwrap();
    if lock.lock(Lock::Exclusive).unwrap() {
        let why = expect(ErrorKind::Locked, File::open(&path)); // as if by another process
        assert_eq!(os_error(&why).kind(), io::ErrorKind::WouldBlock);
        assert_eq!(why.raw_os_error(), os_error(&why).raw_os_error());
    }
    drop(lock);

    let file = File::open(&path).unwrap();
    expect(ErrorKind::ReadOnly, file.root().unwrap().create_group("x"));
    expect(ErrorKind::ReadOnly, file.dataset("numbers").unwrap().write(&[0; 6]));
    drop(file);

    fs::write(&other, "no HDF5 file at all").unwrap();
    let why = expect(ErrorKind::NotHdf5, File::open(&other));
    assert!(why.to_string().starts_with(&format!("cannot open {}: not an HDF5 file", other.display())), "{why}");

    let folder = scratch.path("folder");
    fs::create_dir(&folder).unwrap();
    let inside = folder.join("inside.h5");
    let file = File::create(&inside).unwrap();
    file.root().unwrap().external_link("outside", path.to_str().unwrap(), "/numbers").unwrap();
    file.close().unwrap();
    let file = OpenOptions::new().external_access(ExternalAccess::Inside).open(&inside).unwrap();
    expect(ErrorKind::PermissionDenied, file.get("outside"));
}

#[test]
fn bytes_of_files() {
    let scratch = Scratch::new("bytes");
    let path = scratch.path("a.h5");
    numbers(&path).close().unwrap();
    let whole = fs::read(&path).unwrap();

    let mut newer = whole.clone();
    newer[8] = 99; // the version of the superblock
    fs::write(&path, &newer).unwrap();
    expect(ErrorKind::Unsupported, File::open(&path));

    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    expect(ErrorKind::Malformed, File::open(&path));

    let mut broken = whole;
    let file = File::open_driver(Arc::new(Memory::from(broken.clone()))).unwrap();
    let address = file.dataset("numbers").unwrap().address();
    broken[address as usize + 20] ^= 0xff; // what the checksum of its header covers
    fs::write(&path, &broken).unwrap();
    let why = expect(ErrorKind::Malformed, File::open(&path).unwrap().dataset("numbers"));
    let expected = format!("{}: at address {address:#x}: object header", path.display());
    assert!(why.to_string().starts_with(&expected), "{why}");
}

#[test]
fn values() {
    let file = in_memory();
    let root = file.root().unwrap();
    let numbers =
        root.new_dataset::<i32>().max_shape([None]).chunks([2]).deflate(1).write("numbers", &[1, 2, 3]).unwrap();
    expect(ErrorKind::InvalidArgument, numbers.read_slice::<i32>(7));
    expect(ErrorKind::InvalidArgument, numbers.write(&[1, 2]));
    expect(ErrorKind::InvalidArgument, numbers.resize([1, 1]));
    expect(ErrorKind::TypeMismatch, numbers.read::<String>());
    expect(ErrorKind::TypeMismatch, numbers.write(&["one".to_owned(), "two".into(), "three".into()]));
    let before = numbers.space();
    numbers.resize([4]).unwrap();
    expect(ErrorKind::ExtentMismatch, numbers.read_selection::<i32>(&before));

    let short = Datatype::string(4, Padding::NullPad, Charset::Ascii).unwrap();
    let words = root.new_dataset_of(short).shape([1]).create("words").unwrap();
    expect(ErrorKind::InvalidValue, words.write(&["much too long".to_owned()]));

    numbers.write_chunk([0], 0, b"not what deflate writes").unwrap();
    let why = expect(ErrorKind::Filter, numbers.read::<i32>());
    let expected = format!("dataset at address {:#x}: chunk [0]: filter 1", numbers.address());
    assert!(why.to_string().starts_with(&expected), "{why}");

    let vast = root.new_dataset::<f64>().shape([1 << 50]).chunks([1024]).create("vast").unwrap();
    expect(ErrorKind::OutOfMemory, vast.read::<f64>());

    // A Rust type that no datatype can be made of: the attribute tells what the datatype tells.
    let why = expect(ErrorKind::InvalidArgument, root.new_attribute::<[i32; 0]>().scalar().write("a", &[[0; 0]]));
    assert!(why.source().is_none() && matches!(why, Error::Datatype(_)), "{why:?}");

    root.set_attribute("text", "old").unwrap();
    let text = root.attribute("text").unwrap();
    root.set_attribute("text", "another").unwrap();
    expect(ErrorKind::Deleted, text.read_scalar::<String>());
}

/// Storage that takes no more, as a full disk.
#[derive(Debug)]
struct Full(Memory);

impl Driver for Full {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> driver::Result<()> {
        self.0.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> driver::Result<()> {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        Err(driver::Error::new("disk", Operation::Write, addr, buf.len() as u64, full))
    }

    fn len(&self, transfer: &Transfer) -> driver::Result<u64> {
        self.0.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> driver::Result<()> {
        self.0.set_len(len, transfer)
    }

    fn sync(&self, _: &Transfer) -> driver::Result<()> {
        Ok(())
    }
}

#[test]
fn storage() {
    let why = expect(ErrorKind::NoSpace, File::create_on(Arc::new(Full(Memory::new()))));
    assert_eq!(os_error(&why).kind(), io::ErrorKind::StorageFull);

    let fault = Arc::new(Fault::new(Memory::new()));
    let options = OpenOptions::new().create().truncate().durability(Durability::Flush);
    let file = options.open_on(fault.clone()).unwrap();
    file.root().unwrap().create_group("x").unwrap();
    fault.arm(Target::Upkeep, 0, Damage::Fail);
    expect(ErrorKind::Io, file.flush());
    expect(ErrorKind::Poisoned, file.flush());
}

#[test]
fn causes_lead_to_the_operating_system() {
    let scratch = Scratch::new("causes");
    let path = scratch.path("gone.h5");
    let why = expect(ErrorKind::NotFound, File::open(&path));
    assert_eq!(os_error(&why).kind(), io::ErrorKind::NotFound);
    assert_eq!(why.to_string(), format!("cannot open {}: {}", path.display(), os_error(&why)));

    let why = expect(ErrorKind::InvalidArgument, File::open(&scratch.0));
    assert_eq!(os_error(&why).kind(), io::ErrorKind::IsADirectory);

    // Through a dataset, and the external file that holds its values.
    let (path, raw) = (scratch.path("a.h5"), scratch.path("raw.bin"));
    let file = File::create(&path).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().external([(raw.to_str().unwrap(), 0, Some(12))]);
    new.write("numbers", &[1, 2, 3]).unwrap();
    file.close().unwrap();
    fs::remove_file(&raw).unwrap();
    let why = expect(ErrorKind::NotFound, File::open(&path).unwrap().dataset("numbers").unwrap().read::<i32>());
    assert_eq!(os_error(&why).kind(), io::ErrorKind::NotFound);
    assert!(why.to_string().contains("raw.bin"), "{why}");
}
