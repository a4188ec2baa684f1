//! What can be said of the chunk cache, to all jobs that read or write values.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hyperslab::{CachePolicy, PageStrategy};

#[derive(Args)]
#[command(next_help_heading = "Chunk cache")]
pub(crate) struct Caching {
    /// Memory for chunks of a file that are used again, such as 256M; 0 for none [default: 64M]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) cache_bytes: Option<usize>,
    /// The most of it for chunks of one dataset, such as 16M
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) cache_dataset: Option<usize>,
    /// Which chunks leave first
    #[arg(long, value_name = "POLICY", value_parser = policy())]
    pub(crate) cache_policy: Option<CachePolicy>,
    /// Read so many bytes of chunks before they are asked for, such as 8M [default: as many as the storage needs]
    #[arg(long, value_name = "BYTES", value_parser = size, conflicts_with = "no_read_ahead")]
    pub(crate) read_ahead: Option<usize>,
    /// Read no chunks before they are asked for
    #[arg(long)]
    pub(crate) no_read_ahead: bool,
    /// Memory for pages of metadata of each file, such as 64M [default: 8M]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) page_buffer: Option<usize>,
    /// How values are read by means of pages [default: direct]
    #[arg(long, value_name = "HOW", value_parser = page_strategy())]
    pub(crate) page_strategy: Option<PageStrategy>,
    /// Read metadata that is being written by another process up to so many times [default: 1]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) retry: Option<u32>,
    /// Tell at the end, on standard error, what the cache did
    #[arg(long)]
    pub(crate) cache_stats: bool,
}

fn policy() -> impl TypedValueParser<Value = CachePolicy> {
    PossibleValuesParser::new(["lru", "mru", "lfu", "s3-fifo"]).try_map(|name| name.parse())
}

fn page_strategy() -> impl TypedValueParser<Value = PageStrategy> {
    PossibleValuesParser::new(PageStrategy::ALL.map(PageStrategy::name)).try_map(|name| name.parse())
}

/// Bytes, with K, M or G for as many times 1024.
fn size(text: &str) -> Result<usize, String> {
    let (number, shift) = match text.char_indices().last() {
        Some((end, 'k' | 'K')) => (text.get(..end), 10),
        Some((end, 'm' | 'M')) => (text.get(..end), 20),
        Some((end, 'g' | 'G')) => (text.get(..end), 30),
        _ => (Some(text), 0),
    };
    let number = number.and_then(|number| number.parse::<usize>().ok());
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "a number of bytes, such as 100000, 512K, 64M or 2G".into())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        let sizes = ["0", "100", "512k", "64M", "2G"].map(|text| size(text).ok());
        assert_eq!(sizes, [Some(0), Some(100), Some(512 << 10), Some(64 << 20), Some(2 << 30)]);
        assert!(
            ["", "M", "-1", "1.5M", "64MB", "99999999999999999999", "99999999999999999G"]
                .iter()
                .all(|text| size(text).is_err())
        );
    }
}
