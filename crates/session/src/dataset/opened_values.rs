//! Where the values of a dataset are, as an opening of its file finds them.

use std::ops::Deref;

use hyperslab_chunk::{DatasetState, OpenedValues, StorageView, Values};

use super::{OpenDataset, external_rule::ExternalRule};
use crate::{Result, Session};

/// The values that one request finds.
pub(super) enum FoundValues<'a> {
    /// Those that all openings share.
    Shared(&'a Values),
    /// Another opening found others, by another rule.
    Own(Box<Values>),
}

impl OpenDataset {
    /// The state as it is now. It stays so while the result lives; the same thread must not change the file meanwhile.
    pub(super) fn now(&self) -> StorageView<'_> {
        self.inner.storage.view()
    }

    /// Where the values are, for a caller that holds the state.
    pub(super) fn values<'a>(&self, state: &'a DatasetState) -> Result<FoundValues<'a>> {
        self.session().check_alive(self.life())?;
        if let Some(opened) = state.values.get() {
            return match is_found_by(opened, self.session()) {
                true => Ok(FoundValues::Shared(&opened.values)),
                false => Ok(FoundValues::Own(Box::new(self.open_values(state)?.values))),
            };
        }
        let opened = self.open_values(state)?;
        Ok(FoundValues::Shared(&state.values.get_or_init(|| Box::new(opened)).values))
    }
}

/// Whether an opening of the file finds these values.
pub(super) fn is_found_by(opened: &OpenedValues, session: &Session) -> bool {
    let rule = opened.found_by.as_ref().map(|rule| rule.downcast_ref::<ExternalRule>());
    rule.is_none_or(|rule| rule.is_some_and(|rule| rule.holds_for(session)))
}

impl Deref for FoundValues<'_> {
    type Target = Values;

    fn deref(&self) -> &Values {
        match self {
            FoundValues::Shared(values) => values,
            FoundValues::Own(values) => values,
        }
    }
}
