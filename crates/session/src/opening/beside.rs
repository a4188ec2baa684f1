//! Which openings of one file go beside each other in a process: the table of libhdf5.
//!
//! | open for | r | r+, a | w | r with SWMR |
//! |---|---|---|---|---|
//! | reading | shared | refused | refused | refused |
//! | SWMR reading | shared | refused | refused | shared |
//! | writing | shared | shared | refused | shared |
//!
//! All openings have one policy of locking, also as in libhdf5; what a link leads to takes the policy that it finds. An opening for reading beside one for writing shares its engine, and may write too, as in libhdf5. A new file (x) is never there yet.

use crate::{Error, Result, engine::Engine, opening_count::OpenedBy, options::Access};

/// Refuses an opening that does not go beside those that the file has.
pub(super) fn check(open: &Engine, access: &Access, way: OpenedBy) -> Result<()> {
    let is_writable = open.is_writable();
    let wants = access.locking.in_environment();
    let why = if access.truncate {
        "this process has the file open, so it cannot be made anew: close it first"
    } else if access.write && !is_writable {
        "this process has the file open for reading only: close it first, or open it for writing at first"
    } else if access.swmr && !is_writable && !open.is_swmr() {
        "this process has the file open for reading without SWMR: close it first"
    } else if way == OpenedBy::Direct && open.locking().is_some_and(|has| has != wants) {
        "this process has the file open with another policy of locking: open it with the same one, or close it first"
    } else {
        return Ok(());
    };
    Err(Error::Busy(why))
}

/// Whether an opening for writing takes the place of openings that only came of links and virtual datasets: they follow to the new engine when they
/// are used next.
pub(super) fn replaces(open: &Engine, access: &Access) -> bool {
    access.write && !access.truncate && !open.is_writable() && open.openings.direct() == 0
}
