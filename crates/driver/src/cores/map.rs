//! Items of one call, done by the caller and by helper threads.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, vec};

use super::{count, together};

/// Each thread takes about so many batches of the items: few enough to cost nothing, enough that no thread is left with much at the end.
const BATCHES: usize = 4;

/// Does `work` for all items, on all cores, and returns the results in the order of the items. Each thread has a room of its own, which `work`
/// gets with each item: memory that is used again, say. If `work` fails, no further items are begun, and the error is that of the first item
/// which failed. Where the system gives no threads, the caller does all.
///
/// The caller may hold locks: the calling thread runs items of this call and nothing else, and waits for nothing but threads that do so. The
/// items must not want those locks.
///
/// ```
/// use hyperslab_driver::cores;
/// let squares = cores::map(vec![1, 2, 3], |_: &mut (), number: i32| number.checked_mul(number).ok_or("too large"));
/// assert_eq!(squares, Ok(vec![1, 4, 9]));
/// ```
pub fn map<I: Send, W: Default, T: Send, E: Send>(
    items: Vec<I>,
    work: impl Fn(&mut W, I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let threads = if items.len() < 2 { 1 } else { count().min(items.len()) };
    if threads < 2 {
        let mut room = W::default();
        return items.into_iter().map(|item| work(&mut room, item)).collect();
    }
    let shared =
        Shared { left: Mutex::new((0, items.into_iter())), done: Mutex::default(), failed: Mutex::default(), threads };
    together::run(threads - 1, &|| shared.drain(&work));
    shared.finish()
}

/// What the threads of one call share. The locks are held for a few steps each, and no two at once.
struct Shared<I, T, E> {
    /// The items that no thread has begun, and the number of the first.
    left: Mutex<(usize, vec::IntoIter<I>)>,
    /// Results of items that follow each other, with the number of the first.
    done: Mutex<Vec<(usize, Vec<T>)>>,
    /// The first item that failed, and why.
    failed: Mutex<Option<(usize, E)>>,
    threads: usize,
}

impl<I, T, E> Shared<I, T, E> {
    /// Does items until none is left.
    fn drain<W: Default>(&self, work: &impl Fn(&mut W, I) -> Result<T, E>) {
        let (mut room, mut all_done) = (W::default(), Vec::new());
        while let Some((first, items)) = self.take() {
            let mut done = Vec::with_capacity(items.len());
            for (number, item) in (first..).zip(items) {
                match work(&mut room, item) {
                    Ok(result) => done.push(result),
                    Err(why) => return self.fail(number, why),
                }
            }
            all_done.push((first, done));
        }
        lock(&self.done).append(&mut all_done);
    }

    /// The next items, and the number of the first.
    fn take(&self) -> Option<(usize, Vec<I>)> {
        let mut left = lock(&self.left);
        let (first, items) = &mut *left;
        let batch: Vec<I> = items.take((items.len() / (BATCHES * self.threads)).max(1)).collect();
        let number = *first;
        *first += batch.len();
        (!batch.is_empty()).then_some((number, batch))
    }

    /// Keeps the error of the first item that fails. Items are begun in their order, so all before it are done, or fail themselves.
    fn fail(&self, number: usize, why: E) {
        let rest = mem::replace(&mut lock(&self.left).1, Vec::new().into_iter());
        let mut failed = lock(&self.failed);
        let later = if failed.as_ref().is_none_or(|(first, _)| number < *first) {
            failed.replace((number, why))
        } else {
            Some((number, why))
        };
        drop(failed);
        drop((rest, later));
    }

    fn finish(self) -> Result<Vec<T>, E> {
        if let Some((_, why)) = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(why);
        }
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(first, _)| *first);
        Ok(done.into_iter().flat_map(|(_, done)| done).collect())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::cores::alone;

    #[test]
    fn results_are_in_order_and_rooms_are_used_again() {
        for count in [0, 1, 2, 3, 100, 10_000] {
            let found: Result<Vec<_>, ()> = map((0..count).collect(), |room: &mut Vec<usize>, item: usize| {
                room.push(item);
                // Items of a thread come by rising number.
                Ok((room.is_sorted(), item * 2))
            });
            assert_eq!(found, Ok((0..count).map(|item| (true, item * 2)).collect()));
        }
    }

    #[test]
    fn the_first_error_is_told_and_items_behind_it_are_not_begun() {
        let begun = Mutex::new(0);
        let found = map((0..10_000).collect(), |_: &mut (), item: usize| {
            *lock(&begun) += 1;
            if item >= 50 { Err(item) } else { Ok(item) }
        });
        assert_eq!(found, Err(50));
        assert!(*lock(&begun) < 9_000);
    }

    #[test]
    fn a_panic_comes_to_the_caller_when_all_threads_have_left() {
        for bad in [0, 7, 63] {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                map((0..64).collect(), |_: &mut (), item: usize| {
                    thread::sleep(Duration::from_micros(50));
                    assert_ne!(item, bad, "as it should be");
                    Ok::<_, ()>(item)
                })
            }));
            assert!(caught.is_err());
            assert_eq!(map(vec![1, 2], |_: &mut (), item| Ok::<_, ()>(item)), Ok(vec![1, 2]));
        }
    }

    #[test]
    fn items_share_items_out_and_all_threads_may_call() {
        fn sum(depth: u32) -> u64 {
            if depth == 0 {
                return 1;
            }
            map(vec![depth - 1; 4], |_: &mut (), depth| Ok::<_, ()>(sum(depth))).unwrap().into_iter().sum()
        }
        thread::scope(|scope| {
            let callers: Vec<_> = (0..16).map(|_| scope.spawn(|| sum(5))).collect();
            callers.into_iter().for_each(|caller| assert_eq!(caller.join().unwrap(), 4u64.pow(5)));
        });
    }

    #[test]
    fn a_thread_that_is_alone_does_all_work() {
        let threads = || map((0..100).collect(), |_: &mut (), _: i32| Ok::<_, ()>(thread::current().id())).unwrap();
        assert_eq!(alone(threads).into_iter().collect::<HashSet<_>>(), HashSet::from([thread::current().id()]));
        assert_eq!(alone(count), 1);
    }
}
