//! Deletions that fail are tried again at each flush, which tells of those that still fail.

use std::sync::Arc;

use hyperslab::{
    File, FileSpace, LibVersion, OpenOptions, check,
    driver::{Damage, Driver, Fault, Memory, Target, Transfer},
};

use super::scene::{LOWS, new_dataset};

type Disk = Arc<Fault<Memory>>;

fn options(low: LibVersion) -> OpenOptions {
    OpenOptions::new().libver_min(low).file_space(FileSpace { persist: true, ..FileSpace::default() })
}

/// How many bytes of the file on the disk belong to nothing that has a name.
fn lost(disk: &Disk) -> u64 {
    let mut bytes = vec![0; disk.len(&Transfer::default()).unwrap() as usize];
    disk.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    check::storage(Arc::new(Memory::from(bytes))).unwrap().lost
}

/// The values of the object cannot be read to be deleted.
#[test]
fn an_object_that_cannot_be_read_is_tried_again_at_each_flush() {
    for low in LOWS {
        let disk: Disk = Arc::new(Fault::new(Memory::new()));
        let file = options(low).create().truncate().open_on(disk.clone()).unwrap();
        let root = file.root().unwrap();
        (0..20).for_each(|nth| drop(new_dataset(&root, &format!("other {nth}"))));
        // An index with many blocks, most of which nothing has read yet when the file is opened again.
        let new = root.new_dataset::<u8>().shape([200_000]).max_shape([None]).chunks([20]);
        drop(new.write("x", &[7; 200_000]).unwrap());
        drop(root);
        file.close().unwrap();
        // A process that knows nothing of the index of the chunks.
        let file = OpenOptions::new().read_write().page_buffer(0).open_on(disk.clone()).unwrap();
        let dataset = file.dataset("x").unwrap();
        file.root().unwrap().delete("x").unwrap();
        file.flush().unwrap();
        disk.arm_forever(Target::Reads, 0, Damage::Fail);
        drop(dataset);
        for _ in 0..3 {
            assert!(file.flush().is_err(), "{low:?}: the object is still there");
        }
        disk.disarm();
        // Nothing new is abandoned.
        file.flush().unwrap();
        file.flush().unwrap();
        let size = file.size();
        drop(file.root().unwrap().new_dataset::<u8>().chunks([100]).write("y", &[8; 40_000]).unwrap());
        file.flush().unwrap();
        assert!(file.size() < size + 20_000, "{low:?}: {size} bytes became {}", file.size());
        file.close().unwrap();
        assert_eq!(lost(&disk), 0, "{low:?}");
        assert_eq!(File::open_driver(disk).unwrap().root().unwrap().names().unwrap().len(), 21);
    }
}
