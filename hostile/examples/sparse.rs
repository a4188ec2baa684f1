//! Makes the seed with sparse datasets, which no libhdf5 writes: `cargo run -p hyperslab-hostile --example sparse`. Made again it differs only in times.

use std::path::Path;

use hyperslab::{LibVersion, OpenOptions, Result, s};

fn main() -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/sparse.h5");
    let file = OpenOptions::new().libver_min(LibVersion::V110).create().truncate().open(path)?;
    let root = file.root()?;
    let single = root.new_dataset::<u16>().shape([20, 30]).chunks([20, 30]).sparse().shuffle().deflate(6);
    single.create("single")?.write_slice(s![3..9, 4..20], &(0..96).collect::<Vec<u16>>())?;

    let fixed = root.new_dataset::<i32>().shape([20, 30]).chunks([7, 8]).sparse().fill_value(-1).create("fixed")?;
    let mut points = fixed.space();
    points.select_points(&(0..40).flat_map(|nth| [nth * 7 % 20, nth * 11 % 30]).collect::<Vec<u64>>())?;
    fixed.write_selection(&points, &(0..40).collect::<Vec<i32>>())?;

    let growing = root.new_dataset::<f64>().shape([60]).max_shape([None]).chunks([3]).sparse().create("growing")?;
    growing.write_slice(s![5..50], &(0..45).map(f64::from).collect::<Vec<_>>())?;

    let both_ways = root.new_dataset::<u8>().shape([30, 30]).max_shape([None, None]).chunks([5, 5]).sparse();
    both_ways.fletcher32().create("both ways")?.write_slice(s![0..30, 2..14], &[9u8; 360])?;

    let vast = root.new_dataset::<u8>().shape([131_070, 131_070]).chunks([65_535, 65_535]).sparse().deflate(6);
    vast.create("vast")?.write_slice(s![65_530..65_540, 65_530..65_540], &[7u8; 100])?;

    // Values of variable length, which have a section of their own: texts, sequences of sequences through filters, and a dense dataset.
    let texts = root.new_dataset::<String>().shape([20, 30]).chunks([7, 8]).sparse().create("texts")?;
    texts.write_selection(&points, &(0..40).map(|nth| "x".repeat(nth % 9)).collect::<Vec<_>>())?;
    let nested = root.new_dataset::<Vec<Vec<i16>>>().shape([60]).max_shape([None]).chunks([8]).sparse();
    let rows: Vec<Vec<Vec<i16>>> = (0..30).map(|nth| vec![vec![nth; nth as usize % 4]; nth as usize % 3]).collect();
    nested.shuffle().deflate(6).create("nested")?.write_slice(s![5..35], &rows)?;
    let dense = root.new_dataset::<Vec<u8>>().shape([30]).chunks([30]).vlen_in_chunks().fletcher32();
    dense.create("dense")?.write_slice(s![3..20], &vec![vec![1u8, 2, 3]; 17])?;
    file.close()
}
