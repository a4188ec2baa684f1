//! Whether a word is a value of a datatype: found out before anything is written, and without a detour through another type.

use crate::failure::Failure;
use hyperslab::dtype::{Bits, Charset, Class, Datatype, Float, Normalization, Padding};

/// Whether all words are values of a type; the first that is not is an error that says where it would stand.
pub(super) fn check(path: &str, words: &[String], datatype: &Datatype, shape: &[u64]) -> Result<(), Failure> {
    for (number, word) in words.iter().enumerate() {
        if let Err(why) = fits(word, datatype) {
            let (path, text) = (path.to_owned(), word.clone());
            return Err(Failure::Unfit { path, at: place(number, shape), text, datatype: datatype.to_string(), why });
        }
    }
    Ok(())
}

/// Where the value with a number stands: `[1, 2]`; `[]` in what has no dimensions.
fn place(number: usize, shape: &[u64]) -> String {
    let mut left = number as u64;
    let mut at: Vec<String> = Vec::new();
    for &dim in shape.iter().rev() {
        at.push((left % dim.max(1)).to_string());
        left /= dim.max(1);
    }
    at.reverse();
    format!("[{}]", at.join(", "))
}

fn fits(word: &str, datatype: &Datatype) -> Result<(), String> {
    match datatype.class() {
        Class::Fixed(fixed) => whole(word, &fixed.bits, fixed.signed),
        Class::Bitfield(bits) => whole(word, bits, false),
        Class::Enum(names) => fits(word, names.base()),
        Class::Float(float) => real(word, float),
        Class::Complex(part) => fits(word, part),
        Class::String(padding, charset) => {
            let room = datatype.size() - usize::from(*padding == Padding::NullTerm && datatype.size() > 0);
            match word.len() > room {
                true => Err(format!("it has {} bytes where there is room for {room}", word.len())),
                false => text(word, *charset),
            }
        }
        Class::Vlen(vlen) => match vlen.text {
            Some((_, charset)) => text(word, charset),
            None => Err("values of this type cannot be given in words".into()),
        },
        _ => Err("values of this type cannot be given in words".into()),
    }
}

fn text(word: &str, charset: Charset) -> Result<(), String> {
    match charset {
        Charset::Ascii if !word.is_ascii() => Err("it is not ASCII".into()),
        _ if word.contains('\0') => Err("readers would end it at its zero byte".into()),
        _ => Ok(()),
    }
}

/// An integer, compared with the bounds of its type.
fn whole(word: &str, bits: &Bits, signed: bool) -> Result<(), String> {
    let width = u32::from(bits.precision).min(128);
    let (low, high) = match (signed, width) {
        (_, 0) => (0, 0),
        (true, _) => (i128::MIN >> (128 - width), (i128::MAX >> (128 - width)) as u128),
        (false, _) => (0, u128::MAX >> (128 - width)),
    };
    match (word.parse::<i128>(), word.parse::<u128>()) {
        (Ok(number), _) if number < low => {}
        (_, Ok(number)) if number > high => {}
        (Err(_), Err(_)) if !is_whole(word) => return Err("it is no whole number".into()),
        (Err(_), Err(_)) => {}
        _ => return Ok(()),
    }
    Err(format!("values are from {low} to {high}"))
}

/// Whether a word is an integer of any size.
pub(super) fn is_whole(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// A number that a floating-point type is near to: integers exactly, others rounded, none as infinity or zero if it is not.
fn real(word: &str, float: &Float) -> Result<(), String> {
    let Some(number) = number(word) else {
        return Err("it is no number, or one that is too large or too small".into());
    };
    if !number.is_finite() || number == 0.0 {
        return Ok(());
    }
    let mantissa = i32::from(float.mantissa.size);
    // The place of the highest exponent is for infinity and NaN, that of the lowest for numbers that are not normalized.
    let places = 1i64.checked_shl(u32::from(float.exponent.size)).unwrap_or(i64::MAX);
    let (highest, lowest) = (places - 2 - i64::from(float.bias), 1 - i64::from(float.bias));
    let size = number.abs();
    let power = |exponent: i64| 2f64.powi(i32::try_from(exponent.clamp(-1100, 1100)).unwrap_or(0));
    if highest < 1023 && size >= (2.0 - power(-i64::from(mantissa) - 1)) * power(highest) {
        return Err("it is too large".into());
    }
    if lowest > -1022 && size <= power(lowest - i64::from(mantissa) - 1) {
        return Err("it is too small, and would become 0".into());
    }
    let bits = u32::from(float.mantissa.size) + u32::from(float.normalization == Normalization::Implied);
    // Values of wider types are made of doubles.
    if is_whole(word) && !is_exact(word, bits.min(f64::MANTISSA_DIGITS)) {
        return Err("it would become another whole number; with a decimal point the nearest value is taken".into());
    }
    Ok(())
}

/// Whether so many bits hold an integer: zeros at its end need none.
fn is_exact(word: &str, bits: u32) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    digits.parse::<u128>().is_ok_and(|number| 128 - number.leading_zeros() - number.trailing_zeros().min(127) <= bits)
}

/// The number that a word stands for; none for words that are no number, and for numbers beyond those of a double.
pub(super) fn number(word: &str) -> Option<f64> {
    let number: f64 = word.parse().ok()?;
    let says_zero = !word.split(['e', 'E']).next().unwrap_or(word).bytes().any(|digit| (b'1'..=b'9').contains(&digit));
    let says_infinite = word.bytes().any(|letter| matches!(letter, b'i' | b'I' | b'n' | b'N'));
    ((number.is_finite() || says_infinite) && (number != 0.0 || says_zero)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::Storable;

    fn ok<T: Storable>(word: &str) -> bool {
        fits(word, &T::datatype().unwrap()).is_ok()
    }

    #[test]
    fn integers_keep_their_bounds() {
        assert!(ok::<u8>("255") && !ok::<u8>("256") && !ok::<u8>("-5") && !ok::<u8>("nan") && !ok::<u8>("1.5"));
        assert!(ok::<i8>("-128") && !ok::<i8>("-129") && ok::<i8>("127") && !ok::<i8>("128"));
        assert!(ok::<u64>("18446744073709551615") && !ok::<u64>("18446744073709551616"));
        assert!(ok::<i64>("-9223372036854775808") && !ok::<i64>("9223372036854775808"));
        assert!(!ok::<i64>("999999999999999999999999999999999999999999999"));
        assert!(
            ok::<i128>("-170141183460469231731687303715884105728")
                && ok::<u128>("340282366920938463463374607431768211455")
        );
    }

    #[test]
    fn floats_are_rounded_but_integers_are_not() {
        assert!(ok::<f32>("0.1") && ok::<f32>("16777216") && !ok::<f32>("16777217") && ok::<f32>("16777217.0"));
        assert!(ok::<f64>("9007199254740992") && !ok::<f64>("9007199254740993"));
        assert!(ok::<f32>("3.4028235e38") && !ok::<f32>("3.5e38") && !ok::<f32>("1e-60") && ok::<f32>("1e-45"));
        assert!(
            ok::<f64>("nan") && ok::<f64>("-inf") && !ok::<f64>("1e400") && !ok::<f64>("1e-400") && ok::<f64>("0e5")
        );
        assert!(ok::<f64>("1e300") && ok::<f64>("5e-324") && !ok::<f64>("one"));
    }

    #[test]
    fn what_is_wider_than_a_double_gets_no_other_integer() {
        for float in [Float::X87, Float::F128] {
            let wide = Datatype::float(16, float).unwrap();
            for (word, holds) in [
                ("9007199254740992", true),
                ("9007199254740993", false),
                ("9223372036854775808", true),
                ("9223372036854775809", false),
                ("18446744073709551615", false),
                ("0.1", true),
            ] {
                assert_eq!(fits(word, &wide).is_ok(), holds, "{word}");
            }
        }
    }

    /// The bounds are where the conversion of the standard library has them.
    #[test]
    fn the_edges_of_f32() {
        for bits in [0x7f7f_ffffu32, 0x7f7f_fffe, 1, 2, 0x0080_0000] {
            let at = f64::from(f32::from_bits(bits));
            for number in [at.next_down(), at, at.next_up(), at / 2.0, at * 1.000_000_04] {
                let stored = number as f32;
                let holds = stored.is_finite() && stored != 0.0;
                assert_eq!(ok::<f32>(&format!("{number:e}")), holds, "{number:e}");
            }
        }
    }

    #[test]
    fn places_are_those_of_the_array() {
        assert_eq!(place(5, &[2, 3]), "[1, 2]");
        assert_eq!(place(0, &[]), "[]");
    }
}
