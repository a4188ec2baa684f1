//! The pages of a file, and what is read by means of them: always metadata, values if the options say so.

use std::sync::Arc;

use hyperslab_driver::{Capabilities, Driver, PageBuffer, PageStrategy};

use crate::{Error, OpenOptions, Result, file_state::FileState};

/// A page of a storage where a request costs little: larger ones would bring more than is looked at.
const NEAR_PAGE: usize = 16 << 10;
/// A page of a storage where a request takes longer than the bytes that it brings.
const FAR_PAGE: usize = 64 << 10;
/// No page is smaller.
const SMALLEST_PAGE: usize = 512;

impl OpenOptions {
    /// The pages of a storage of so many bytes, none of them larger than `most` bytes unless that is very small.
    pub(crate) fn pages(&self, raw: Arc<dyn Driver>, length: u64, most: usize) -> Result<PageBuffer<Arc<dyn Driver>>> {
        let is_near = raw.capabilities().contains(Capabilities::NEAR);
        let usual = if is_near { NEAR_PAGE } else { FAR_PAGE };
        let size = self.page_size.unwrap_or(usual.min(self.page_buffer)).min(most).max(SMALLEST_PAGE);
        let count = (self.page_buffer / size).max(1);
        // Where a request costs little, it brings a small page, and more of them where metadata is read in order.
        let ahead = if is_near && size == NEAR_PAGE { FAR_PAGE / NEAR_PAGE - 1 } else { 0 };
        let pages = PageBuffer::with_len(raw, length, size, count)?.with_ahead(ahead as u64);
        let (metadata, values) = self.page_reserve;
        if u16::from(metadata) + u16::from(values) > 100 {
            let why = format!("{metadata} and {values} percent of all pages are more than there are");
            return Err(Error::Refused(why));
        }
        if self.page_strategy == PageStrategy::Direct {
            return Ok(pages.with_strategy(PageStrategy::Direct));
        }
        let part = |percent: u8| count / 100 * usize::from(percent) + count % 100 * usize::from(percent) / 100;
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
