//! Object headers: their blocks and messages, not yet understood; read, made and changed.

mod edit;
mod fit;
mod life;
mod new;
mod read;
mod save;

pub use edit::{HeaderEdit, MessageId};
pub(crate) use life::Deleted;
pub use life::Life;
pub use new::{NewHeader, now};
pub use read::{Header, Message};
