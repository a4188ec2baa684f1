//! Libraries without unit tests say so (`test = false`), because an empty test binary costs a build of the library. None of them may have a test then: it would never run.

use crate::layers::rust_files;
use crate::lexer::tokens;
use crate::metadata::{Metadata, Package};
use anyhow::{Context, Result, bail};
use std::fs;

/// Fails if a library that is not built for tests has one.
pub(crate) fn check(metadata: &Metadata) -> Result<()> {
    for package in metadata.packages.iter().filter(|package| !is_tested(package)) {
        let folder = package.manifest_path.parent().context("a manifest without a folder")?.join("src");
        for file in rust_files(&folder)? {
            let source = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            if let Some(line) = first_test(&source) {
                bail!("{}:{line} is a test, but the library of {} has `test = false`", file.display(), package.name);
            }
        }
    }
    Ok(())
}

/// Whether some target of its sources is built for tests.
fn is_tested(package: &Package) -> bool {
    package.targets.iter().any(|target| target.test && !target.kind.iter().any(|kind| kind == "test"))
}

/// The line of the first test in a source text.
fn first_test(source: &str) -> Option<usize> {
    let tokens = tokens(source);
    let is_test = |window: &&[(usize, &str)]| matches!(window, [(_, "#"), (_, "["), (_, "test"), (_, "]")]);
    tokens.windows(4).find(is_test).and_then(|window| window.first()).map(|(line, _)| *line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_found_and_a_module_of_tests_is_none() {
        assert_eq!(first_test("//! #[test]\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n"), Some(4));
        assert_eq!(first_test("#[cfg(test)]\nmod tests;\n"), None);
    }
}
