//! The steps of [`super`] in registers of 32 bytes, for elements of 2, 4, 8 and 16 bytes: 32 elements at a time go from their rows to their columns or back
//! without a detour through memory.
//!
//! Instructions interleave halves of 16 bytes: each half of the registers has 16 elements of its own. Interleaving them as often as the element size has bits
//! makes columns to rows; four times more, and they are where they were: four times make rows to columns.

use std::arch::x86_64::{
    __m256i, _mm256_permute2x128_si256, _mm256_setzero_si256, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8,
};

use bytemuck::must_cast;

/// Elements that are moved at once.
const LANES: usize = 32;

/// Turns a table to columns, if processor and size allow it.
pub(super) fn to_columns(size: usize, table: &[u8], columns: &mut [u8]) -> bool {
    if !is_possible(size, table.len()) {
        return false;
    }
    #[expect(unsafe_code, reason = "only the caller knows what the processor can do")]
    // SAFETY: the processor has just been asked for these instructions.
    unsafe {
        match size {
            2 => to_columns_of::<2>(table, columns),
            4 => to_columns_of::<4>(table, columns),
            8 => to_columns_of::<8>(table, columns),
            _ => to_columns_of::<16>(table, columns),
        }
    }
    true
}

/// Undoes [`to_columns`].
pub(super) fn to_rows(size: usize, columns: &[u8], table: &mut [u8]) -> bool {
    if !is_possible(size, table.len()) {
        return false;
    }
    #[expect(unsafe_code, reason = "only the caller knows what the processor can do")]
    // SAFETY: the processor has just been asked for these instructions.
    unsafe {
        match size {
            2 => to_rows_of::<2>(columns, table),
            4 => to_rows_of::<4>(columns, table),
            8 => to_rows_of::<8>(columns, table),
            _ => to_rows_of::<16>(columns, table),
        }
    }
    true
}

fn is_possible(size: usize, len: usize) -> bool {
    matches!(size, 2 | 4 | 8 | 16) && len >= LANES * size && crate::cpu::has_avx2()
}

#[target_feature(enable = "avx2")]
fn to_columns_of<const SIZE: usize>(table: &[u8], columns: &mut [u8]) {
    let count = table.len() / SIZE;
    for at in starts(count) {
        let rows = table.get(at * SIZE..).unwrap_or_default().as_chunks::<LANES>().0;
        let mut registers = [_mm256_setzero_si256(); SIZE];
        for (nth, register) in registers.iter_mut().enumerate() {
            // A half of each register for the first 16 elements, the other for the rest.
            let (low, high) = (row(rows, nth / 2), row(rows, (nth + SIZE) / 2));
            *register = if nth % 2 == 0 {
                _mm256_permute2x128_si256::<0x20>(low, high)
            } else {
                _mm256_permute2x128_si256::<0x31>(low, high)
            };
        }
        for _ in 0..4 {
            registers = interleaved(registers);
        }
        for (column, register) in columns.chunks_exact_mut(count).zip(registers) {
            if let Some(to) = column.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<LANES>) {
                *to = must_cast(register);
            }
        }
    }
}

#[target_feature(enable = "avx2")]
fn to_rows_of<const SIZE: usize>(columns: &[u8], table: &mut [u8]) {
    let count = table.len() / SIZE;
    for at in starts(count) {
        let mut registers = [_mm256_setzero_si256(); SIZE];
        for (register, column) in registers.iter_mut().zip(columns.chunks_exact(count)) {
            if let Some(from) = column.get(at..).and_then(<[u8]>::first_chunk::<LANES>) {
                *register = must_cast(*from);
            }
        }
        for _ in 0..SIZE.ilog2() {
            registers = interleaved(registers);
        }
        let rows = table.get_mut(at * SIZE..).unwrap_or_default().as_chunks_mut::<LANES>().0;
        for (nth, row) in rows.iter_mut().take(SIZE).enumerate() {
            // The first half of the rows are the low halves of the registers.
            let pair = nth % (SIZE / 2) * 2;
            let (low, high) = (pick(&registers, pair), pick(&registers, pair + 1));
            *row = must_cast(if nth < SIZE / 2 {
                _mm256_permute2x128_si256::<0x20>(low, high)
            } else {
                _mm256_permute2x128_si256::<0x31>(low, high)
            });
        }
    }
}

/// Where groups of elements start; the last group may overlap the one before.
fn starts(count: usize) -> impl Iterator<Item = usize> {
    let whole = count / LANES * LANES;
    (0..whole).step_by(LANES).chain((whole < count).then_some(count - LANES))
}

/// Interleaves the first half of the registers with the other, byte by byte, within halves of registers.
#[target_feature(enable = "avx2")]
#[inline]
fn interleaved<const SIZE: usize>(registers: [__m256i; SIZE]) -> [__m256i; SIZE] {
    let mut result = registers;
    for (nth, to) in result.iter_mut().enumerate() {
        let (low, high) = (pick(&registers, nth / 2), pick(&registers, nth / 2 + SIZE / 2));
        *to = if nth % 2 == 0 { _mm256_unpacklo_epi8(low, high) } else { _mm256_unpackhi_epi8(low, high) };
    }
    result
}

#[target_feature(enable = "avx2")]
#[inline]
fn row(rows: &[[u8; LANES]], nth: usize) -> __m256i {
    rows.get(nth).map_or(_mm256_setzero_si256(), |row| must_cast(*row))
}

#[target_feature(enable = "avx2")]
#[inline]
fn pick(registers: &[__m256i], nth: usize) -> __m256i {
    registers.get(nth).copied().unwrap_or(_mm256_setzero_si256())
}
