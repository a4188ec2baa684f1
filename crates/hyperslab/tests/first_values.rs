//! The first values of a dataset in one piece are written while other threads use the file.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use hyperslab::{
    File, OpenOptions, check,
    driver::{Driver, Memory, Result, Transfer},
    s,
};

/// So many values have 2 MiB.
const COUNT: u64 = 1 << 18;
/// Longer than any step takes that waits for nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// Stops in a large write until it is told to go on.
struct Held {
    memory: Memory,
    stops: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

impl Driver for Held {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.memory.read_at(addr, buf, transfer)
    }
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        let stop = if buf.len() >= 1 << 20 { self.stops.lock().unwrap().take() } else { None };
        if let Some((stopped, go_on)) = stop {
            stopped.send(()).unwrap();
            go_on.recv_timeout(PATIENCE).expect("no thread waits for the write");
        }
        self.memory.write_at(addr, buf, transfer)
    }
    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.memory.len(transfer)
    }
    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.memory.set_len(len, transfer)
    }
    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.memory.sync(transfer)
    }
}

/// Reads and writes another dataset while `write` is in the middle; the file after that.
fn beside(prepare: impl Fn(&File), write: impl Fn(&File) + Send + Sync) -> (File, Arc<Held>) {
    let held = Arc::new(Held { memory: Memory::new(), stops: Mutex::default() });
    let file = OpenOptions::new().create().open_on(held.clone() as Arc<dyn Driver>).unwrap();
    let root = file.root().unwrap();
    root.new_dataset::<i32>().shape([100]).chunks([10]).write("beside", &[5; 100]).unwrap();
    file.flush().unwrap();
    // Requests for one page of the file wait for each other.
    root.new_dataset::<u8>().write("between", &vec![0; 1 << 20]).unwrap();
    prepare(&file);
    file.flush().unwrap();
    let ((stopped, is_stopped), (go_on, goes_on)) = (channel(), channel());
    *held.stops.lock().unwrap() = Some((stopped, goes_on));
    thread::scope(|scope| {
        scope.spawn(|| write(&file));
        is_stopped.recv_timeout(PATIENCE).expect("the write is large");
        let beside = file.dataset("beside").unwrap();
        beside.evict().unwrap();
        assert_eq!(beside.read::<i32>().unwrap(), [5; 100]);
        beside.write_slice(s![3..5], &[6, 7]).unwrap();
        go_on.send(()).unwrap();
    });
    assert_eq!(file.dataset("beside").unwrap().read_slice::<i32>(s![2..6]).unwrap(), [5, 6, 7, 5]);
    (file, held)
}

/// The dataset has these values, and every byte of the file has a use.
fn has_values((file, storage): (File, Arc<Held>), values: impl Fn(u64) -> f64) {
    let wanted: Vec<f64> = (0..COUNT).map(values).collect();
    assert!(file.dataset("d").unwrap().read::<f64>().unwrap() == wanted);
    file.close().unwrap();
    assert_eq!(check::storage(storage).unwrap().problem_count(), 0);
}

#[test]
fn all_values_of_a_dataset_that_is_there() {
    let prepare = |file: &File| drop(file.root().unwrap().new_dataset::<f64>().shape([COUNT]).create("d").unwrap());
    let values: Vec<f64> = (0..COUNT).map(|nth| nth as f64).collect();
    has_values(beside(prepare, |file| file.dataset("d").unwrap().write(&values).unwrap()), |nth| nth as f64);
}

#[test]
fn some_values_over_a_fill_value() {
    let new =
        |file: &File| file.root().unwrap().new_dataset::<f64>().shape([COUNT]).fill_value(2.5).create("d").map(drop);
    let write = |file: &File| file.dataset("d").unwrap().write_slice(s![7..9], &[1.0, 2.0]).unwrap();
    let wanted = |nth| if nth == 7 || nth == 8 { nth as f64 - 6.0 } else { 2.5 };
    has_values(beside(|file| new(file).unwrap(), write), wanted);
}

#[test]
fn values_that_are_converted() {
    let prepare = |file: &File| drop(file.root().unwrap().new_dataset::<f64>().shape([COUNT]).create("d").unwrap());
    let values: Vec<i32> = (0..COUNT as i32).collect();
    has_values(beside(prepare, |file| file.dataset("d").unwrap().write(&values).unwrap()), |nth| nth as f64);
}

#[test]
fn a_new_dataset_with_its_values() {
    let values: Vec<f64> = (0..COUNT).map(|nth| nth as f64).collect();
    let write = |file: &File| drop(file.root().unwrap().new_dataset::<f64>().write("d", &values).unwrap());
    has_values(beside(|_| (), write), |nth| nth as f64);
}

#[test]
fn a_dataset_that_is_deleted_meanwhile_leaves_no_space() {
    let prepare = |file: &File| drop(file.root().unwrap().new_dataset::<f64>().shape([COUNT]).create("d").unwrap());
    let values = vec![1.0; COUNT as usize];
    let (file, storage) = beside(prepare, |file| {
        // Without a name, the dataset is there as long as its handle.
        let dataset = file.dataset("d").unwrap();
        file.root().unwrap().delete("d").unwrap();
        dataset.write(&values).unwrap();
    });
    assert!(file.dataset("d").is_err());
    file.close().unwrap();
    assert_eq!(check::storage(storage).unwrap().problem_count(), 0);
}
