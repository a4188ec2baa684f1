//! Numbers in words that are rounded once: to the nearest value of a type that is narrower than a double, not to that of the nearest double.

use super::fit;
use std::cmp::Ordering;

/// Enough digits to tell any double exactly.
const DIGITS: usize = 780;

/// The number that a word stands for, as a double that rounds to the same value of any narrower type as the number itself does: of the two doubles
/// around a number that is none, the one whose last bit is set, so that it never is in the middle between two narrower values.
pub(super) fn to_odd(word: &str) -> Option<f64> {
    let near = fit::number(word)?;
    if !near.is_finite() || near == 0.0 || near.to_bits() & 1 == 1 {
        return Some(near);
    }
    let further = f64::from_bits(near.to_bits() + 1);
    let nearer = f64::from_bits(near.to_bits() - 1);
    Some(match decimal(word).cmp(&decimal(&format!("{near:.DIGITS$e}"))) {
        Ordering::Less => nearer,
        Ordering::Equal => near,
        Ordering::Greater => further,
    })
}

/// The size of a number that is not zero: the power of ten of its first digit, and its digits without zeros around them. Its order is that of sizes.
fn decimal(word: &str) -> (i64, Vec<u8>) {
    let (digits, power) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: Vec<u8> = whole.bytes().chain(part.bytes()).filter(u8::is_ascii_digit).collect();
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let before = whole.bytes().filter(u8::is_ascii_digit).count();
    let end = digits.iter().rposition(|&digit| digit != b'0').map_or(zeros, |last| last + 1);
    // A power that is no number of 64 bits is beyond that of every double, as `fit` finds out before.
    let power = power.parse::<i64>().unwrap_or(0);
    (
        power.saturating_add(before as i64).saturating_sub(zeros as i64),
        digits.get(zeros..end).unwrap_or_default().to_vec(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in the middle between two values of the type `f32`, and as near to that as they can be told, are rounded as the standard library does.
    #[test]
    fn a_number_is_rounded_once() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let low = f32::from_bits(random.u32(1..0x7f7f_fff0));
            let middle = (f64::from(low) + f64::from(low.next_up())) / 2.0;
            let exact = format!("{middle:.DIGITS$e}");
            let (digits, power) = exact.split_once('e').unwrap();
            let above = format!("{digits}1e{power}");
            for word in [&exact, &above, &format!("-{above}"), &format!("{middle}")] {
                let rounded = to_odd(word).unwrap() as f32;
                assert_eq!(rounded, word.parse::<f32>().unwrap(), "{word}");
            }
        }
    }

    #[test]
    fn what_a_double_holds_stays() {
        for (word, number) in
            [("1.50", 1.5), (".5e1", 5.0), ("-0", -0.0), ("1e22", 1e22), ("0.001e3", 1.0), ("inf", f64::INFINITY)]
        {
            assert_eq!(to_odd(word).map(f64::to_bits), Some(number.to_bits()), "{word}");
        }
        assert_eq!(to_odd("1.00000000000000000000000000001"), Some(1f64.next_up()));
        assert_eq!(to_odd("-0.99999999999999999999999999999"), Some(-1f64.next_down()));
        assert!(to_odd("nan").unwrap().is_nan() && to_odd("1e400").is_none() && to_odd("one").is_none());
    }
}
