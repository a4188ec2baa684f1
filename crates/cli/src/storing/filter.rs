//! Filters in words: `none`, or names with their parameters, such as `shuffle+gzip:6`.

use super::WordError;
use hyperslab::NewDataset;
use hyperslab::filter::{BitshuffleCodec, Blosc2Stage, BloscCodec, BloscShuffle, Delta};
use std::str::FromStr;

/// The bytes of the checksum behind the places of elements, which have no differences.
const CHECKSUM: u32 = 4;

/// The filters of a dataset, in the order in which chunks go through them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filters(Vec<Filter>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Filter {
    Delta,
    Shuffle,
    Gzip(u32),
    Fletcher32,
    Szip { nearest_neighbour: bool, pixels: u32 },
    ScaleOffset(i32),
    Nbit,
    Lzf,
    Zstd(u32),
    Lz4,
    Bzip2(u32),
    Bitshuffle(BitshuffleCodec),
    Blosc(u32, BloscCodec),
    Blosc2(u32, BloscCodec),
    Other(u16, Vec<u32>),
}

impl Filters {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The filters of what tells which elements of sparse chunks are defined.
    pub(super) fn of_selection(text: &str) -> Result<Filters, WordError> {
        match text {
            "none" => Ok(Filters::default()),
            _ => text.split('+').map(str::parse).collect::<Result<_, _>>().map(Filters),
        }
    }

    /// A new dataset of so many dimensions with these filters.
    pub(crate) fn give(&self, new: NewDataset, rank: usize) -> NewDataset {
        self.0.iter().fold(new, |new, filter| match filter {
            Filter::Delta => new.filter(Delta::ID, &Delta::params(rank as u32, CHECKSUM)),
            Filter::Shuffle => new.shuffle(),
            Filter::Gzip(level) => new.deflate(*level),
            Filter::Fletcher32 => new.fletcher32(),
            Filter::Szip { nearest_neighbour, pixels } => new.szip(*nearest_neighbour, *pixels),
            Filter::ScaleOffset(factor) => new.scaleoffset(*factor),
            Filter::Nbit => new.nbit(),
            Filter::Lzf => new.lzf(),
            Filter::Zstd(level) => new.zstd(*level),
            Filter::Lz4 => new.lz4(),
            Filter::Bzip2(level) => new.bzip2(*level),
            Filter::Bitshuffle(codec) => new.bitshuffle(*codec),
            Filter::Blosc(level, codec) => new.blosc(*level, BloscShuffle::Byte, *codec),
            Filter::Blosc2(level, codec) => new.blosc2(*level, Blosc2Stage::Shuffle, *codec),
            Filter::Other(id, params) => new.filter(*id, params),
        })
    }
}

impl FromStr for Filters {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Filters, WordError> {
        let filters = Filters::of_selection(text)?;
        if filters.0.contains(&Filter::Delta) { Err(WordError::Delta) } else { Ok(filters) }
    }
}

impl FromStr for Filter {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Filter, WordError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let plain = |filter| match rest {
            "" => Ok(filter),
            _ => Err(WordError::Filter(text.into())),
        };
        match name {
            "delta" => plain(Filter::Delta),
            "shuffle" => plain(Filter::Shuffle),
            "gzip" | "deflate" => Ok(Filter::Gzip(level("gzip", rest, 6)?)),
            "fletcher32" => plain(Filter::Fletcher32),
            "szip" => szip(rest),
            "scaleoffset" => Ok(Filter::ScaleOffset(number("scaleoffset", rest, 0)?)),
            "nbit" => plain(Filter::Nbit),
            "lzf" => plain(Filter::Lzf),
            "zstd" => Ok(Filter::Zstd(level("zstd", rest, 3)?)),
            "lz4" => plain(Filter::Lz4),
            "bzip2" => Ok(Filter::Bzip2(level("bzip2", rest, 9)?)),
            "bitshuffle" => bitshuffle(rest),
            "blosc" => blosc("blosc", rest).map(|(level, codec)| Filter::Blosc(level, codec)),
            "blosc2" => blosc("blosc2", rest).map(|(level, codec)| Filter::Blosc2(level, codec)),
            _ => {
                let id = name.parse().map_err(|_| WordError::Filter(text.into()))?;
                let params = rest.split(',').filter(|word| !word.is_empty());
                let params = params.map(|word| number("the filter", word, 0)).collect::<Result<_, _>>()?;
                Ok(Filter::Other(id, params))
            }
        }
    }
}

/// A number after the name, if there is one.
fn number<T: FromStr>(filter: &'static str, text: &str, usual: T) -> Result<T, WordError> {
    match text {
        "" => Ok(usual),
        _ => text.parse().map_err(|_| wrong(filter, text, "it takes whole numbers")),
    }
}

fn level(filter: &'static str, text: &str, usual: u32) -> Result<u32, WordError> {
    number(filter, text, usual)
}

fn szip(rest: &str) -> Result<Filter, WordError> {
    let (method, pixels) = rest.split_once(':').unwrap_or((rest, ""));
    let nearest_neighbour = match method {
        "" | "nn" => true,
        "ec" => false,
        _ => return Err(wrong("szip", method, "it is nn or ec, and pixels of a block may follow")),
    };
    Ok(Filter::Szip { nearest_neighbour, pixels: number("szip", pixels, 16)? })
}

fn bitshuffle(rest: &str) -> Result<Filter, WordError> {
    let codec = match rest {
        "" | "lz4" => BitshuffleCodec::Lz4,
        "zstd" => BitshuffleCodec::Zstd(3),
        "none" => BitshuffleCodec::None,
        _ => return Err(wrong("bitshuffle", rest, "it is lz4, zstd or none")),
    };
    Ok(Filter::Bitshuffle(codec))
}

fn blosc(filter: &'static str, rest: &str) -> Result<(u32, BloscCodec), WordError> {
    let (text, codec) = rest.split_once(':').unwrap_or((rest, ""));
    let codec = match codec {
        "" | "lz4" => BloscCodec::Lz4,
        "blosclz" => BloscCodec::BloscLz,
        "lz4hc" => BloscCodec::Lz4Hc,
        "zlib" => BloscCodec::Zlib,
        "zstd" => BloscCodec::Zstd,
        _ => return Err(wrong(filter, codec, "after the level comes lz4, blosclz, lz4hc, zlib or zstd")),
    };
    Ok((level(filter, text, 5)?, codec))
}

fn wrong(filter: &'static str, text: &str, wanted: &'static str) -> WordError {
    WordError::Parameter { filter, text: text.into(), wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_in_words() {
        let some: Filters = "shuffle+gzip+fletcher32".parse().unwrap();
        assert_eq!(some, Filters(vec![Filter::Shuffle, Filter::Gzip(6), Filter::Fletcher32]));
        assert!("none".parse::<Filters>().unwrap().is_empty());
        let one = |text: &str| text.parse::<Filters>().map(|filters| filters.0[0].clone());
        assert_eq!(one("blosc:9:zstd").unwrap(), Filter::Blosc(9, BloscCodec::Zstd));
        assert_eq!(one("307:9").unwrap(), Filter::Other(307, vec![9]));
        assert_eq!(one("szip:ec:32").unwrap(), Filter::Szip { nearest_neighbour: false, pixels: 32 });
        for text in ["gunzip", "gzip:best", "shuffle:4", "blosc:5:rar", "shuffle+", "", "delta+gzip"] {
            assert!(one(text).is_err(), "{text}");
        }
        assert_eq!(Filters::of_selection("delta+lzf").unwrap(), Filters(vec![Filter::Delta, Filter::Lzf]));
    }
}
