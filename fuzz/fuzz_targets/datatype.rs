//! Two hostile datatypes, and values converted from one to the other.
#![no_main]

use hyperslab_dtype::{Arena, Datatype, NoHeap, Plan, Version};
use libfuzzer_sys::fuzz_target;

/// Values of more bytes than this are not converted.
const CAP: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let (one, other) = rest.split_at(usize::from(first).min(rest.len()));
    let Ok((from, _)) = Datatype::decode(one) else { return };
    let again = Datatype::decode(&from.encode(Version::V3)).expect("what was written can be read");
    assert_eq!(again.0, from);
    let _ = (from.to_string(), from.in_memory(), from.is_suspicious(), from.has_vlen());
    let (to, used) = Datatype::decode(other).unwrap_or_else(|_| (from.in_memory().unwrap_or(from.clone()), 0));
    let Ok(plan) = Plan::new(&from, &to) else { return };
    let values = &other[used..];
    let count = values.len() / from.size();
    if count.saturating_mul(to.size()) <= CAP {
        let mut target = vec![0; count * to.size()];
        let _ = plan.convert(count, values, &mut target, &NoHeap, &mut NoHeap);
        let _ = plan.convert(count, values, &mut target, &Arena::default(), &mut Arena::default());
        let _ = plan.references(count, values, &mut |_| {});
    }
});
