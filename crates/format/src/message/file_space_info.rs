//! The file space info message: how the space of the file is managed.
//!
//! ```text
//!  0  | version 0 | strategy | threshold L | (strategy 1: managers O × 6) |
//!  1  | version 1 | strategy | persist | threshold L | page size L | page end threshold, 2 | end before the managers O | (persist: managers O × 12) |
//! ```

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result};

/// How the space of a file is managed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSpaceInfo {
    /// Version 0, which a few releases before 1.10 wrote.
    Old {
        /// The strategy: 1 keeps all free space in the file, 2 while it is open, 3 only gathers, 4 does nothing.
        strategy: u8,
        /// The smallest free section that is kept.
        threshold: u64,
        /// Per kind of memory the free-space manager; only strategy 1 keeps them.
        managers: Option<[Option<u64>; 6]>,
    },
    /// Version 1.
    New {
        /// The strategy.
        strategy: SpaceStrategy,
        /// The smallest free section that is kept.
        threshold: u64,
        /// The size of a page, for the strategy that has pages.
        page_size: u64,
        /// The end of a page that is not worth keeping.
        page_end_threshold: u16,
        /// Where the file ended before space for the managers themselves was taken.
        end_before_managers: Option<u64>,
        /// The free-space managers, per kind of memory for small and large sections; if free space outlives the closing of the file.
        managers: Option<[Option<u64>; 12]>,
    },
}

/// Where space comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceStrategy {
    /// Free-space managers, then gathered blocks, then the end of the file.
    Managers,
    /// Pages.
    Pages,
    /// Gathered blocks, then the end of the file.
    Gathered,
    /// The end of the file.
    End,
}

const WHAT: &str = "file space info message";
/// The strategy of version 0 that keeps managers in the file.
const OLD_PERSIST: u8 = 1;

impl FileSpaceInfo {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<FileSpaceInfo> {
        let mut reader = Reader::new(WHAT, bytes);
        let version = reader.version(0..=1)?;
        let strategy = reader.u8()?;
        if version == 0 {
            if !(1..=4).contains(&strategy) {
                return Err(reader.refuse(format!("unknown strategy {strategy}")));
            }
            let threshold = reader.length(widths)?;
            let managers = if strategy == OLD_PERSIST { Some(addresses(&mut reader, widths)?) } else { None };
            return Ok(FileSpaceInfo::Old { strategy, threshold, managers });
        }
        let strategy = match strategy {
            0 => SpaceStrategy::Managers,
            1 => SpaceStrategy::Pages,
            2 => SpaceStrategy::Gathered,
            3 => SpaceStrategy::End,
            _ => return Err(reader.refuse(format!("unknown strategy {strategy}"))),
        };
        let persist = reader.u8()? != 0;
        Ok(FileSpaceInfo::New {
            strategy,
            threshold: reader.length(widths)?,
            page_size: reader.length(widths)?,
            page_end_threshold: reader.u16()?,
            end_before_managers: reader.address(widths)?,
            managers: if persist { Some(addresses(&mut reader, widths)?) } else { None },
        })
    }

    /// Writes the message.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new(WHAT);
        match self {
            FileSpaceInfo::Old { strategy, threshold, managers } => {
                if !(1..=4).contains(strategy) || managers.is_some() != (*strategy == OLD_PERSIST) {
                    return Err(writer.refuse("strategy", format!("{strategy} does not go with these managers")));
                }
                writer.extend(&[0, *strategy]);
                writer.length("threshold", widths, *threshold)?;
                managers.iter().flatten().try_for_each(|manager| writer.address("manager", widths, *manager))?;
            }
            FileSpaceInfo::New {
                strategy,
                threshold,
                page_size,
                page_end_threshold,
                end_before_managers,
                managers,
            } => {
                let strategy = match strategy {
                    SpaceStrategy::Managers => 0,
                    SpaceStrategy::Pages => 1,
                    SpaceStrategy::Gathered => 2,
                    SpaceStrategy::End => 3,
                };
                writer.extend(&[1, strategy, u8::from(managers.is_some())]);
                writer.length("threshold", widths, *threshold)?;
                writer.length("page size", widths, *page_size)?;
                writer.u16(*page_end_threshold);
                writer.address("end before the managers", widths, *end_before_managers)?;
                managers.iter().flatten().try_for_each(|manager| writer.address("manager", widths, *manager))?;
            }
        }
        Ok(writer.into_bytes())
    }
}

fn addresses<const N: usize>(reader: &mut Reader<'_>, widths: Widths) -> Result<[Option<u64>; N]> {
    let mut addresses = [None; N];
    for address in &mut addresses {
        *address = reader.address(widths)?;
    }
    Ok(addresses)
}
