//! Checksums put right.
//!
//! A checksum refuses nearly every change before anything behind it is read. Errors say where a checksum is and what it should be, so
//! whoever is refused can put it right and try again: no place in the code knows of fuzzing.

/// Puts every checksum right that one of the errors complains about; whether that changed anything.
///
/// ```
/// let mut bytes = vec![0; 8];
/// let error = "at address 0x2: heap, at byte 5: checksum 0x00000000 stored, 0x00000107 computed: the bytes are damaged";
/// assert!(hyperslab_hostile::repair::checksums(&mut bytes, 0, [error]));
/// assert_eq!(bytes, [0, 0, 0, 7, 1, 0, 0, 0]);
/// ```
pub fn checksums<'a>(bytes: &mut [u8], base: u64, errors: impl IntoIterator<Item = &'a str>) -> bool {
    errors.into_iter().filter_map(Complaint::parse).filter(|found| found.settle(bytes, base)).count() > 0
}

/// What an error says of a checksum.
struct Complaint<'a> {
    /// Where the structure is.
    address: u64,
    /// Where the checksum ends in it.
    end: u64,
    stored: u32,
    computed: u32,
    what: &'a str,
}

impl<'a> Complaint<'a> {
    fn parse(error: &'a str) -> Option<Complaint<'a>> {
        let (before, after) = error.split_once(": checksum 0x")?;
        let (stored, rest) = after.split_once(" stored, 0x")?;
        let (computed, _) = rest.split_once(" computed")?;
        let (before, end) = before.rsplit_once(", at byte ")?;
        let (address, what) = before
            .rsplit_once("at address 0x")
            .map_or(("0", before), |(_, rest)| rest.split_once(": ").unwrap_or((rest, "")));
        Some(Complaint {
            address: u64::from_str_radix(address, 16).ok()?,
            end: end.parse().ok()?,
            stored: u32::from_str_radix(stored, 16).ok()?,
            computed: u32::from_str_radix(computed, 16).ok()?,
            what,
        })
    }

    fn settle(&self, bytes: &mut [u8], base: u64) -> bool {
        let (stored, computed) = (self.stored.to_le_bytes(), self.computed.to_le_bytes());
        // A mapping lies somewhere in the heap that its error names.
        let place = if self.what.starts_with("virtual dataset mapping") {
            bytes.windows(4).position(|window| window == stored)
        } else {
            let place = base.checked_add(self.address).and_then(|at| at.checked_add(self.end)?.checked_sub(4));
            place.and_then(|place| usize::try_from(place).ok())
        };
        let field = place.and_then(|place| bytes.get_mut(place..)?.first_chunk_mut());
        match field {
            Some(field) if *field == stored => {
                *field = computed;
                true
            }
            _ => false,
        }
    }
}
