//! A look at every block of a file: who is told, and what a file has beside its objects.

use hyperslab_format::{
    free_space::{Client, FreeSpace, Section},
    message::{CacheImage, FileSpaceInfo, kind},
    superblock,
};

use crate::{
    Block, Error, Header, OpenFile, Result,
    file_blocks::{DriverInfo, FreeSections, FreeSpaceManager},
};

const MANAGER: &str = FreeSpaceManager::WHAT;
const LIST: &str = FreeSections::WHAT;

/// Is told of every block of a file, and of what is wrong with it.
pub trait Survey {
    /// A block of a structure. False if there is no point in a look at it: it is not in the file, or was met before.
    fn block(&mut self, what: &'static str, address: u64, length: u64) -> bool;

    /// A block that several may name: the same one at every call. False if it was met before.
    fn shared(&mut self, what: &'static str, address: u64, length: u64) -> bool;

    /// Space that the file lists as free.
    fn free(&mut self, address: u64, length: u64);

    /// What contradicts the format, or something else in the file.
    fn problem(&mut self, what: &'static str, address: u64, why: String);

    /// What is allowed, but worth knowing.
    fn note(&mut self, what: &'static str, address: u64, why: String);

    /// `what` at `address` could not be read: a problem.
    fn failed(&mut self, what: &'static str, address: u64, why: Error) {
        match why {
            Error::Malformed { address, source } => self.problem(what, address, source.to_string()),
            Error::Broken { what, address, why } => self.problem(what, address, why),
            Error::Outside { what, address, length, end } => {
                self.problem(what, address, format!("{length} bytes reach over the end of the file at {end:#x}"));
            }
            other => self.problem(what, address, other.to_string()),
        }
    }
}

impl dyn Survey + '_ {
    /// What was found, or nothing: then the survey knows why. `what` at `address` was looked for.
    pub fn found<T>(&mut self, what: &'static str, address: u64, found: Result<T>) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(why) => {
                self.failed(what, address, why);
                None
            }
        }
    }

    /// Says so if a statistic is not what there is. It may lag behind after a crash, because it is written after what it counts; no reader relies
    /// on it.
    pub fn statistic(&mut self, what: &'static str, address: u64, count: &str, says: u64, has: u64) {
        if says < has {
            self.note(
                what,
                address,
                format!("it says {says} {count}, but has {has}: a statistic that was not written any more"),
            );
        } else {
            self.equal(what, address, count, says, has);
        }
    }

    /// Says so if two numbers that should be equal are not.
    pub fn equal(&mut self, what: &'static str, address: u64, count: &str, says: u64, has: u64) {
        if says != has {
            self.problem(what, address, format!("it says {says} {count}, but has {has}"));
        }
    }
}

impl Header {
    /// Shows all blocks. False if the header was met before, or is not in the file.
    pub fn survey(&self, survey: &mut dyn Survey) -> bool {
        let mut is_new = true;
        let mut what = "object header";
        for (address, length) in self.spans() {
            is_new &= survey.block(what, address, length);
            what = "object header continuation";
        }
        let (says, has) = (self.prefix().messages, self.framed().count() as u64);
        if let Some(says) = says.filter(|_| is_new) {
            survey.equal("object header", self.address(), "messages", u64::from(says), has);
        }
        is_new
    }
}

impl OpenFile {
    /// Shows everything that does not belong to objects or shared messages: the superblock, its extension, free space.
    pub fn survey(&self, survey: &mut dyn Survey) {
        let size = self.superblock.encode().map_or(superblock::MAX_SIZE, |bytes| bytes.len());
        survey.block("superblock", 0, size as u64);
        if let Some(address) = self.superblock.driver_info
            && let Some((_, size)) = survey.found(DriverInfo::WHAT, address, self.load_once(&DriverInfo, address))
        {
            survey.block(DriverInfo::WHAT, address, size);
        }
        if let Some(address) = self.superblock.extension {
            self.survey_extension(address, survey);
        }
        self.survey_trailer(survey);
    }

    fn survey_extension(&self, address: u64, survey: &mut dyn Survey) {
        const WHAT: &str = "superblock extension";
        let Some(header) = survey.found(WHAT, address, Header::read(self, address)) else { return };
        if !header.survey(survey) {
            return;
        }
        for message in header.messages() {
            let body = header.body(message);
            match message.kind {
                kind::CACHE_IMAGE => {
                    let image = CacheImage::decode(body, self.widths()).map_err(Error::at(address));
                    let image = survey.found(WHAT, address, image);
                    if let Some((place, length)) = image.and_then(|image| Some((image.address?, image.length))) {
                        survey.block("metadata cache image", place, length);
                    }
                }
                kind::FILE_SPACE_INFO => {
                    let info = FileSpaceInfo::decode(body, self.widths()).map_err(Error::at(address));
                    let managers: Vec<u64> = match survey.found(WHAT, address, info) {
                        Some(FileSpaceInfo::New { managers: Some(managers), .. }) => {
                            managers.into_iter().flatten().collect()
                        }
                        Some(FileSpaceInfo::Old { managers: Some(managers), .. }) => {
                            managers.into_iter().flatten().collect()
                        }
                        _ => Vec::new(),
                    };
                    for manager in managers {
                        let sections = self.survey_free_space(manager, Client::File, survey).unwrap_or_default();
                        sections.iter().for_each(|section| survey.free(section.offset, section.size));
                    }
                }
                _ => {}
            }
        }
    }

    /// Shows a free-space manager and its list; gives the sections.
    pub fn survey_free_space(&self, address: u64, client: Client, survey: &mut dyn Survey) -> Option<Vec<Section>> {
        let size = FreeSpace::size(self.widths()) as u64;
        if !survey.block(MANAGER, address, size) {
            return None;
        }
        let manager = survey.found(MANAGER, address, self.load_once(&FreeSpaceManager, address))?;
        if manager.client != client {
            survey.problem(MANAGER, address, "it manages the space of something else".into());
            return None;
        }
        let Some(list) = manager.list else {
            survey.equal(MANAGER, address, "sections in its list", manager.listed, 0);
            return None;
        };
        if !survey.block(LIST, list, manager.list_allocated) {
            return None;
        }
        if manager.list_size > manager.list_allocated {
            survey.problem(MANAGER, address, "its list is larger than the space for it".into());
        }
        let sections = survey.found(LIST, list, self.load_once(&FreeSections(&manager), list))?;
        survey.equal(MANAGER, address, "sections", manager.sections, manager.listed.saturating_add(manager.ghosts));
        if client == Client::File {
            let space = sections.iter().fold(0u64, |space, section| space.saturating_add(section.size));
            survey.equal(MANAGER, address, "free bytes", manager.space, space);
        }
        Some(sections)
    }
}
