//! Names of filters by number, as The HDF Group keeps them: for messages about filters that are not here.

/// The name of the filter with this number, if it is one of the standard or well-known registered ones.
///
/// ```
/// use hyperslab_filter::known_name;
/// assert_eq!(known_name(32013), Some("zfp"));
/// assert_eq!(known_name(9), None);
/// ```
pub fn known_name(id: u16) -> Option<&'static str> {
    let (_, name) = KNOWN.iter().find(|(known, _)| *known == id)?;
    Some(name)
}

const KNOWN: &[(u16, &str)] = &[
    (1, "deflate"),
    (2, "shuffle"),
    (3, "fletcher32"),
    (4, "szip"),
    (5, "nbit"),
    (6, "scaleoffset"),
    (257, "hzip"),
    (305, "lzo"),
    (307, "bzip2"),
    (32000, "lzf"),
    (32001, "blosc"),
    (32002, "mafisc"),
    (32003, "snappy"),
    (32004, "lz4"),
    (32005, "apax"),
    (32006, "cbf"),
    (32007, "jpeg-xr"),
    (32008, "bitshuffle"),
    (32009, "spdp"),
    (32010, "lpc-rice"),
    (32011, "ccsds-123"),
    (32012, "jpeg-ls"),
    (32013, "zfp"),
    (32014, "fpzip"),
    (32015, "zstd"),
    (32016, "b3d"),
    (32017, "sz"),
    (32018, "fcidecomp"),
    (32019, "jpeg"),
    (32020, "vbz"),
    (32021, "fapec"),
    (32022, "bitgroom"),
    (32023, "granular bitround"),
    (32024, "sz3"),
    (32025, "delta-rice"),
    (32026, "blosc2"),
    (32027, "flac"),
    (32028, "sperr"),
    (32029, "trpx"),
    (32030, "ffmpeg"),
    (32033, "htj2k"),
    (33001, "delta"),
];
