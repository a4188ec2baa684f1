//! Object headers: their blocks and messages, not yet understood; read, made and changed.

mod apart;
mod append;
mod edit;
mod fit;
mod handles;
mod life;
mod new;
mod patch;
mod read;
mod references;
mod save;

pub use edit::{HeaderEdit, MessageId};
pub use handles::Handle;
pub(crate) use handles::Handles;
pub(crate) use life::Deleted;
pub use life::Life;
pub use new::{HeaderBuilder, NewHeader, now};
pub use read::{Header, Message};
