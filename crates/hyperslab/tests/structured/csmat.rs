//! Matrices of the crate `sprs`.

use fastrand::Rng;
use sprs::{CsMat, TriMat};

use super::file;

fn random(random: &mut Rng, rows: usize, columns: usize) -> CsMat<f32> {
    let mut matrix = TriMat::new((rows, columns));
    for row in 0..rows {
        for column in 0..columns {
            if random.usize(0..4) == 0 {
                matrix.add_triplet(row, column, f32::from(random.i8(..)));
            }
        }
    }
    matrix.to_csr()
}

#[test]
fn matrices_come_back_as_they_were() {
    let (file, mut seeded) = (file(), Rng::with_seed(3));
    for (nth, (rows, columns)) in [(1, 1), (30, 20), (7, 100), (64, 3)].into_iter().enumerate() {
        let matrix = random(&mut seeded, rows, columns);
        let new = || file.root().unwrap().new_dataset::<f32>().chunks([5.min(rows as u64), 8.min(columns as u64)]);
        let by_rows = new().write_csmat(format!("rows {nth}"), matrix.view()).unwrap();
        let by_columns = new().write_csmat(format!("columns {nth}"), matrix.to_csc().view()).unwrap();
        for dataset in [by_rows, by_columns] {
            assert!(dataset.is_sparse());
            assert_eq!(dataset.read_csr::<f32>().unwrap(), matrix);
            assert_eq!(dataset.read_csc::<f32>().unwrap(), matrix.to_csc());
            assert_eq!(dataset.read_csr::<i32>().unwrap(), matrix.map(|value| *value as i32));
        }
    }
}

#[test]
fn a_part_of_a_matrix_and_an_empty_one_are_stored() {
    let (file, mut seeded) = (file(), Rng::with_seed(5));
    let matrix = random(&mut seeded, 30, 20);
    let part = matrix.slice_outer(10..20);
    let dataset = file.root().unwrap().new_dataset::<f32>().write_csmat("part", part).unwrap();
    let read = dataset.read_csr::<f32>().unwrap();
    assert_eq!((read.shape(), read.nnz(), read.to_dense()), (part.shape(), part.nnz(), part.to_dense()));
    let empty = CsMat::<f32>::zero((4, 5));
    let dataset = file.root().unwrap().new_dataset::<f32>().write_csmat("empty", empty.view()).unwrap();
    assert_eq!(dataset.read_csr::<f32>().unwrap(), empty);
}

#[test]
fn dense_datasets_are_full_matrices_and_others_are_none() {
    let file = file();
    let dense = file.root().unwrap().new_dataset::<u8>().shape([2, 2]).write("dense", &[0u8, 1, 2, 3]).unwrap();
    assert_eq!(dense.read_csr::<u8>().unwrap().nnz(), 4);
    let cube = file.root().unwrap().new_dataset::<u8>().shape([2, 2, 2]).sparse().create("cube").unwrap();
    assert!(cube.read_csr::<u8>().unwrap_err().to_string().contains("two dimensions"));
}
