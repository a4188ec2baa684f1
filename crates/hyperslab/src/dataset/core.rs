//! What all handles of a dataset share: its size, and where its values are. The cache shares it too, and may keep it longer than anybody has a
//! handle.

use std::sync::Arc;

use hyperslab_chunk::{Error, Facts, Home, Layout, Result};
use hyperslab_file::OpenFile;
use hyperslab_object::{Context, Life};

use super::state::{Changing, Now, State};

/// What all handles of a dataset share. It knows no file, so that the cache of a file may keep it.
#[derive(Debug)]
pub(crate) struct Core {
    context: Arc<Context>,
    life: Life,
    pub(super) changing: Changing,
}

impl Core {
    pub(super) fn new(context: &Arc<Context>, life: Life, state: State) -> Core {
        Core { context: context.clone(), life, changing: Changing::new(context.file(), state) }
    }

    pub(super) fn address(&self) -> u64 {
        self.life.address()
    }

    /// The state as it is now. It stays so while the result lives; the same thread must not change the file meanwhile.
    pub(super) fn now(&self) -> Now<'_> {
        Now::new(self.context.file(), &self.changing)
    }

    /// Lets the header say where the values are now.
    pub(super) fn save(&self, state: &mut State) -> hyperslab_file::Result<()> {
        let version = state.layout.version;
        if let Some(layout) = state.values.get().and_then(|values| values.layout(version)) {
            state.layout.layout = layout;
        }
        let body = state.layout.encode(self.context.file().widths())?;
        hyperslab_object::set_layout(&self.context, self.address(), body)
    }
}

/// A dataset as the cache sees it.
pub(super) struct Client {
    pub(super) core: Arc<Core>,
    pub(super) facts: Facts,
}

impl Home for Client {
    fn file(&self) -> &OpenFile {
        self.core.context.file()
    }

    fn name(&self) -> String {
        format!("dataset at address {:#x}", self.core.address())
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn is_alive(&self) -> bool {
        self.file().check_alive(self.core.life).is_ok()
    }

    fn look(&self, look: &mut dyn FnMut(&dyn Layout) -> Result<()>) -> Result<()> {
        let now = self.core.now();
        self.file().check_alive(self.core.life)?;
        look(&now.values.get().ok_or_else(unknown)?.values)
    }

    fn change(&self, change: &mut dyn FnMut(&mut dyn Layout) -> Result<bool>) -> Result<()> {
        let Changing::Sometimes(state) = &self.core.changing else {
            return Err(hyperslab_file::Error::ReadOnly.into());
        };
        let mut state = state.write();
        if change(&mut state.values.get_mut().ok_or_else(unknown)?.values)? {
            self.core.save(&mut state)?;
        }
        Ok(())
    }
}

fn unknown() -> Error {
    Error::Layout("nobody knows where the values are".into())
}
