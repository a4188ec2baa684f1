//! Committed datatypes that datasets and attributes share: their counts are right, and no order of operations is one that cannot be written.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{Error, File, LibVersion, NamedDatatype, Node, OpenOptions, Result, Storable, check, driver::Memory};

const LOWS: [LibVersion; 3] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110];
const TYPES: [&str; 3] = ["T", "U", "V"];

struct Scene {
    file: File,
    storage: Arc<Memory>,
    types: Vec<NamedDatatype>,
}

impl Scene {
    fn new(low: LibVersion) -> Scene {
        let storage = Arc::new(Memory::new());
        let file = OpenOptions::new().create().truncate().libver_min(low).open_on(storage.clone()).unwrap();
        let root = file.root().unwrap();
        let types = TYPES.map(|name| root.commit_datatype(name, &i32::datatype().unwrap()).unwrap()).into();
        ["a", "b"].iter().for_each(|name| drop(root.create_group(name).unwrap()));
        file.flush().unwrap();
        Scene { file, storage, types }
    }

    /// A dataset of a committed type, without a name.
    fn unnamed(&self, datatype: usize) -> Node {
        let new = self.file.root().unwrap().new_dataset::<i32>().committed(&self.types[datatype]);
        new.write_unnamed(&[1, 2]).unwrap().into()
    }

    fn set(&self, node: &Node, name: &str, datatype: usize) -> Result<()> {
        node.new_attribute::<i32>().committed(&self.types[datatype]).write(name, &[7])
    }

    #[track_caller]
    fn close(self) {
        self.file.close().unwrap();
        let report = check::storage(self.storage).unwrap();
        assert_eq!(report.problems().map(|found| &found.why).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}

#[test]
fn an_object_that_goes_lets_go_of_types_that_it_got_since_a_flush() {
    for low in LOWS {
        let scene = Scene::new(low);
        let root = scene.file.root().unwrap();
        root.hard_link("named", &scene.unnamed(0)).unwrap();
        let (named, unnamed) = (root.get("named").unwrap(), scene.unnamed(1));
        root.delete("named").unwrap();
        scene.file.flush().unwrap();
        for node in [&named, &unnamed] {
            scene.set(node, "x", 2).unwrap();
        }
        drop((named, unnamed));
        root.create_group("next").unwrap();
        scene.file.flush().unwrap();
        assert_eq!(root.get("V").unwrap().hard_links().unwrap(), 1);
        scene.close();
    }
}

#[test]
fn a_type_is_lost_and_gained_in_a_circle() {
    for low in LOWS {
        let scene = Scene::new(low);
        let root = scene.file.root().unwrap();
        // Two attributes change their types.
        let node = Node::from(root.create_group("attributes").unwrap());
        for (name, datatype) in [("x", 0), ("y", 1)] {
            scene.set(&node, name, datatype).unwrap();
        }
        scene.file.flush().unwrap();
        for (name, datatype) in [("x", 1), ("y", 0)] {
            scene.set(&node, name, datatype).unwrap();
        }
        // An object loses an attribute, and then a name to an object of the same type.
        root.hard_link("a/x", &scene.unnamed(1)).unwrap();
        root.hard_link("b/x", &root.get("a/x").unwrap()).unwrap();
        scene.set(&root.get("a/x").unwrap(), "z", 2).unwrap();
        scene.file.flush().unwrap();
        root.get("a/x").unwrap().remove_attribute("z").unwrap();
        root.replace("a/x", &scene.unnamed(2)).unwrap();
        scene.file.flush().unwrap();
        scene.close();
    }
}

/// The last use of a type is replaced by a use of the type that only it used.
#[test]
fn a_type_goes_and_the_one_that_it_named_stays() {
    for low in LOWS {
        let mut scene = Scene::new(low);
        let root = scene.file.root().unwrap();
        let user = root.get("a").unwrap();
        scene.set(&scene.types[0].clone().into(), "x", 1).unwrap();
        scene.set(&user, "x", 0).unwrap();
        root.delete("T").unwrap();
        scene.types.swap_remove(0);
        // They are V and U now.
        scene.file.flush().unwrap();
        scene.set(&user, "x", 1).unwrap();
        scene.file.flush().unwrap();
        assert_eq!(root.get("U").unwrap().hard_links().unwrap(), 2);
        scene.close();
    }
}

#[test]
fn copied_attributes_share_their_type() {
    for low in LOWS {
        let scene = Scene::new(low);
        let root = scene.file.root().unwrap();
        let [a, b] = ["a", "b"].map(|name| root.get(name).unwrap());
        scene.set(&a, "x", 0).unwrap();
        a.copy_attributes_to(&b).unwrap();
        assert_eq!(root.get("T").unwrap().hard_links().unwrap(), 3);
        scene.close();
    }
}

/// One step of a random program. What is refused leaves everything as it was.
fn step(scene: &Scene, rng: &mut Rng, unnamed: &mut Vec<Node>) -> Result<()> {
    let root = scene.file.root()?;
    let name = |rng: &mut Rng| format!("{}/{}", ["a", "b"][rng.usize(..2)], rng.u8(b'p'..b't') as char);
    let (path, other) = (name(rng), name(rng));
    let node = root.get(&path).ok().or_else(|| rng.choice(unnamed.iter()).cloned());
    let new = |rng: &mut Rng| scene.unnamed(rng.usize(..3));
    let attribute = ["x", "y"][rng.usize(..2)];
    match rng.u8(..13) {
        0 | 1 => unnamed.push(new(rng)),
        2 => root.hard_link(&path, &new(rng))?,
        3..6 => node.map_or(Ok(()), |node| scene.set(&node, attribute, rng.usize(..3)))?,
        6 => node.map_or(Ok(()), |node| node.remove_attribute(attribute))?,
        7 => node.map_or(Ok(()), |node| root.hard_link(&other, &node))?,
        8 => root.delete(&path)?,
        9 => root.rename(&path, &other)?,
        10 | 11 => match unnamed.pop() {
            Some(node) => root.replace(&path, &node)?,
            None => root.replace(&path, &new(rng))?,
        },
        12 if rng.bool() => drop(unnamed.pop()),
        _ if rng.u8(..3) == 0 => scene.file.flush()?,
        _ => {}
    }
    Ok(())
}

#[test]
fn random_programs() {
    for seed in 0..200 {
        let (mut rng, scene, mut unnamed) = (Rng::with_seed(seed), Scene::new(LOWS[seed as usize % 3]), Vec::new());
        for nth in 0..80 {
            match step(&scene, &mut rng, &mut unnamed) {
                Ok(()) | Err(Error::Missing(_) | Error::Exists(_)) => {}
                Err(why) if why.to_string().contains("has a name already") => {}
                Err(why) => panic!("seed {seed}, step {nth}: {why}"),
            }
        }
        scene.close();
    }
}
