//! A program that fails, cut to what is needed for it.

use super::Changes;

/// Cuts operations, many at once, then fewer, as long as the program still fails; tries so many times at most.
pub fn shrink(program: &Changes, mut tries: usize, fails: &mut dyn FnMut(&Changes) -> bool) -> Changes {
    let mut best = program.clone();
    // What comes after the failure does not matter.
    while tries > 0 && best.segments.len() > 1 {
        let mut shorter = best.clone();
        shorter.segments.pop();
        tries -= 1;
        if !fails(&shorter) {
            break;
        }
        best = shorter;
    }
    let mut size = best.len() / 2;
    while size > 0 && tries > 0 {
        let mut at = 0;
        while at < best.len() && tries > 0 {
            let shorter = without(&best, at, size);
            tries -= 1;
            if fails(&shorter) {
                best = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    best
}

fn without(program: &Changes, from: usize, count: usize) -> Changes {
    let (mut shorter, mut nth) = (program.clone(), 0);
    for segment in &mut shorter.segments {
        segment.operations.retain(|_| {
            nth += 1;
            !(from..from + count).contains(&(nth - 1))
        });
    }
    shorter
}
