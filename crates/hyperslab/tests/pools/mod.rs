//! Calls from pools of threads: no call waits for a lock that its own thread holds, whatever other tasks the pool has.
//!
//! A worker thread of `rayon` runs other tasks of its pool while it waits. So work that the library shares out under a lock must never wait in
//! the caller's pool: the other task may want the same lock. `HYPERSLAB_SECONDS` says how long each case runs with each kind of callers,
//! `HYPERSLAB_CALLERS` with which (`rayon`, `tokio`, `plain`).

mod callers;
mod scene;
mod watchdog;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Instant,
};

use callers::{Callers, Task};
use hyperslab::driver::cores;
use scene::Scene;
use watchdog::Watchdog;

/// One call, or a few, with the number of the task.
type Call = fn(&Scene, u64);

/// What is tried: calls of tasks, and calls of one more thread beside them.
#[derive(Clone, Copy, Default)]
struct Case {
    name: &'static str,
    tasks: u64,
    calls: &'static [Call],
    beside: Option<Call>,
}

impl Case {
    /// Runs the case with all kinds of callers, with and without read-ahead.
    fn everywhere(self) {
        for callers in callers::all() {
            for read_ahead in [false, true] {
                self.run(callers, read_ahead);
            }
        }
    }

    fn run(self, callers: Callers, read_ahead: bool) {
        let watchdog = Watchdog::new((self.name, callers, read_ahead));
        let begun = Instant::now();
        while begun.elapsed() < watchdog::duration() {
            let scene = Arc::new(Scene::new(read_ahead));
            let over = Arc::new(AtomicBool::new(false));
            let beside = self.beside.map(|call| {
                let (scene, over, watchdog) = (scene.clone(), over.clone(), watchdog.clone());
                thread::spawn(move || {
                    for nth in (0..).take_while(|_| !over.load(Ordering::Relaxed)) {
                        call(&scene, nth);
                        watchdog.pat();
                    }
                })
            });
            let task: Task = {
                let (scene, watchdog) = (scene.clone(), watchdog.clone());
                Arc::new(move |nth| {
                    self.calls[nth as usize % self.calls.len()](&scene, nth);
                    watchdog.pat();
                })
            };
            callers.run(self.tasks, &task);
            over.store(true, Ordering::Relaxed);
            beside.into_iter().for_each(|beside| beside.join().unwrap());
            drop(task);
            Arc::into_inner(scene).expect("all calls have returned").close();
            watchdog.pat();
        }
    }
}

#[test]
fn datasets_are_written() {
    Case { name: "datasets", tasks: 16, calls: &[Scene::write_all], ..Case::default() }.everywhere();
}

#[test]
fn rows_of_one_dataset_are_written() {
    Case { name: "rows", tasks: 16, calls: &[Scene::write_rows], ..Case::default() }.everywhere();
}

#[test]
fn datasets_are_created_with_values() {
    let case = Case { name: "creating", tasks: 16, calls: &[Scene::create], ..Case::default() };
    case.run(Callers::Rayon(4), false);
    case.everywhere();
}

#[test]
fn datasets_are_read_beside_writes() {
    let calls: &[Call] = &[Scene::write_all, Scene::read_all, Scene::read_all];
    Case { name: "reads beside writes", tasks: 24, calls, ..Case::default() }.everywhere();
}

#[test]
fn datasets_are_converted_beside_small_writes() {
    let calls: &[Call] = &[Scene::read_converted, Scene::write_few];
    Case { name: "converting reads", tasks: 24, calls, ..Case::default() }.everywhere();
}

#[test]
fn values_are_converted_to_be_written() {
    let calls: &[Call] = &[Scene::write_converted, Scene::write_few, Scene::read_converted];
    Case { name: "converting writes", tasks: 24, calls, ..Case::default() }.everywhere();
}

#[test]
fn readers_are_in_a_pool_and_a_writer_is_outside() {
    let calls: &[Call] = &[Scene::read_all, Scene::read_converted];
    Case { name: "writer outside", tasks: 24, calls, beside: Some(Scene::write_all) }.everywhere();
}

#[test]
fn strings_are_written_and_read() {
    let calls: &[Call] = &[Scene::write_strings, Scene::read_strings, Scene::write_few];
    Case { name: "strings", tasks: 24, calls, beside: Some(Scene::write_strings) }.everywhere();
}

#[test]
fn several_datasets_are_read_and_written_at_once() {
    let calls: &[Call] = &[Scene::read_many, Scene::write_many, Scene::write_rows];
    Case { name: "many", tasks: 24, calls, beside: Some(Scene::write_all) }.everywhere();
}

#[test]
fn chunks_are_evicted() {
    let calls: &[Call] = &[Scene::write_row, Scene::read_row, Scene::write_row, Scene::read_all];
    Case { name: "evictions", tasks: 100, calls, beside: Some(Scene::flush) }.everywhere();
}

#[test]
fn rows_are_read_in_order() {
    let calls: &[Call] = &[Scene::read_rows_in_order, Scene::write_row];
    Case { name: "in order", tasks: 24, calls, beside: Some(Scene::write_few) }.everywhere();
}

#[test]
fn points_are_read_beside_writes() {
    Case { name: "points", tasks: 24, calls: &[Scene::read_points, Scene::write_few], ..Case::default() }.everywhere();
}

#[test]
fn values_decode_themselves_with_values_of_another_file() {
    let calls: &[Call] = &[Scene::read_nested, Scene::write_few];
    Case { name: "nested", tasks: 10, calls, beside: Some(Scene::write_all) }.everywhere();
}

/// Requests do without helper threads that are busy, and a file that is closed drops jobs that they have not begun.
#[test]
fn a_file_is_used_and_closed_while_all_helper_threads_wait() {
    let watchdog = Watchdog::new("helper threads wait");
    let (release, released) = mpsc::channel::<()>();
    let released = Arc::new(Mutex::new(released));
    for _ in 1..cores::count() {
        let released = released.clone();
        cores::spawn(move || released.lock().unwrap().recv().unwrap_or_default());
    }
    let scene = Scene::new(true);
    for nth in 0..100 {
        scene.write_row(nth);
        watchdog.pat();
    }
    scene.write_all(0);
    scene.read_rows_in_order(0);
    scene.close();
    drop(release);
}
