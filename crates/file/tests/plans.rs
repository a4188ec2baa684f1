//! Steps of operations: what a plan writes first, and what only a change may do.

use std::sync::Arc;

use hyperslab_driver::Memory;
use hyperslab_file::{CreateOptions, Error, Kind, OpenFile, OpenOptions, Plan};

/// A file with some blocks in it that stand for objects.
fn with_blocks<const N: usize>() -> (OpenFile, [u64; N]) {
    let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default()).unwrap();
    let blocks = [(); N].map(|()| file.allocate(Kind::Metadata, 10).unwrap());
    change(&file, &blocks);
    file.flush().unwrap();
    (file, blocks)
}

fn change(file: &OpenFile, blocks: &[u64]) {
    blocks.iter().for_each(|&block| file.put(block, vec![1; 10]).unwrap());
}

/// A step that orders and changes two blocks.
fn order(file: &OpenFile, first: u64, later: u64) {
    let mut plan = Plan::new(file);
    plan.orders(first, later);
    let step = plan.begin().unwrap();
    change(file, &[first, later]);
    step.order(first, later).unwrap();
}

#[test]
fn orders_that_make_a_circle_are_written_before_the_step() {
    let (file, [a, b, c]) = with_blocks();
    let before = file.flushes();
    order(&file, a, b);
    order(&file, b, c);
    order(&file, a, c);
    assert_eq!(file.flushes(), before, "they agree");
    order(&file, c, a);
    assert_eq!((file.flushes(), file.is_changed(b)), (before + 1, false));
    assert!(file.is_changed(a) && file.is_changed(c));
    file.flush().unwrap();
    order(&file, a, c);
    assert_eq!(file.flushes(), before + 2, "a flush ends all orders");
}

#[test]
fn a_step_that_contradicts_itself_is_refused() {
    let (file, [a, b]) = with_blocks();
    let mut plan = Plan::new(&file);
    plan.orders(a, b).orders(b, a);
    assert!(matches!(plan.begin(), Err(Error::Refused(_))));
    assert!(!file.is_changed(a) && !file.is_changed(b));
}

#[test]
fn what_is_new_is_written_before_it_shows_what_the_file_knows() {
    let (file, [old]) = with_blocks();
    let new = file.allocate(Kind::Metadata, 10).unwrap();
    change(&file, &[new]);
    let begins = |first, later| {
        let before = file.flushes();
        let mut plan = Plan::new(&file);
        plan.shows_later(first, later).orders(first, later);
        drop(plan.begin().unwrap());
        file.flushes() > before
    };
    assert!(!begins(new, old) && !begins(new, new) && !begins(old, old));
    assert!(begins(old, new));
    assert!(!begins(old, new), "now the file knows both");
}

#[test]
fn other_blocks_show_an_object_when_its_orders_are_written() {
    let (file, [a, b, c]) = with_blocks();
    order(&file, a, b);
    let begins = |object| {
        let before = file.flushes();
        let mut plan = Plan::new(&file);
        plan.moves_blocks(object);
        drop(plan.begin().unwrap());
        file.flushes() > before
    };
    assert!(!begins(c));
    assert!(begins(b));
    assert!(!begins(a), "nothing is ordered any more");
}

#[test]
fn a_step_publishes_in_the_middle() {
    let (file, [a, b]) = with_blocks();
    let step = Plan::new(&file).begin().unwrap();
    change(&file, &[a]);
    step.publish().unwrap();
    assert!(!file.is_changed(a));
    change(&file, &[b]);
    step.order(a, b).unwrap();
    assert!(file.is_changed(b));
}

#[test]
fn files_that_are_only_read_have_no_steps() {
    let storage = Arc::new(Memory::new());
    OpenFile::create(storage.clone(), &CreateOptions::default(), &OpenOptions::default()).unwrap().close().unwrap();
    let file = OpenFile::open(storage, &OpenOptions::default()).unwrap();
    assert!(matches!(Plan::new(&file).begin(), Err(Error::ReadOnly)));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a step begins within a step")]
fn a_step_does_not_begin_within_a_step() {
    let (file, []) = with_blocks();
    let _step = Plan::new(&file).begin().unwrap();
    let _ = Plan::new(&file).begin();
}
