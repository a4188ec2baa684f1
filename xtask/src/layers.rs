//! `cargo xtask layers`: data flows down, nothing imports upward.
//!
//! Three rules: every package of the workspace has a place in the plan; a package imports only what its place allows
//! (dev-dependencies are free); rooms without file handle, thread or lock do not name one.

use crate::lexer::tokens;
use crate::metadata::{self, Metadata, Package};
use crate::plan::{self, FORBIDDEN_MODULES, FORBIDDEN_WORDS, OUTSIDE, PLAN};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn run() -> Result<()> {
    let metadata = metadata::load()?;
    check(&metadata)?;
    println!("{} packages stand where the plan puts them", metadata.packages.len());
    Ok(())
}

/// All three rules on the real workspace.
pub(crate) fn check(metadata: &Metadata) -> Result<()> {
    let mut complaints = wrong_imports(&metadata.packages);
    for package in &metadata.packages {
        if plan::find(&package.name).is_some_and(|room| room.pure) {
            complaints.extend(impurities_of(package, &metadata.workspace_root)?);
        }
    }
    if complaints.is_empty() { Ok(()) } else { bail!("the house plan is broken:\n  {}", complaints.join("\n  ")) }
}

/// Packages without a place, and imports that the plan does not allow.
fn wrong_imports(packages: &[Package]) -> Vec<String> {
    let mut complaints = Vec::new();
    for package in packages.iter().filter(|package| !OUTSIDE.contains(&package.name.as_str())) {
        let Some(room) = plan::find(&package.name) else {
            complaints.push(format!(
                "{} has no place in the plan: give it one in xtask/src/plan.rs and docs/ARCHITECTURE.md",
                package.name
            ));
            continue;
        };
        let ships = package.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
        for dependency in ships.filter(|dependency| is_ours(&dependency.name, packages)) {
            let imported = plan::room_name(&dependency.name);
            if !room.may_import.contains(&imported) {
                complaints.push(format!(
                    "{} imports {}, but may import only [{}]: move the code down, or hand it in from above through a trait",
                    package.name,
                    dependency.name,
                    room.may_import.join(" ")
                ));
            }
        }
    }
    complaints
}

/// A package of this workspace, or one that the plan reserves.
fn is_ours(name: &str, packages: &[Package]) -> bool {
    let reserved = PLAN.iter().any(|room| name.strip_prefix("hyperslab-") == Some(room.name));
    reserved || packages.iter().any(|package| package.name == name)
}

fn impurities_of(package: &Package, root: &Path) -> Result<Vec<String>> {
    let home = package.manifest_path.parent().unwrap_or(root);
    let mut complaints = Vec::new();
    for file in rust_files(&home.join("src"))? {
        let source = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let shown = file.strip_prefix(root).unwrap_or(&file).display();
        complaints.extend(impurities(&source).into_iter().map(|(line, name)| {
            format!("{shown}:{line} names {name}, but {} has no file handle, thread or lock", package.name)
        }));
    }
    Ok(complaints)
}

/// The sources in a folder and below it.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Forbidden names in a source text, with their lines.
fn impurities(source: &str) -> Vec<(usize, String)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for (at, &(line, token)) in tokens.iter().enumerate() {
        if FORBIDDEN_WORDS.contains(&token) {
            found.push((line, token.to_owned()));
        }
        let after: Vec<&str> = tokens.iter().skip(at + 1).take(3).map(|&(_, token)| token).collect();
        match (token, after.as_slice()) {
            ("std", [":", ":", "{"]) => {
                let group = tokens.iter().skip(at + 4).take_while(|(_, token)| *token != ";");
                let modules = group.filter(|(_, token)| FORBIDDEN_MODULES.contains(token));
                found.extend(modules.map(|&(line, module)| (line, format!("std::{module}"))));
            }
            ("std", [":", ":", module]) if FORBIDDEN_MODULES.contains(module) => {
                found.push((line, format!("std::{module}")));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    /// A made-up package with (name, kind) dependencies.
    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies =
            dependencies.iter().map(|(name, kind)| Dependency { name: (*name).into(), kind: kind.map(Into::into) });
        Package {
            name: name.into(),
            manifest_path: PathBuf::new(),
            dependencies: dependencies.collect(),
            targets: Vec::new(),
        }
    }

    #[test]
    fn imports_of_lower_floors_pass() {
        let packages = [
            package("hyperslab-base", &[("thiserror", None)]),
            package("hyperslab-space", &[("hyperslab-base", None), ("smallvec", None)]),
            package("hyperslab-driver", &[("hyperslab-base", None), ("hyperslab-space", None)]),
            package("hyperslab", &[("hyperslab-driver", None), ("hyperslab-chunk", None)]),
            package("hyperslab-cli", &[("hyperslab", None), ("clap", None)]),
        ];
        assert_eq!(wrong_imports(&packages), Vec::<String>::new());
    }

    #[test]
    fn an_upward_import_fails_and_names_the_edge() {
        for kind in [None, Some("build")] {
            let packages =
                [package("hyperslab-space", &[("hyperslab-driver", kind)]), package("hyperslab-driver", &[])];
            let complaints = wrong_imports(&packages);
            assert_eq!(complaints.len(), 1);
            assert!(complaints[0].starts_with("hyperslab-space imports hyperslab-driver"), "{complaints:?}");
        }
    }

    #[test]
    fn neighbours_do_not_see_each_other_and_doors_use_the_model() {
        let packages = [
            package("hyperslab-chunk", &[("hyperslab-object", None)]),
            package("hyperslab-cli", &[("hyperslab-space", None)]),
        ];
        assert_eq!(wrong_imports(&packages).len(), 2);
    }

    #[test]
    fn no_package_ships_the_workshop() {
        let packages = [package("hyperslab-space", &[("xtask", None)]), package("xtask", &[("hyperslab", None)])];
        assert_eq!(wrong_imports(&packages).len(), 1);
    }

    #[test]
    fn dev_dependencies_are_free() {
        let packages = [package("hyperslab-space", &[("hyperslab-driver", Some("dev"))])];
        assert_eq!(wrong_imports(&packages), Vec::<String>::new());
    }

    #[test]
    fn a_package_without_a_place_fails() {
        let complaints = wrong_imports(&[package("hyperslab-attic", &[])]);
        assert!(complaints[0].starts_with("hyperslab-attic has no place"), "{complaints:?}");
    }

    #[test]
    fn the_plan_only_points_down() {
        for (height, room) in PLAN.iter().enumerate() {
            for below in room.may_import {
                assert!(PLAN[..height].iter().any(|lower| lower.name == *below), "{} -> {below}", room.name);
            }
        }
    }

    #[test]
    fn pure_rooms_do_not_name_handles_threads_and_locks() {
        let names = |source| impurities(source).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        assert_eq!(names("use std::fs::File;"), ["std::fs"]);
        assert_eq!(names("use std::{fmt, thread};"), ["std::thread"]);
        assert_eq!(names("static A: std::sync::Mutex<u8> = x;"), ["Mutex"]);
        assert_eq!(names("use rayon::prelude::*;"), ["rayon"]);
        assert_eq!(names("// a Mutex\nuse std::sync::Arc; let fs = \"std::fs\";"), Vec::<String>::new());
        assert_eq!(impurities("\n\nuse std::net::Ipv4Addr;"), [(3, "std::net".to_owned())]);
    }
}
