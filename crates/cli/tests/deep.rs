//! Groups that nest deep: every command comes to the object at the bottom.
#![cfg(target_os = "linux")]

use hyperslab::File;

use crate::common::{Folder, run, text};

const LEVELS: usize = 2500;

#[test]
fn nothing_is_left_out_below() {
    let folder = Folder::new("deep");
    for (name, value) in [("a.h5", 17), ("b.h5", 18)] {
        let file = File::create(folder.path(name)).unwrap();
        let mut group = file.root().unwrap();
        for _ in 0..LEVELS {
            group = group.create_group("g").unwrap();
        }
        group.new_dataset::<i32>().write("bottom", &[value]).unwrap();
        file.close().unwrap();
    }
    let told = |words: &str, code: i32| {
        let output = run(&folder, words);
        assert_eq!(output.status.code(), Some(code), "{words}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(told("ls a.h5", 0).contains("bottom"));
    assert!(told("dump a.h5", 0).ends_with("/bottom  i32  1\n[17]\n"));
    assert!(told("dump --json a.h5", 0).contains("[17]"));
    assert!(told("digest a.h5", 0).contains("/bottom"));
    assert!(told("diff a.h5 b.h5", 1).contains("/bottom"));
    assert!(told("stat a.h5", 0).contains(&format!("{} groups, 1 dataset,", LEVELS + 1)));
    assert!(told("check a.h5", 0).contains(&format!("{} objects", LEVELS + 2)));
    told("repack a.h5 c.h5", 0);
    told("diff a.h5 c.h5", 0);
    told("copy a.h5 d.h5:/copy", 0);
    told("diff a.h5 d.h5 / /copy", 0);
    // A depth that is asked for is no loss.
    assert!(!told("ls --depth 3 a.h5", 0).contains("bottom"));
}
