//! Filters of sections before a dataset is made: said, listed, replaced and removed.

use hyperslab::{
    ChunkSection::{Selection, Values, Vlen},
    Dataset, NewDataset, NewFilter,
    filter::{Deflate, Fletcher32, Lzf, Shuffle, Zstd},
};

use super::file;

fn new() -> NewDataset {
    file().root().unwrap().new_dataset::<u16>().shape([100]).chunks([10]).sparse()
}

fn zstd() -> NewFilter {
    NewFilter { id: Zstd::ID, optional: false, params: Zstd::params(3) }
}

fn ids(filters: &[NewFilter]) -> Vec<u16> {
    filters.iter().map(|filter| filter.id).collect()
}

/// The filters of sections 0 and 1.
fn made(dataset: &Dataset) -> [Vec<u16>; 2] {
    let of = |number| dataset.section_filters().map_or(&[][..], |filters| filters.of(number));
    [0, 1].map(|number| of(number).iter().map(|step| step.id).collect())
}

#[test]
fn lists_are_those_of_the_section_that_was_named() {
    let new = new().shuffle().deflate(6).section(Selection).lzf().section(Values).fletcher32();
    assert_eq!(ids(new.filters()), [Shuffle::ID, Deflate::ID]);
    assert_eq!(new.filters_of(Selection).map(ids), Some(vec![Lzf::ID]));
    assert_eq!(new.filters_of(Values).map(ids), Some(vec![Fletcher32::ID]));
    assert_eq!(new.filters_of(Vlen), None);
    let new = new.section(Selection).fletcher32().all_sections().lzf();
    assert_eq!(ids(new.filters()), [Shuffle::ID, Deflate::ID, Lzf::ID]);
    assert_eq!(made(&new.create("a").unwrap()), [vec![Lzf::ID, Fletcher32::ID], vec![Fletcher32::ID]]);
}

#[test]
fn a_filter_takes_the_place_of_another() {
    let new = new().section(Values).shuffle().deflate(6).fletcher32().replace_filter(Deflate::ID, zstd());
    assert_eq!(new.filters_of(Values).unwrap()[1], zstd());
    let dataset = new.section(Selection).deflate(1).create("a").unwrap();
    assert_eq!(made(&dataset), [vec![Deflate::ID], vec![Shuffle::ID, Zstd::ID, Fletcher32::ID]]);
    let step = &dataset.section_filters().unwrap().of(1)[1];
    assert_eq!((step.flags, step.params[0]), (0, 3));
}

#[test]
fn what_is_not_there_is_not_replaced() {
    let with = new().deflate(6).section(Values).replace_filter(Deflate::ID, zstd());
    let text = with.create("a").unwrap_err().to_string();
    assert!(
        text.contains("section Values of the new dataset has no filter 1") && text.contains("add filter 32015"),
        "{text}"
    );
    assert!(new().replace_filter(Deflate::ID, zstd()).create("a").unwrap_err().to_string().contains("no filter 1"));
    assert!(new().deflate(6).replace_filter(Deflate::ID, zstd()).create("a").is_ok());
}

#[test]
fn filters_are_removed() {
    let new = new().deflate(6).section(Values).shuffle().lzf().shuffle().remove_filter(Shuffle::ID);
    let new = new.remove_filter(Fletcher32::ID);
    assert_eq!(new.filters_of(Values).map(ids), Some(vec![Lzf::ID]));
    let new = new.section(Selection).deflate(1).remove_filters();
    assert_eq!(ids(new.filters()), [Deflate::ID]);
    assert_eq!(made(&new.create("a").unwrap()), [vec![], vec![Lzf::ID]]);
}

#[test]
fn datasets_without_sections_have_no_filters_of_them() {
    let file = file();
    let new = || file.root().unwrap().new_dataset::<u16>().shape([100]);
    for new in [new().contiguous(), new().compact(), new().chunks([10])] {
        let text = new.section(Values).deflate(6).create("a").unwrap_err().to_string();
        assert!(text.contains("only chunks that are sparse"), "{text}");
    }
}

#[test]
fn filters_of_a_section_that_chunks_lack_are_refused() {
    let dense = file().root().unwrap().new_dataset::<String>().shape([9]).chunks([3]).vlen_in_chunks();
    for new in [new().section(Vlen), dense.section(Selection)] {
        let text = new.deflate(6).create("a").unwrap_err().to_string();
        assert!(text.contains("which chunks of the dataset do not have"), "{text}");
    }
}
