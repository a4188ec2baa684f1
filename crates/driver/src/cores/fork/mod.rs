//! Processes that are forked while other threads work.
//!
//! Lives here: what a fork waits for (`wait`, [`hold`]), which process something belongs to ([`Process`]) and values of which each process has its
//! own ([`PerProcess`]). Does not live here: what a child may do with files that its parent opened. The owners of these ask [`Process`]. Called by
//! `cores` and `Local`, by `file`, `hyperslab` and `python`.
//!
//! A child has one thread, the one that forked it. A lock that another thread held at that moment stays locked in the child forever. So a
//! fork waits until no thread is inside the engine, and no thread enters it meanwhile. Jobs that no thread has begun are dropped, and the helper
//! threads wait where they hold nothing:
//!
//! ```text
//!  thread       hold ───────── work ───────── drop        hold … waits ……… work
//!  helper           job ─────────── waits ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ next
//!  forks                 before ┄ waits ┄┄┄┄┄┄┄ fork ─ after ─
//! ```

mod hold;
mod per_process;
mod process;
mod state;
mod wait;

pub use self::{
    hold::{Hold, hold},
    per_process::PerProcess,
    process::Process,
};
pub(super) use self::{state::exempt, wait::Job};
