//! Numbers of lists and shapes, which must not be negative. A read as `u64` would make 0 of a negative one.

use hyperslab::dtype::{Class, Datatype};
use hyperslab::{Dataset, Group, Result};
use std::ops::Range;

/// Some numbers, or which of them is wrong.
pub(super) type Numbers = std::result::Result<Vec<u64>, String>;

/// A part of a list of one dimension, which has this name in its group.
pub(super) fn of_list(name: &str, list: &Dataset, range: Range<u64>) -> Result<Numbers> {
    let first = range.start;
    let at = |nth: usize| format!("number {} of {name}", first + nth as u64);
    Ok(match sign(list.datatype()) {
        Sign::Unsigned => Ok(list.read_slice(range)?),
        Sign::Signed => whole(list.read_slice::<i64>(range)?, at),
        Sign::Float => real(list.read_slice::<f64>(range)?, at),
    })
}

/// The numbers of an attribute.
pub(super) fn of_attribute(group: &Group, name: &str) -> Result<Numbers> {
    let attribute = group.attribute(name)?;
    let at = |_| format!("attribute {name}");
    Ok(match sign(&attribute.datatype) {
        Sign::Unsigned => Ok(attribute.read()?),
        Sign::Signed => whole(attribute.read::<i64>()?, at),
        Sign::Float => real(attribute.read::<f64>()?, at),
    })
}

/// The only number of an attribute.
pub(super) fn scalar(group: &Group, name: &str) -> Result<std::result::Result<u64, String>> {
    Ok(of_attribute(group, name)?.and_then(|numbers| match numbers.as_slice() {
        [number] => Ok(*number),
        numbers => Err(format!("attribute {name} has {} numbers in place of one", numbers.len())),
    }))
}

enum Sign {
    Unsigned,
    Signed,
    Float,
}

fn sign(datatype: &Datatype) -> Sign {
    match datatype.class() {
        Class::Fixed(fixed) if !fixed.signed => Sign::Unsigned,
        Class::Float(_) => Sign::Float,
        _ => Sign::Signed,
    }
}

fn whole(numbers: Vec<i64>, at: impl Fn(usize) -> String) -> Numbers {
    let numbers = numbers.into_iter().enumerate();
    numbers
        .map(|(nth, number)| u64::try_from(number).map_err(|_| format!("{} is negative: {number}", at(nth))))
        .collect()
}

fn real(numbers: Vec<f64>, at: impl Fn(usize) -> String) -> Numbers {
    let natural = |number: f64| number >= 0.0 && number.fract() == 0.0 && number < u64::MAX as f64;
    let numbers = numbers.into_iter().enumerate();
    numbers
        .map(|(nth, number)| match natural(number) {
            true => Ok(number as u64),
            false => Err(format!("{} is no natural number: {number}", at(nth))),
        })
        .collect()
}
