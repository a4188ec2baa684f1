//! Random programs, and threads.

use std::collections::BTreeMap;

use fastrand::Rng;
use hyperslab::{Dataset, File, LibVersion, Node};

use crate::deleted::scene::{LOWS, new_file, whole};

/// Names, handles and values of datasets, in random programs, beside a model.
#[test]
fn random_programs() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let (file, storage) = new_file(LOWS[seed as usize % 3]);
        let root = file.root().unwrap();
        let groups = ["", "g/", "h/"];
        root.create_group("g").unwrap();
        root.create_group("h").unwrap();
        // By number: the values of each dataset; by name: which it is.
        let (mut values, mut names) = (Vec::<Vec<i64>>::new(), BTreeMap::<String, usize>::new());
        let mut handles: Vec<(usize, Dataset)> = Vec::new();
        for step in 0..150 {
            let name = format!("{}{}", groups[rng.usize(..3)], rng.u8(b'p'..b'w') as char);
            let handle = (!handles.is_empty()).then(|| rng.usize(..handles.len()));
            match rng.u8(..15) {
                0..3 if !names.contains_key(&name) => {
                    let new: Vec<i64> = (0..rng.i64(1..200)).map(|nth| nth * step).collect();
                    let made = root.new_dataset::<i64>();
                    let made =
                        if rng.bool() { made.chunks([16]).shape([new.len() as u64]).max_shape([None]) } else { made };
                    if rng.u8(..4) == 0 {
                        handles.push((values.len(), made.write_unnamed(&new).unwrap()));
                    } else {
                        handles.push((values.len(), made.write(&name, &new).unwrap()));
                        names.insert(name, values.len());
                    }
                    values.push(new);
                }
                3..5 if names.contains_key(&name) => {
                    handles.push((names[&name], file.dataset(&name).unwrap()));
                }
                5..7 if names.contains_key(&name) => {
                    root.delete(&name).unwrap();
                    names.remove(&name);
                }
                7 if handle.is_some() && !names.contains_key(&name) => {
                    let (number, dataset) = &handles[handle.unwrap()];
                    root.hard_link(&name, &Node::Dataset(dataset.clone())).unwrap();
                    names.insert(name, *number);
                }
                8 if handle.is_some() => {
                    let (number, dataset) = &handles[handle.unwrap()];
                    let at = rng.usize(..values[*number].len());
                    values[*number][at] = step;
                    dataset.write_slice(at as u64, &[step]).unwrap();
                }
                9 | 10 if handle.is_some() => drop(handles.swap_remove(handle.unwrap())),
                11 if rng.bool() => file.flush().unwrap(),
                12.. if handle.is_some() && names.contains_key(&name) => {
                    let (number, dataset) = &handles[handle.unwrap()];
                    let is_named = names.values().any(|named| named == number);
                    let replaced = root.replace(&name, &Node::Dataset(dataset.clone()));
                    assert_eq!(replaced.is_err(), is_named, "seed {seed}, step {step}");
                    if !is_named {
                        names.insert(name, *number);
                    }
                }
                _ => {}
            }
            for (number, dataset) in &handles {
                assert_eq!(dataset.read::<i64>().unwrap(), values[*number], "seed {seed}, step {step}");
            }
        }
        if rng.bool() {
            handles.clear();
        }
        for (name, number) in &names {
            assert_eq!(file.dataset(name).unwrap().read::<i64>().unwrap(), values[*number]);
        }
        file.close().unwrap();
        drop((handles, root));
        whole(&storage);
        let file = File::open_driver(storage).unwrap();
        for (name, number) in &names {
            assert_eq!(file.dataset(name).unwrap().read::<i64>().unwrap(), values[*number]);
        }
    }
}

/// Threads open, delete and drop the same names.
#[test]
fn threads_delete_what_others_have_open() {
    let (file, storage) = new_file(LibVersion::V110);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = &file;
            scope.spawn(move || {
                let (mut rng, root) = (Rng::with_seed(thread), file.root().unwrap());
                for step in 0..200 {
                    let name = format!("{}", rng.u8(..3));
                    match rng.u8(..4) {
                        0 => _ = root.new_dataset::<i32>().shape([9]).chunks([4]).write(&name, &[step; 9]).is_ok(),
                        1 => _ = root.delete(&name).is_ok(),
                        _ => {
                            let Ok(dataset) = file.dataset(&name) else { continue };
                            for _ in 0..3 {
                                let values = dataset.read::<i32>().unwrap();
                                assert!(values.len() == 9 && values.iter().all(|value| *value == values[0]));
                                dataset.write(&[step; 9]).unwrap();
                            }
                        }
                    }
                }
            });
        }
    });
    file.close().unwrap();
    whole(&storage);
}
