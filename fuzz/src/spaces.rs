//! A decoded space must survive every way of asking about it.

use hyperslab_space::{Form, LibVersion, Space};

/// Every form in which a space can be written.
const FORMS: [Form; 7] = [
    Form::LibVersion(LibVersion::Earliest),
    Form::LibVersion(LibVersion::V18),
    Form::LibVersion(LibVersion::V110),
    Form::LibVersion(LibVersion::V112),
    Form::LibVersion(LibVersion::V114),
    Form::LibVersion(LibVersion::V200),
    Form::Smallest,
];

/// Longest list that a target walks: bytes may describe more elements than there is time.
const PATIENCE: usize = 1_000;

/// Version 1 lists blocks; longer lists are not written here.
const BLOCKS: u64 = 10_000;

/// Writes a space in every form and reads it back: the same selection.
pub fn survives_every_form(space: &Space) {
    if space.nblocks() > BLOCKS {
        return;
    }
    for form in FORMS {
        let Ok(bytes) = space.encode(form) else { continue };
        match Space::decode(&bytes) {
            Ok(again) => assert_eq!(again, *space, "{form:?}"),
            Err(error) => panic!("{form:?} of {space:?} is not readable: {error}"),
        }
    }
}

/// Asks everything once; errors are fine, panics are not.
pub fn survives_questions(space: &Space) {
    let _ = space.npoints();
    if let Some((low, high)) = space.bounds() {
        assert_eq!(space.intersects_block(&low, &high).ok(), Some(true));
    }
    if let Ok(blocks) = space.blocks() {
        blocks.take(PATIENCE).for_each(drop);
    }
    if let Ok(coords) = space.coords() {
        coords.take(PATIENCE).for_each(drop);
    }
    if let Ok(runs) = space.runs(8) {
        runs.take(PATIENCE).for_each(drop);
    }
    let _ = space.same_shape(space);
}
