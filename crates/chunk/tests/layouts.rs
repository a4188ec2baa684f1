//! Values that are not in chunks: in the header, in one piece, in other files.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hyperslab_base::AnyError;
use hyperslab_chunk::{ExternalFile, ExternalPart, Externals, Filling, Storage, Values};
use hyperslab_driver::{Driver, Memory};
use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions};
use hyperslab_format::{
    message::{AllocTime, FillTime, FillValue, FillWrite, Layout},
    object_header::Prefix,
};
use hyperslab_space::{Extent, Op, Slab, Space};

fn new_file() -> OpenFile {
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    let file = OpenFile::create(storage, &CreateOptions::default(), &OpenOptions::default()).unwrap();
    let header = Prefix::new(0).encode_first(&[]).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file
}

fn values(storage: Storage, fill: Option<&[u8]>) -> Values {
    Values { extent: Extent::simple(&[4, 5]).unwrap(), element: 2, fill: fill.map(<[u8]>::to_vec), storage }
}

fn fill(value: FillValue, write: FillTime) -> FillWrite {
    FillWrite { value, alloc: AllocTime::Default, write }
}

/// Two rows and three columns from the middle.
fn middle() -> Space {
    let mut middle = Space::simple(&[4, 5]).unwrap();
    middle.select_hyperslab(Op::Set, &[Slab::block(1, 2), Slab::block(1, 3)]).unwrap();
    middle
}

fn all(file: &OpenFile, values: &Values) -> Vec<u8> {
    let whole = Space::simple(&[4, 5]).unwrap();
    let mut got = vec![99; 40];
    values.read(file, &whole, &whole, &mut got).unwrap();
    got
}

/// What the whole is when the middle was written over `before`.
fn written(before: [u8; 2], buf: &[u8]) -> Vec<u8> {
    let mut whole = before.repeat(20);
    for (nth, at) in [6, 7, 8, 11, 12, 13].into_iter().enumerate() {
        whole[at * 2..][..2].copy_from_slice(&buf[nth * 2..][..2]);
    }
    whole
}

#[test]
fn compact_values_change_the_message() {
    let file = new_file();
    let buf: Vec<u8> = (1..13).collect();
    let mut values = values(Storage::Compact(vec![0; 40]), None);
    let message = fill(FillValue::Default, FillTime::IfSet);
    let source = Space::simple(&[6]).unwrap();
    assert!(values.write(&file, &middle(), &source, &buf, &Filling::new(&message)).unwrap());
    assert_eq!(values.layout(3), Some(Layout::Compact(written([0; 2], &buf))));
    assert!(values.begin_resize(&file, &[2, 5], &Filling::new(&message)).is_err());
}

#[test]
fn contiguous_values_get_space_and_fill_when_first_written() {
    let source = Space::simple(&[6]).unwrap();
    let buf: Vec<u8> = (1..13).collect();
    let user = fill(FillValue::User(vec![7, 8]), FillTime::IfSet);
    let never = fill(FillValue::User(vec![7, 8]), FillTime::Never);
    let zeros = fill(FillValue::Default, FillTime::IfSet);
    for (message, before) in [(&user, [7, 8]), (&zeros, [0, 0])] {
        for early in [false, true] {
            let file = new_file();
            // Space that was used before is not zeros.
            let old = file.allocate(Kind::Raw, 4096).unwrap();
            file.write_raw("old", &[(old, &[55; 4096])]).unwrap();
            file.free(old, 4096).unwrap();
            let filling = Filling::new(message);
            let mut values = values(Storage::Contiguous(None), Some(&before));
            assert_eq!(all(&file, &values), before.repeat(20));
            if early {
                assert!(values.allocate(&file, &filling).unwrap());
                assert_eq!(all(&file, &values), before.repeat(20));
            }
            assert_eq!(values.write(&file, &middle(), &source, &buf, &filling).unwrap(), !early);
            assert_eq!(all(&file, &values), written(before, &buf));
            assert!(!values.write(&file, &middle(), &source, &buf[..12], &filling).unwrap());
            let Some(Layout::Contiguous { address: Some(_), size: Some(40) }) = values.layout(3) else { panic!() };
            values.delete(&file).unwrap();
        }
    }
    assert!(!Filling::new(&never).write);
}

/// A file that counts how often it is looked for.
struct Counted(Arc<Memory>, AtomicUsize);

impl ExternalFile for Counted {
    fn to_read(&self) -> Result<Arc<dyn Driver>, AnyError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(self.0.clone())
    }

    fn to_write(&self) -> Result<Arc<dyn Driver>, AnyError> {
        self.to_read()
    }
}

/// However many runs a request has, it looks for a file once, and only for those that it needs.
#[test]
fn values_in_other_files_are_cut_by_their_parts() {
    let file = new_file();
    let new = |_| Arc::new(Counted(Arc::new(Memory::from(vec![0; 40])), AtomicUsize::new(0)));
    let files: Vec<Arc<Counted>> = (0..4).map(new).collect();
    let part =
        |nth: usize, offset, size| ExternalPart { name: format!("{nth}"), file: files[nth].clone(), offset, size };
    let parts = vec![part(0, 5, Some(13)), part(1, 0, Some(3)), part(2, 1, Some(30)), part(3, 0, None)];
    let mut values = values(Storage::External(Externals { parts }), None);
    let message = fill(FillValue::Default, FillTime::IfSet);
    let buf: Vec<u8> = (1..13).collect();
    let source = Space::simple(&[6]).unwrap();
    assert!(!values.write(&file, &middle(), &source, &buf, &Filling::new(&message)).unwrap());
    let looks = || files.iter().map(|file| file.1.load(Ordering::Relaxed)).collect::<Vec<_>>();
    assert_eq!(looks(), [1, 1, 1, 0]);
    assert_eq!(all(&file, &values), written([0; 2], &buf));
    assert_eq!(looks(), [2, 2, 2, 0]);
    assert_eq!(values.layout(3), None);
}

#[test]
fn a_buffer_that_is_too_small_is_refused_before_anything_changes() {
    let file = new_file();
    let message = fill(FillValue::Default, FillTime::IfSet);
    let mut values = values(Storage::Contiguous(None), None);
    let source = Space::simple(&[6]).unwrap();
    assert!(values.write(&file, &middle(), &source, &[0; 11], &Filling::new(&message)).is_err());
    assert_eq!(values.layout(3), Some(Layout::Contiguous { address: None, size: Some(40) }));
}
