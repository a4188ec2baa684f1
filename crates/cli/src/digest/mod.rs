//! `hyperslab digest`: a file as lines of JSON, values as checksums, in a form that other libraries can be held against.
//!
//! Lives here: the walk over all links. What a datatype looks like is in [`describe`], how values are encoded before they are summed
//! in [`encode`], what is said of one object in [`record`], what of other files in [`other_files`].

mod describe;
mod encode;
mod json;
mod other_files;
mod record;
mod sparse;
mod values;

use std::{collections::HashMap, io::Write, path::Path};

use hyperslab::{CharSet, File, Link, Node, OpenOptions, PathId, Paths, Target};
use json::Json;
use other_files::OtherFiles;

use crate::failure::Failure;

/// Everything that describing one object needs to know of the others.
pub(crate) struct Scene<'a> {
    pub(crate) file: &'a File,
    /// The first path of each object, by address.
    first: HashMap<u64, PathId>,
    paths: Paths,
    /// Values over this many bytes are not read.
    pub(crate) cap: u64,
    /// Other files that references lead to.
    pub(crate) other_files: OtherFiles,
}

impl Scene<'_> {
    /// The first path of the object at an address.
    pub(crate) fn path(&self, address: u64) -> Option<Vec<u8>> {
        self.first.get(&address).map(|path| self.paths.get(*path))
    }
}

/// A line to come.
enum Line {
    /// An object, with the link that leads to it.
    Object(PathId, Box<Node>, Option<Link>),
    /// One more link to an object that has a line.
    Again(PathId, PathId, Link),
    /// A link that is no hard one.
    Soft(PathId, Link),
    /// What could not be read, and when.
    Failed(PathId, &'static str, hyperslab::Error),
}

pub(crate) fn run(path: &Path, cap: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let file = OpenOptions::new().swmr_read().open(path)?;
    let head = Json::object([
        ("kind", Json::text("file")),
        ("size", Json::from(file.size())),
        ("superblock", Json::from(u64::from(file.superblock_version()))),
        ("userblock", Json::from(file.user_block())),
        ("driver", Json::text(file.driver())),
    ]);
    let root = Node::Group(file.root()?);
    writeln!(out, "{head}")?;
    let mut scene =
        Scene { file: &file, first: HashMap::new(), paths: Paths::new(), cap, other_files: OtherFiles::beside(path) };
    let lines = walk(&mut scene, root);
    let mut objects = 0u64;
    for line in lines {
        let json = match line {
            Line::Object(path, node, link) => {
                objects += 1;
                let mut json = record::of(&scene, &node);
                json.set("path", Json::bytes(&scene.paths.get(path)));
                if let Some(link) = link {
                    with_link(&mut json, &link);
                }
                json
            }
            Line::Again(path, first, link) => {
                let target = Json::bytes(&scene.paths.get(first));
                let mut json = Json::object([("kind", Json::text("hardlink")), ("target", target)]);
                json.set("path", Json::bytes(&scene.paths.get(path)));
                with_link(&mut json, &link);
                json
            }
            Line::Soft(path, link) => soft(&scene.paths.get(path), &link),
            Line::Failed(path, stage, why) => failed(&scene.paths.get(path), stage, &why),
        };
        writeln!(out, "{json}")?;
    }
    writeln!(out, "{}", Json::object([("kind", Json::text("end")), ("objects", Json::from(objects))]))?;
    Ok(())
}

/// All links, depth first, the links of a group by name. Objects are named by the first path that reaches them.
fn walk(scene: &mut Scene<'_>, root: Node) -> Vec<Line> {
    let mut lines = Vec::new();
    let top = scene.paths.top(b"/");
    scene.first.insert(root.address(), top);
    let mut stack = vec![open_group(&root, top, &mut lines)];
    lines.push(Line::Object(top, Box::new(root), None));
    while let Some((above, links)) = stack.last_mut() {
        let Some(link) = links.next() else {
            stack.pop();
            continue;
        };
        let path = scene.paths.below(*above, &link.name);
        let Target::Hard(address) = link.target else {
            lines.push(Line::Soft(path, link));
            continue;
        };
        let node = match scene.file.at(address) {
            Ok(node) => node,
            Err(why) => {
                lines.push(Line::Failed(path, "open", why));
                continue;
            }
        };
        if let Some(first) = scene.first.get(&node.address()) {
            lines.push(Line::Again(path, *first, link));
            continue;
        }
        scene.first.insert(node.address(), path);
        let below = matches!(node, Node::Group(_)).then(|| open_group(&node, path, &mut lines));
        // The group's own line stands before what is in it, also before errors of its walk.
        lines.push(Line::Object(path, Box::new(node), Some(link)));
        stack.extend(below);
    }
    lines
}

type Links = (PathId, std::vec::IntoIter<Link>);

fn open_group(node: &Node, path: PathId, lines: &mut Vec<Line>) -> Links {
    let Node::Group(group) = node else { return (path, Vec::new().into_iter()) };
    match group.links() {
        Ok(links) => (path, links.into_iter()),
        Err(why) => {
            lines.push(Line::Failed(path, "walk", why));
            (path, Vec::new().into_iter())
        }
    }
}

fn failed(path: &[u8], stage: &str, why: &hyperslab::Error) -> Json {
    let mut json = Json::error(stage, why);
    json.set("kind", Json::text("error"));
    json.set("path", Json::bytes(path));
    json
}

fn soft(path: &[u8], link: &Link) -> Json {
    let mut json = match &link.target {
        Target::Soft(target) => Json::object([("kind", Json::text("softlink")), ("target", Json::bytes(target))]),
        Target::External { file, path } => {
            Json::object([("kind", Json::text("extlink")), ("file", Json::bytes(file)), ("target", Json::bytes(path))])
        }
        Target::User { class, .. } => {
            Json::object([("kind", Json::text("udlink")), ("class", Json::from(u64::from(*class)))])
        }
        Target::Hard(_) => Json::object([]),
    };
    json.set("path", Json::bytes(path));
    with_link(&mut json, link);
    json
}

fn with_link(json: &mut Json, link: &Link) {
    json.set("corder", link.order.map_or(Json::Null, |order| Json::Number(order.into())));
    json.set("cset", Json::text(if link.charset == CharSet::Utf8 { "utf8" } else { "ascii" }));
}
