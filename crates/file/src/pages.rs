//! The pages of a file, and what is read by means of them: always metadata, values if the options say so.

use std::sync::Arc;

use hyperslab_driver::{Driver, PageBuffer, PageStrategy};

use crate::{Error, OpenOptions, Result, file_state::FileState};

impl OpenOptions {
    /// No page yet of a storage of so many bytes.
    pub(crate) fn page_buffer(
        &self,
        raw: &Arc<dyn Driver>,
        length: u64,
        page_size: usize,
    ) -> Result<PageBuffer<Arc<dyn Driver>>> {
        let pages = PageBuffer::with_len(raw.clone(), length, page_size, self.pages)?;
        let (metadata, values) = self.page_reserve;
        if u16::from(metadata) + u16::from(values) > 100 {
            let why = format!("{metadata} and {values} percent of all pages are more than there are");
            return Err(Error::Refused(why));
        }
        if self.page_strategy == PageStrategy::Direct {
            return Ok(pages.with_strategy(PageStrategy::Direct));
        }
        let part =
            |percent: u8| self.pages / 100 * usize::from(percent) + self.pages % 100 * usize::from(percent) / 100;
        Ok(pages.with_strategy(self.page_strategy).with_reserved(part(metadata), part(values))?)
    }
}

impl FileState {
    /// What values are read from. All that is written goes through the pages to the storage, so that it has what pages have.
    pub(crate) fn values(&self) -> &dyn Driver {
        match self.pages.strategy() {
            PageStrategy::Direct => &*self.raw,
            _ => &self.pages,
        }
    }
}
