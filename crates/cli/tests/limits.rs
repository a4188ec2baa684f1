//! Processes that may have little, and datasets that have much.
#![cfg(target_os = "linux")]

use std::{path::Path, process::Command};

/// As on a machine of many cores: threads that there is no room for are done without.
#[test]
fn a_small_address_space() {
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hostile/seeds/indexes.h5");
    let digest = |kibibytes: &str| {
        let run = format!("ulimit -v {kibibytes}; exec \"$0\" digest \"$1\"");
        let mut command = Command::new("sh");
        command.args(["-c", &run, env!("CARGO_BIN_EXE_hyperslab")]).arg(&seed).env("RAYON_NUM_THREADS", "500");
        command.output().unwrap()
    };
    let (free, limited) = (digest("unlimited"), digest("524288"));
    assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stderr));
    assert_eq!(limited.stdout, free.stdout);
    assert!(String::from_utf8_lossy(&free.stdout).contains("sha256"));
}

/// Datasets of more bytes than 64 bits count are listed, checked and written anew as others are.
#[test]
fn more_bytes_than_64_bits_count() {
    let path = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.h5", std::process::id()));
    let (old, new) = (path("huge"), path("huge-repacked"));
    let file = hyperslab::File::create(&old).unwrap();
    let dataset = file.root().unwrap().new_dataset::<f32>().shape([1 << 40, 1 << 40]).chunks([64, 64]);
    dataset.create("x").unwrap().write_slice((1u64 << 39, 5), &[7f32]).unwrap();
    file.close().unwrap();
    let said = |arguments: &[&std::ffi::OsStr]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hyperslab")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let slice = "549755813888, 4:7";
    for name in [&old, &new] {
        if name == &new {
            said(&["repack".as_ref(), old.as_os_str(), new.as_os_str()]);
        }
        let listed = said(&["ls".as_ref(), name.as_os_str()]);
        assert!(listed.contains("1099511627776×1099511627776  chunks 64×64, over 16 EiB in 16 KiB"), "{listed}");
        let json = said(&["ls".as_ref(), "--json".as_ref(), name.as_os_str()]);
        assert!(json.contains("\"bytes\":null,\"stored\":16384"), "{json}");
        let used = said(&["stat".as_ref(), name.as_os_str()]);
        assert!(used.contains("over 16 EiB"), "{used}");
        assert!(said(&["check".as_ref(), name.as_os_str()]).contains("whole"));
        let shown = said(&["dump".as_ref(), name.as_os_str(), "/x".as_ref(), "--slice".as_ref(), slice.as_ref()]);
        assert!(shown.contains("[0.0, 7.0, 0.0]"), "{shown}");
    }
    std::fs::remove_file(old).unwrap();
    std::fs::remove_file(new).unwrap();
}
