//! Which other files a file leads to: what each policy lets through, for each way that leads out of the folder of the file. And no file that is named
//! by another one makes a read wait.
#![cfg(target_os = "linux")]

mod scene;

use std::{fs, path::Path, process::Command, sync::mpsc, time::Duration};

use hyperslab::{ExternalAccess, File, LibVersion, OpenOptions, space::Space, write_many};
use scene::{KINDS, Kind, OTHERS, POLICIES, Scene, TARGET_PATHS, TargetPath, VALUES, plant, read, write};

/// Ends the test if something waits that should not.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(work()));
    let done = receiver.recv_timeout(Duration::from_secs(10));
    let done = done.unwrap_or_else(|why| panic!("{what}: no answer, {why}"));
    thread.join().unwrap().unwrap();
    done
}

#[test]
fn what_each_policy_lets_through() {
    let scene = Scene::new("table");
    let mut wrong = Vec::new();
    for (kind, place) in KINDS.into_iter().flat_map(|kind| TARGET_PATHS.map(|place| (kind, place))) {
        let (name, target) = scene.name(kind, place);
        scene.make(kind, &name);
        for (access, writes) in POLICIES.into_iter().flat_map(|access| [(access, false), (access, true)]) {
            scene.refresh();
            let before = scene.outside();
            let may_read = access != ExternalAccess::Inside || place.is_allowed_inside();
            // What an external link leads to is only read.
            let may_write = (access == ExternalAccess::Anywhere || place.is_allowed_inside()) && kind != Kind::Link;

            // A file that can be written reads the same.
            let what = format!("{kind:?} {place:?} {access:?} (writable: {writes})");
            let file = scene.open(access, place, writes);
            match read(&file) {
                Ok(values) if may_read && values == VALUES => {}
                Err(why) if !may_read && why.to_string().contains(&target) => {}
                other => wrong.push(format!("{what} read: {other:?}")),
            }
            file.close().unwrap();
            if scene.outside() != before {
                wrong.push(format!("{what} read: the bytes outside changed"));
            }
            if !writes {
                continue;
            }

            let file = scene.open(access, place, true);
            let written = write(&file);
            file.close().unwrap();
            let names = |why: &str| why.contains(&target) || may_read && kind == Kind::Link;
            match &written {
                Ok(()) if may_write => {}
                Err(why) if !may_write && names(&why.to_string()) => {}
                other => wrong.push(format!("{what} written: {other:?}")),
            }
            if !may_write && scene.outside() != before {
                wrong.push(format!("{what} written: the bytes outside changed"));
            }
            let now = scene.open(ExternalAccess::Anywhere, place, false);
            let expected = if may_write { OTHERS } else { VALUES };
            if read(&now).unwrap() != expected {
                wrong.push(format!("{what} written: {written:?}, but {:?} is there", read(&now)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What the program names when it makes a dataset can be read and written; what it finds in the file at the next opening cannot.
#[test]
fn what_the_program_names_itself_is_allowed() {
    let scene = Scene::new("granted");
    for (kind, access) in [Kind::Raw, Kind::Virtual].into_iter().flat_map(|kind| POLICIES.map(|access| (kind, access)))
    {
        for place in [TargetPath::Absolute, TargetPath::Upwards, TargetPath::LinkedFile, TargetPath::LinkedFolder] {
            scene.refresh();
            let (name, target) = scene.name(kind, place);
            let options = OpenOptions::new().truncate().external_access(access);
            let file = options.open(scene.main()).unwrap();
            plant(&file, kind, &name);
            assert_eq!(read(&file).unwrap(), VALUES, "{kind:?} {access:?} {place:?}");
            write(&file).unwrap();
            assert_eq!(read(&file).unwrap(), OTHERS, "{kind:?} {access:?} {place:?}");
            file.close().unwrap();

            let file = scene.open(access, place, true);
            let before = scene.outside();
            match (write(&file), access) {
                (Ok(()), ExternalAccess::Anywhere) => {}
                (Err(why), ExternalAccess::Inside | ExternalAccess::ReadAnywhere) => {
                    assert!(why.to_string().contains(&target), "{kind:?} {access:?} {place:?}: {why}");
                }
                (other, _) => panic!("{kind:?} {access:?} {place:?}: {other:?}"),
            }
            file.close().unwrap();
            assert_eq!(scene.outside(), before, "{kind:?} {access:?} {place:?}");
        }
    }
}

/// External files that are made for a dataset go again if it is not made, and no others.
#[test]
fn a_dataset_that_is_not_made_leaves_no_files() {
    let scene = Scene::new("not-made");
    let file = OpenOptions::new().truncate().libver_min(LibVersion::Earliest).open(scene.main()).unwrap();
    let root = file.root().unwrap();
    let new = || {
        let names =
            [("near.bin", 0, Some(16)), ("new.bin", 0, Some(8)), ("below/new.bin", 0, Some(8)), ("new.bin", 8, None)];
        root.new_dataset::<i32>().shape([100]).external(names)
    };
    let made = || ["home/new.bin", "home/below/new.bin"].map(|path| scene.at(path).exists());
    // An attribute that is too large for this format is found when the dataset is made.
    let refused = new().attribute_values("large", &vec![0u8; 70_000]).create("y");
    assert!(refused.is_err());
    assert_eq!(made(), [false, false], "{refused:?}");
    assert!(new().external([("missing/folder/new.bin", 0, None)]).create("y").is_err());
    assert_eq!(made(), [false, false]);
    // Those that were there stay as they are.
    assert_eq!(fs::read(scene.at("home/near.bin")).unwrap(), VALUES.map(i32::to_le_bytes).concat());
    fs::write(scene.at("home/below/new.bin"), [1]).unwrap();
    assert!(new().attribute_values("large", &vec![0u8; 70_000]).create("y").is_err());
    assert_eq!(made(), [false, true]);
    let dataset = new().create("y").unwrap();
    assert_eq!(made(), [true, true]);
    assert_eq!(dataset.read_slice::<i32>(..4).unwrap(), VALUES);
}

/// A thread that fails to make a dataset takes no file away that another one has values in.
#[test]
fn files_that_two_threads_name_stay_if_one_makes_its_dataset() {
    let scene = Scene::new("two-threads");
    let file = OpenOptions::new().truncate().libver_min(LibVersion::Earliest).open(scene.main()).unwrap();
    let root = file.root().unwrap();
    for round in 0..200 {
        let name = format!("round{round}.bin");
        let new = || root.new_dataset::<i32>().shape([4]).external([(name.as_str(), 0, None)]);
        std::thread::scope(|scope| {
            let fails = || assert!(new().attribute_values("large", &[0u8; 70_000]).create("fails").is_err());
            scope.spawn(fails);
            scope.spawn(fails);
            let dataset = new().create(format!("round{round}")).unwrap();
            dataset.write(&OTHERS).unwrap();
            assert_eq!(dataset.read::<i32>().unwrap(), OTHERS);
        });
        assert_eq!(file.dataset(format!("round{round}")).unwrap().read::<i32>().unwrap(), OTHERS);
    }
}

/// A program that has a file outside open for writing did not say that another file may write it.
#[test]
fn a_file_outside_that_is_open_for_writing_is_only_read() {
    let scene = Scene::new("open");
    let places = [TargetPath::Absolute, TargetPath::Upwards, TargetPath::LinkedFile, TargetPath::LinkedFolder];
    for (kind, place) in [Kind::Link, Kind::Virtual].into_iter().flat_map(|kind| places.map(|place| (kind, place))) {
        let (name, target) = scene.name(kind, place);
        scene.make(kind, &name);
        let outside = File::edit(scene.at("outside/far.h5")).unwrap();
        let file = scene.open(ExternalAccess::ReadAnywhere, place, true);
        assert_eq!(read(&file).unwrap(), VALUES);
        let written = write(&file);
        assert_eq!(read(&outside).unwrap(), VALUES, "{kind:?}, {place:?}: {written:?}");
        let why = written.unwrap_err().to_string();
        assert!(why.contains(&target), "{kind:?}, {place:?}: {why}");
        drop(file);
        let file = scene.open(ExternalAccess::Anywhere, place, true);
        write(&file).unwrap();
        assert_ne!(read(&outside).unwrap(), VALUES, "{kind:?}, {place:?}");
        outside.dataset("x").unwrap().write(&VALUES).unwrap();
    }
}

/// What a file outside leads to is no more the first file's to change than that file itself.
#[test]
fn a_file_outside_leads_nowhere_that_can_be_written() {
    let scene = Scene::new("hop");
    let outside = File::edit(scene.at("outside/far.h5")).unwrap();
    let (root, space) = (outside.root().unwrap(), Space::simple(&[4]).unwrap());
    root.external_link("again", "far.h5", "/x").unwrap();
    root.new_dataset::<i32>().shape([4]).virtual_source(&space, "far.h5", "x", &space).create("virtual").unwrap();
    let main = File::create(scene.at("home/hop.h5")).unwrap();
    let far = scene.at("outside/far.h5");
    for name in ["again", "virtual"] {
        main.root().unwrap().external_link(name, far.to_str().unwrap(), name).unwrap();
        let dataset = main.dataset(name).unwrap();
        assert_eq!(dataset.read::<i32>().unwrap(), VALUES);
        for refused in [dataset.write(&OTHERS), dataset.resize([2]), dataset.set_attribute("new", 1)] {
            assert!(refused.unwrap_err().to_string().contains("far.h5"), "{name}");
        }
        // Nothing is written of a call that is refused in part.
        let own = main.root().unwrap().new_dataset::<i32>().write(format!("own {name}"), &VALUES).unwrap();
        let (one, two) = (own.space(), dataset.space());
        write_many(&[(&own, &one, OTHERS.as_slice()), (&dataset, &two, &OTHERS)]).unwrap_err();
        assert_eq!(own.read::<i32>().unwrap(), VALUES);
    }
    assert!(!main.dataset("again").unwrap().file().is_writable() && outside.is_writable());
    assert_eq!(read(&outside).unwrap(), VALUES);
}

/// A file of the same name where the program runs does not stand in the way of the one in the folder, which comes first.
#[test]
fn the_first_file_that_is_found_decides() {
    let scene = Scene::new("first");
    if std::env::var_os("HYPERSLAB_OUTSIDE").is_none() {
        // Other tests may run in this process, and in its folder.
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "external_access::the_first_file_that_is_found_decides"]).env("HYPERSLAB_OUTSIDE", "1");
        let done = again.output().unwrap();
        return assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
    std::env::set_current_dir(scene.at("outside")).unwrap();
    for (kind, ending) in [(Kind::Raw, "bin"), (Kind::Link, "h5"), (Kind::Virtual, "h5")] {
        fs::copy(scene.at(&format!("outside/far.{ending}")), scene.at(&format!("outside/near.{ending}"))).unwrap();
        scene.make(kind, &format!("near.{ending}"));
        let before = scene.outside();
        let file = scene.open(ExternalAccess::Inside, TargetPath::Inside, true);
        assert_eq!(read(&file).map_err(|why| why.to_string()), Ok(VALUES.to_vec()), "{kind:?}");
        if kind != Kind::Link {
            assert_eq!(write(&file).map_err(|why| why.to_string()), Ok(()), "{kind:?}");
        }
        file.close().unwrap();
        assert_eq!(scene.outside(), before, "{kind:?}");
    }
}

#[test]
fn a_pipe_that_a_file_names_is_refused() {
    let scene = Scene::new("pipes");
    let pipe = scene.at("home/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for kind in KINDS {
        // The program does not get far that names a pipe itself, so the name is that of another file at first.
        fs::rename(&pipe, scene.at("home/away")).unwrap();
        scene.refresh();
        scene.make(kind, "pipe");
        fs::remove_file(&pipe).ok();
        fs::rename(scene.at("home/away"), &pipe).unwrap();
        for (access, writes) in POLICIES.into_iter().flat_map(|access| [(access, false), (access, true)]) {
            let main = scene.main();
            let (why, then) = in_time(&format!("{kind:?} {access:?}"), move || {
                let options = OpenOptions::new().external_access(access).special_files();
                let file = if writes { options.read_write() } else { options }.open(main).unwrap();
                let written = if writes { write(&file).map(|()| Vec::new()) } else { read(&file) };
                (read(&file).unwrap_err().to_string(), written.unwrap_err().to_string())
            });
            for why in [why, then] {
                assert!(why.contains("pipe"), "{kind:?} {access:?}: {why}");
            }
        }
    }
}

/// Devices are opened if the program asks for them; a pipe is not, since a file in it cannot be read in any order.
#[test]
fn special_files_are_opened_if_the_program_asks() {
    let scene = Scene::new("special");
    let pipe = scene.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let open = |options: OpenOptions, path: &Path| {
        let path = path.to_path_buf();
        in_time(&path.display().to_string(), move || options.open(path).map(drop).unwrap_err().to_string())
    };
    for options in [OpenOptions::new(), OpenOptions::new().special_files(), OpenOptions::new().special_files().create()]
    {
        let why = open(options, &pipe);
        assert!(why.contains(&*pipe.to_string_lossy()) && why.contains("is a pipe"), "{why}");
    }
    for device in ["/dev/null", "/dev/zero"].map(Path::new) {
        let why = open(OpenOptions::new(), device);
        assert!(why.contains(&*device.to_string_lossy()) && why.contains("is a device"), "{why}");
        // It is opened, and has no superblock.
        let why = open(OpenOptions::new().special_files(), device);
        assert!(!why.contains("is a device"), "{why}");
    }
}

/// Two openings share what the process has of a file, but not what they may reach.
#[test]
fn each_opening_of_a_file_has_its_own_policy() {
    let scene = Scene::new("two");
    let pairs = POLICIES.into_iter().flat_map(|one| POLICIES.map(|other| [one, other]));
    for (kind, policies) in pairs.flat_map(|pair| [(Kind::Raw, pair), (Kind::Virtual, pair)]) {
        let (name, target) = scene.name(kind, TargetPath::Absolute);
        scene.make(kind, &name);
        scene.refresh();
        let files = policies.map(|access| scene.open(access, TargetPath::Absolute, true));
        let _held = files.each_ref().map(|file| file.dataset("x").ok());
        for turn in 0..6 {
            let (access, file) = (policies[turn % 2], &files[turn % 2]);
            let what = format!("{kind:?} {policies:?}, turn {turn}");
            match (read(file), access) {
                (Ok(_), ExternalAccess::ReadAnywhere | ExternalAccess::Anywhere) => {}
                (Err(why), ExternalAccess::Inside) => assert!(why.to_string().contains(&target), "{what}: {why}"),
                (other, _) => panic!("{what}: {other:?}"),
            }
            let before = scene.outside();
            match (write(file), access) {
                (Ok(()), ExternalAccess::Anywhere) => assert_eq!(read(file).unwrap(), OTHERS, "{what}"),
                (Err(why), ExternalAccess::Inside | ExternalAccess::ReadAnywhere) => {
                    assert!(why.to_string().contains(&target), "{what}: {why}");
                    assert_eq!(scene.outside(), before, "{what}");
                }
                (other, _) => panic!("{what}: {other:?}"),
            }
        }
    }
}
