//! A shape of chunks that suits most, as h5py finds it.

const BASE: f64 = 16.0 * 1024.0;
const LEAST: f64 = 8.0 * 1024.0;
const MOST: f64 = 1024.0 * 1024.0;

/// Halves one dimension after the other until a chunk is near the size that goes with that of the dataset.
pub(super) fn chunk(shape: &[u64], element: u64) -> Vec<u64> {
    // Dimensions that begin empty are guessed to have 1024.
    let mut chunk: Vec<f64> = shape.iter().map(|&size| if size == 0 { 1024.0 } else { size as f64 }).collect();
    let element = element as f64;
    let product = |chunk: &[f64]| chunk.iter().product::<f64>();
    let target = (BASE * 2f64.powf((product(&chunk) * element / MOST).log10())).clamp(LEAST, MOST);
    for dim in (0..chunk.len()).cycle() {
        let bytes = product(&chunk) * element;
        let near = bytes < target || (bytes - target).abs() / target < 0.5;
        if near && bytes < MOST || product(&chunk) <= 1.0 {
            break;
        }
        if let Some(side) = chunk.get_mut(dim) {
            *side = (*side / 2.0).ceil();
        }
    }
    chunk.into_iter().map(|side| side as u64).collect()
}
