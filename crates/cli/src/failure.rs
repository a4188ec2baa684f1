//! Why a job gave no answer.

use crate::slice::SliceError;
use hyperslab::space::Error as SpaceError;
use thiserror::Error;

/// Why there is no answer.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Slice(#[from] SliceError),
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error(transparent)]
    File(#[from] hyperslab::Error),
    #[error("cannot write: {0}")]
    Output(#[from] std::io::Error),
}
