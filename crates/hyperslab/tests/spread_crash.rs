//! Files that are spread over several, as a crash leaves them: after each single write to any member.

use std::sync::{Arc, Mutex};

use hyperslab::{
    LibVersion, OpenOptions, check,
    driver::{Change, Driver, Family, Memory, Multi, Tape, Transfer},
};

/// Changes of all members in their order.
type Changes = Arc<Mutex<Vec<(usize, Change)>>>;

/// A member whose changes are noted with those of the others.
struct Member {
    nth: usize,
    tape: Tape,
    changes: Changes,
}

impl Member {
    fn note<T>(&self, change: impl FnOnce(&Tape) -> T) -> T {
        // Held while the member changes, so that the order is the one that the members have.
        let mut changes = self.changes.lock().unwrap();
        let done = change(&self.tape);
        changes.extend(self.tape.changes().into_iter().map(|change| (self.nth, change)));
        self.tape.cut().unwrap();
        done
    }
}

impl Driver for Member {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> hyperslab::driver::Result<()> {
        self.tape.read_at(addr, buf, transfer)
    }
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> hyperslab::driver::Result<()> {
        self.note(|tape| tape.write_at(addr, buf, transfer))
    }
    fn len(&self, transfer: &Transfer) -> hyperslab::driver::Result<u64> {
        self.tape.len(transfer)
    }
    fn set_len(&self, len: u64, transfer: &Transfer) -> hyperslab::driver::Result<()> {
        self.note(|tape| tape.set_len(len, transfer))
    }
    fn sync(&self, _: &Transfer) -> hyperslab::driver::Result<()> {
        Ok(())
    }
}

/// The members of a family, as many as there are bytes for.
fn family(size: u64, members: &[Vec<u8>]) -> Arc<dyn Driver> {
    let held: Mutex<Vec<Vec<u8>>> = Mutex::new(members.to_vec());
    let open = move |name: &str, create: bool| {
        let nth: usize = name.parse().unwrap();
        let bytes = held.lock().unwrap().get(nth).cloned();
        Ok(bytes.or(create.then(Vec::new)).map(Memory::from))
    };
    Arc::new(Family::open("%d", size, Box::new(open)).unwrap())
}

/// Opens what each write leaves, as the next writer does, and looks at all of it.
fn after_each_write(changes: &Changes, members: &mut Vec<Vec<u8>>, assemble: impl Fn(&[Vec<u8>]) -> Arc<dyn Driver>) {
    let mut flushed = false;
    for (nth, change) in std::mem::take(&mut *changes.lock().unwrap()) {
        if members.len() <= nth {
            members.resize(nth + 1, Vec::new());
        }
        change.apply(&mut members[nth]);
        let report = check::storage(assemble(members));
        if !flushed && report.is_err() {
            continue; // The first flush has not ended.
        }
        flushed = true;
        let problems: Vec<_> = report.as_ref().unwrap().problems().collect();
        let is_mark = |why: &str| why.contains("marked as open for writing");
        assert!(problems.iter().all(|found| is_mark(&found.why)), "{problems:#?}");
        let file = OpenOptions::new().read_write().unlocked().open_on(assemble(members)).unwrap();
        file.root().unwrap().new_dataset::<i32>().write("after", &[1; 3000]).unwrap();
        if let Ok(kept) = file.dataset("kept") {
            assert_eq!(kept.read::<i32>().unwrap(), [5; 700]);
        }
        file.close().unwrap();
    }
    assert!(flushed);
}

/// Changes a file that a storage of members records, and looks at what each write leaves.
fn crash(
    changes: &Changes,
    options: OpenOptions,
    storage: Arc<dyn Driver>,
    assemble: impl Fn(&[Vec<u8>]) -> Arc<dyn Driver>,
) {
    let file = options.create().open_on(storage).unwrap();
    let mut members = Vec::new();
    let root = file.root().unwrap();
    root.new_dataset::<i32>().write("kept", &[5; 700]).unwrap();
    file.flush().unwrap();
    after_each_write(changes, &mut members, &assemble);
    for n in 0..12 {
        let group = root.create_group(format!("group {n}")).unwrap();
        group.set_attribute("text", "long".repeat(50)).unwrap();
        group.new_dataset::<String>().write("texts", &["some".to_owned(), "text".repeat(n)]).unwrap();
        if n > 3 {
            root.delete(format!("group {}", n - 3)).unwrap();
        }
        file.flush().unwrap();
    }
    drop(root);
    file.close().unwrap();
    after_each_write(changes, &mut members, &assemble);
}

fn member(nth: usize, changes: &Changes) -> Member {
    Member { nth, tape: Tape::default(), changes: changes.clone() }
}

#[test]
fn a_crash_leaves_a_whole_family() {
    for (low, size) in
        [(LibVersion::Earliest, 1000), (LibVersion::V110, 1000), (LibVersion::V110, 4096), (LibVersion::V200, 777)]
    {
        let changes = Changes::default();
        let recorded = changes.clone();
        let open = move |name: &str, create: bool| Ok(create.then(|| member(name.parse().unwrap(), &recorded)));
        let storage = Arc::new(Family::open("%d", size, Box::new(open)).unwrap());
        crash(&changes, OpenOptions::new().libver_min(low).family(size), storage, |members| family(size, members));
    }
}

#[test]
fn a_crash_leaves_a_whole_split_file() {
    for low in [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200] {
        let changes = Changes::default();
        let storage = Arc::new(Multi::split(member(0, &changes), member(1, &changes)));
        crash(&changes, OpenOptions::new().split("-m.h5", "-r.h5").libver_min(low), storage, |members| {
            let bytes = |nth: usize| Memory::from(members.get(nth).cloned().unwrap_or_default());
            Arc::new(Multi::split(bytes(0), bytes(1)))
        });
    }
}
