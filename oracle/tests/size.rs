//! A file that grows and shrinks again and again ends no larger than libhdf5's.

use hyperslab::{File, LibVersion, OpenOptions};
use std::process::Command;

const TIMES: usize = 10;
const VALUES: usize = 1 << 20; // of eight bytes

const THEIRS: &str = "
import sys, h5py, numpy
path, low = sys.argv[1:]
h5py.File(path, 'w', libver=(low, 'latest')).close()
for time in range(10):
    with h5py.File(path, 'r+', libver=(low, 'latest')) as file:
        file.create_dataset('large', data=numpy.arange(1 << 20, dtype='<i8'))
    with h5py.File(path, 'r+', libver=(low, 'latest')) as file:
        del file['large']
";

#[test]
fn ten_times_added_and_deleted() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let values: Vec<i64> = (0..VALUES as i64).collect();
    for (low, name) in [(LibVersion::Earliest, "earliest"), (LibVersion::V200, "latest")] {
        let path =
            |who: &str| std::env::temp_dir().join(format!("hyperslab-size-{}-{name}-{who}.h5", std::process::id()));
        let (ours, theirs) = (path("ours"), path("theirs"));
        OpenOptions::new().create().truncate().libver_min(low).open(&ours).unwrap().close().unwrap();
        for _ in 0..TIMES {
            let file = OpenOptions::new().read_write().libver_min(low).open(&ours).unwrap();
            file.root().unwrap().new_dataset::<i64>().write("large", &values).unwrap();
            file.close().unwrap();
            let file = OpenOptions::new().read_write().libver_min(low).open(&ours).unwrap();
            file.root().unwrap().delete("large").unwrap();
            file.close().unwrap();
        }
        assert!(Command::new(&python).args(["-c", THEIRS]).arg(&theirs).arg(name).status().unwrap().success());
        let [mine, other] = [&ours, &theirs].map(|path| std::fs::metadata(path).unwrap().len());
        println!("{name}: {mine} bytes, libhdf5 has {other}");
        assert!(mine <= other, "{name}: {mine} bytes, libhdf5 has {other}");
        assert!(File::open(&ours).unwrap().root().unwrap().is_empty().unwrap());
        std::fs::remove_file(ours).unwrap();
        std::fs::remove_file(theirs).unwrap();
    }
}

const MANY: &str = "
import sys, h5py, numpy
path, low = sys.argv[1:]
with h5py.File(path, 'w', libver=(low, 'latest')) as file:
    for group in range(20):
        group = file.create_group(f'group{group}')
        for nth in range(100):
            group.create_dataset(f'data{nth}', data=numpy.arange(10, dtype='<f4')).attrs['scale'] = float(nth)
";

/// Metadata that keeps to the borders of pages leaves little unused.
#[test]
fn many_small_objects() {
    let Some(python) = hyperslab_workshop::python() else { return };
    for (low, name) in [(LibVersion::Earliest, "earliest"), (LibVersion::V200, "latest")] {
        let path =
            |who: &str| std::env::temp_dir().join(format!("hyperslab-many-{}-{name}-{who}.h5", std::process::id()));
        let (ours, theirs) = (path("ours"), path("theirs"));
        let file = OpenOptions::new().create().truncate().libver_min(low).open(&ours).unwrap();
        for group in 0..20 {
            let group = file.root().unwrap().create_group(format!("group{group}")).unwrap();
            for nth in 0..100 {
                let values: Vec<f32> = (0..10u8).map(f32::from).collect();
                let made = group.new_dataset::<f32>().write(format!("data{nth}"), &values).unwrap();
                made.set_attribute("scale", f64::from(nth)).unwrap();
            }
        }
        file.close().unwrap();
        assert!(Command::new(&python).args(["-c", MANY]).arg(&theirs).arg(name).status().unwrap().success());
        let [mine, other] = [&ours, &theirs].map(|path| std::fs::metadata(path).unwrap().len());
        println!("{name}: {mine} bytes, libhdf5 has {other}");
        assert!(mine as f64 <= other as f64 * 1.05, "{name}: {mine} bytes, libhdf5 has {other}");
        std::fs::remove_file(ours).unwrap();
        std::fs::remove_file(theirs).unwrap();
    }
}
