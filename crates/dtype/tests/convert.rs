//! Conversions against libhdf5, byte for byte.

use hyperslab_dtype::{Class, Datatype, NoHeap, Plan};

use crate::libhdf5::{ask, hex, message, unhex};
use crate::random;
use crate::random::values::{mask, value};
use crate::random::{Rng, pairs};

struct Case {
    from: Datatype,
    to: Datatype,
    count: usize,
    source: Vec<u8>,
    background: Vec<u8>,
}

impl Case {
    fn request(&self) -> String {
        let (from, to) = (message(&self.from), message(&self.to));
        format!("convert {from} {to} {} {} {}", self.count, hex(&self.source), hex(&self.background))
    }

    fn ours(&self) -> Result<Vec<u8>, hyperslab_dtype::Error> {
        let mut result = self.background.clone();
        Plan::new(&self.from, &self.to)?.convert(self.count, &self.source, &mut result, &NoHeap, &mut NoHeap)?;
        Ok(result)
    }

    /// Panics where the answers differ.
    fn compare(&self, theirs: &str) {
        let ours = self.ours().map_or_else(|_| "error".into(), hex);
        if ours == theirs {
            return;
        }
        let Case { from, to, count, .. } = self;
        assert!(ours != "error" && theirs != "error", "{from} to {to}: {:?}\n{theirs}", self.ours());
        let (ours, theirs, mask) = (unhex(&ours), unhex(theirs), mask(to));
        for at in 0..*count {
            let source = &self.source[at * from.size()..][..from.size()];
            let (a, b) = (&ours[at * to.size()..][..to.size()], &theirs[at * to.size()..][..to.size()]);
            let equal = (0..to.size()).all(|byte| a[byte] == b[byte] || !mask[byte]);
            assert!(
                equal,
                "{from} to {to}\n{from:?}\n{to:?}\nvalue  {}\nours   {}\ntheirs {}",
                hex(source),
                hex(a),
                hex(b)
            );
        }
    }
}

fn cases(seed: u64, count: usize, mut pair: impl FnMut(&mut Rng) -> (Datatype, Datatype)) -> Vec<Case> {
    let mut rng = Rng::new(seed);
    (0..count)
        .map(|_| {
            let (from, to) = pair(&mut rng);
            let count = rng.range(1, 6) as usize;
            let source = (0..count).flat_map(|_| value(&mut rng, &from, &to)).collect();
            let background = rng.bytes(count * to.size());
            Case { from, to, count, source, background }
        })
        .collect()
}

fn compare(cases: &[Case]) {
    let requests: Vec<String> = cases.iter().map(Case::request).collect();
    let Some(answers) = ask(&requests) else { return };
    for (case, answer) in cases.iter().zip(&answers) {
        case.compare(answer);
    }
    println!("{} conversions of {} values", cases.len(), cases.iter().map(|case| case.count).sum::<usize>());
}

#[test]
fn native_numbers() {
    compare(&cases(10, 6_000, |rng| (random::native(rng), random::native(rng))));
}

#[test]
fn atoms() {
    compare(&cases(11, 40_000, |rng| pairs::pair(rng, 0)));
}

#[test]
fn nested() {
    compare(&cases(12, 15_000, |rng| pairs::pair(rng, 2)));
}

#[test]
fn pairs_without_a_conversion_have_none_here_either() {
    // Values are all zero: only whether there is a conversion counts.
    let mut cases = cases(13, 6_000, |rng| (random::datatype(rng, 1), random::datatype(rng, 1)));
    // libhdf5 2.0 does not look at the names of the second enumeration.
    let is_enum = |datatype: &Datatype| matches!(datatype.class(), Class::Enum(_));
    cases.retain(|Case { from, to, .. }| {
        !(from.has_vlen() || from.has_reference() || to.has_reference() || is_enum(from) && is_enum(to))
    });
    for case in &mut cases {
        case.source.fill(0);
    }
    let requests: Vec<String> = cases.iter().map(Case::request).collect();
    let Some(answers) = ask(&requests) else { return };
    for (case, answer) in cases.iter().zip(&answers) {
        assert_eq!(case.ours().is_err(), answer == "error", "{} to {}: {:?}", case.from, case.to, case.ours().err());
    }
}
