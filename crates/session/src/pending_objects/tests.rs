use super::*;

fn run(index: u32) -> Vec<HeapObjectRun> {
    HeapObjectRun::of([HeapObjectId { address: 8, index, length: 10 }])
}

fn indexes(objects: impl IntoIterator<Item = HeapObjectId>) -> Vec<u32> {
    objects.into_iter().map(|object| object.index).collect()
}

fn removed(pending: &PendingObjects, mark: u64) -> Vec<u32> {
    pending.forget_added(mark, &[1]);
    indexes(pending.take_replaced(mark, &[1]).into_iter().flat_map(HeapObjectRun::objects))
}

#[test]
fn what_ended_after_a_mark_stays() {
    let pending = PendingObjects::default();
    pending.begin(1, run(10)).end(run(1));
    let going_on = pending.begin(1, run(11));
    let mark = pending.mark();
    going_on.end(run(10));
    assert_eq!(pending.waiting(1), Waiting { runs: 4, bytes: 20 });
    assert_eq!(removed(&pending, mark), [1]);
    assert_eq!(removed(&pending, mark), []);
    assert_eq!(removed(&pending, pending.mark()), [10]);
    assert!(!pending.has(1));
}

#[test]
fn a_deleted_dataset_takes_all_and_leaves_nothing_to_the_next_at_its_address() {
    let pending = PendingObjects::default();
    pending.begin(1, run(10)).end(run(1));
    let going_on = pending.begin(1, run(11));
    assert_eq!(indexes(pending.take(1)), [11, 10, 1]);
    pending.begin(1, run(20)).end(Vec::new());
    assert!(going_on.end_in_part(run(10), |_| false).is_empty());
    assert_eq!(indexes(pending.take(1)), [20]);
}

#[test]
fn objects_that_no_value_names_are_told_and_forgotten() {
    let pending = PendingObjects::default();
    let ticket =
        pending.begin(1, HeapObjectRun::of(run(10).into_iter().chain(run(11)).flat_map(HeapObjectRun::objects)));
    assert_eq!(indexes(ticket.end_in_part(run(1), |object| object.index == 11)), [10]);
    assert_eq!(indexes(pending.take(1)), [11, 1]);
    drop(pending.begin(1, run(12)));
    assert!(!pending.has(1));
}

#[test]
fn what_was_held_for_nothing_is_removed_later() {
    let pending = PendingObjects::default();
    pending.begin(1, run(10)).end(run(1));
    pending.hold(1);
    assert_eq!(removed(&pending, pending.mark()), []);
    pending.resume(1);
    assert_eq!(removed(&pending, pending.mark()), [1]);
    assert!(!pending.has(1));
}

#[test]
fn nothing_is_removed_while_chunks_are_discarded() {
    let pending = PendingObjects::default();
    pending.begin(1, run(10)).end(run(1));
    pending.hold(1);
    assert_eq!(removed(&pending, pending.mark()), []);
    pending.release(1);
    assert_eq!(removed(&pending, pending.mark()), []);
    pending.begin(1, run(11)).end(run(10));
    pending.postpone(1);
    assert_eq!(pending.waiting(1), Waiting::default());
    assert_eq!(removed(&pending, pending.mark()), [10]);
}
