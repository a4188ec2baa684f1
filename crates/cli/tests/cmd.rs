//! What the command prints, word for word. `TRYCMD=overwrite cargo test -p hyperslab-cli` accepts a change.

#[test]
fn commands_print_what_is_written_down() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
