//! Paths that lead through external links: what they reach is of the other file, with all that is below it.

use hyperslab::File;

use crate::common::{Folder, run, text};

/// A file in which everything lies where it does in the others, but numbers and names are its own.
fn file(folder: &Folder, name: &str, other: &str, group: &str, numbers: [i32; 3]) {
    let file = File::create(folder.path(name)).unwrap();
    let root = file.root().unwrap();
    root.external_link("ext", other, "/").unwrap();
    let inner = root.create_group(group).unwrap();
    let dataset = inner.new_dataset::<i32>().write("numbers", &numbers).unwrap();
    inner.set_attribute("main", dataset.reference()).unwrap();
    inner.soft_link("latest", format!("/{group}/numbers")).unwrap();
    file.close().unwrap();
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    file(&folder, "first.h5", "there.h5", "here", [1, 2, 3]);
    file(&folder, "second.h5", "third.h5", "here", [1, 2, 3]);
    file(&folder, "there.h5", "nowhere.h5", "away", [7, 8, 9]);
    file(&folder, "third.h5", "nowhere.h5", "away", [7, 8, 10]);
    folder
}

fn said(folder: &Folder, words: &str, code: i32) -> String {
    let output = run(folder, words);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}: {said}");
    said
}

#[test]
fn what_is_below_an_external_link_is_of_the_other_file() {
    let folder = folder("external-below");
    let dumped = said(&folder, "dump first.h5 /ext /here", 0);
    assert!(dumped.contains("/ext/away/numbers  i32  3\n[7, 8, 9]"), "{dumped}");
    assert!(dumped.contains("/here/numbers  i32  3\n[1, 2, 3]"), "{dumped}");
    let listed = said(&folder, "ls -a first.h5 /ext", 0);
    assert!(listed.contains("latest  → /away/numbers\n"), "{listed}");
    assert!(listed.contains("reference = /away/numbers\n") && !listed.contains("/here"), "{listed}");

    assert_eq!(said(&folder, "diff first.h5 second.h5 /here", 0), "");
    let differing = said(&folder, "diff first.h5 second.h5 /ext --ignore links", 1);
    assert!(differing.contains("/ext/away/numbers  1 of 3 values differs"), "{differing}");
    let differing = said(&folder, "diff first.h5 second.h5 /ext/away /here --ignore links", 1);
    assert!(differing.contains("3 of 3 values differ"), "{differing}");
}

#[test]
fn complaints_tell_of_the_other_file() {
    let folder = folder("external-complaints");
    let missing = said(&folder, "ls first.h5 /ext/awai", 1);
    assert!(
        missing.contains("there is no /awai in ") && missing.contains("there.h5; did you mean /away?"),
        "{missing}"
    );
    let file = File::edit(folder.path("first.h5")).unwrap();
    file.root().unwrap().external_link("gone", "there.h5", "/nothing").unwrap();
    file.close().unwrap();
    let missing = said(&folder, "ls first.h5 gone", 1);
    assert_eq!(missing, "error: there is no /nothing in there.h5, where /gone leads\n");
}

/// A wish for a dataset elsewhere is none for the one that has the same address here.
#[test]
fn what_another_file_holds_is_not_written_anew() {
    let folder = folder("external-repack");
    let refused = said(&folder, "repack --filter /ext/away/numbers=gzip first.h5 new.h5", 1);
    assert!(refused.contains("/ext/away/numbers is in another file"), "{refused}");
    assert!(!folder.path("new.h5").exists());
    said(&folder, "repack --filter /here/numbers=gzip first.h5 new.h5", 0);
}
