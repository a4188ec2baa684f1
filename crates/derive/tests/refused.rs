//! What the derive macro refuses, and how it says so.

#[test]
fn refusals_point_at_their_cause() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
