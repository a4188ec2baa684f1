//! Control operations: what a driver can be asked besides bytes.
//!
//! Lives here: operations, flags and the document's rule for an operation that a driver does not know (2.5.1). Does not live
//! here: what an operation does; that is in the driver that knows it. Called by the engine and by
//! [`concurrently`](crate::concurrently).

use std::any::Any;
use std::fmt;

use crate::{Driver, Error, Operation, Result, Why};

/// A control operation, by number. Numbers below 16 are those of libhdf5.
///
/// ```
/// use hyperslab_driver::{CtlFlags, CtlOp, CtlReply, Driver, Memory};
/// let alone = Memory::new();
/// assert!(matches!(alone.ctl(CtlOp::MPI_RANK, CtlFlags::IGNORE_IF_UNKNOWN, None)?, CtlReply::Ignored));
/// assert!(alone.ctl(CtlOp::MPI_RANK, CtlFlags::FAIL_IF_UNKNOWN, None).is_err());
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CtlOp(pub u64);

impl CtlOp {
    /// The communicator of the processes that share the file.
    pub const MPI_COMMUNICATOR: CtlOp = CtlOp(2);
    /// The rank of this process in it.
    pub const MPI_RANK: CtlOp = CtlOp(3);
    /// The number of processes in it.
    pub const MPI_SIZE: CtlOp = CtlOp(4);
    /// Requests from here on may run at once and asynchronously.
    pub const COBEGIN: CtlOp = CtlOp(0x4853_0001);
    /// All requests since [`CtlOp::COBEGIN`] must be complete when this returns.
    pub const COEND: CtlOp = CtlOp(0x4853_0002);
    /// The bytes of a `Range<u64>` are needed no more: the storage may give their room to others, and they read as zeros then.
    pub const DISCARD: CtlOp = CtlOp(0x4853_0003);
}

bitflags::bitflags! {
    /// What to do with an operation that a driver does not know.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct CtlFlags: u64 {
        /// Fail. Wins over [`CtlFlags::IGNORE_IF_UNKNOWN`].
        const FAIL_IF_UNKNOWN = 1;
        /// A pass-through driver hands the operation on towards the terminal driver.
        const ROUTE_TO_TERMINAL = 2;
        /// Ignore it and succeed; also what happens without any flag.
        const IGNORE_IF_UNKNOWN = 4;
    }
}

/// What came of a control operation.
pub enum CtlReply {
    /// No driver on the way knew it.
    Ignored,
    /// Done; nothing to tell.
    Done,
    /// Done; this is the answer.
    Value(Box<dyn Any + Send>),
}

impl fmt::Debug for CtlReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CtlReply::Ignored => "Ignored",
            CtlReply::Done => "Done",
            CtlReply::Value(_) => "Value(..)",
        })
    }
}

/// The document's rule for an operation that `driver` does not know; the default of [`Driver::ctl`].
pub(crate) fn unknown<D: Driver + ?Sized>(
    driver: &D,
    op: CtlOp,
    flags: CtlFlags,
    input: Option<&dyn Any>,
) -> Result<CtlReply> {
    match driver.below() {
        Some(below) if flags.contains(CtlFlags::ROUTE_TO_TERMINAL) => below.ctl(op, flags, input),
        _ if flags.contains(CtlFlags::FAIL_IF_UNKNOWN) => {
            Err(Error::new(driver.name(), Operation::Ctl, 0, 0, Why::UnknownCtl(op)))
        }
        _ => Ok(CtlReply::Ignored),
    }
}
