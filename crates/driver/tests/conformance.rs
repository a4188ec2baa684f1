//! Every driver and every stack of decorators through the public suite.

use hyperslab_driver::{
    Driver, Family, Fault, Local, Log, Memory, Multi, PageBuffer, PageStrategy, Subfile, Tape, Throttle, VectorLimit,
    conformance,
};

use crate::common::{Kinds, Plain, Scratch, VectorOnly};

fn pass<D: Driver>(make: impl Fn() -> D) {
    let report = conformance::run(make).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(report.requests > 1000 && report.bytes > 1_000_000, "{report:?}");
}

#[test]
fn plain_and_vector_only() {
    pass(Plain::default);
    pass(VectorOnly::default);
}

#[test]
fn memory() {
    pass(Memory::new);
}

#[test]
fn local() {
    let scratch = Scratch::new("local");
    let options = Local::options().create(true).truncate(true);
    pass(|| options.open(scratch.path("a.bin")).unwrap());
}

fn family(member_size: u64) -> Family<Memory> {
    Family::open("m%05d", member_size, Box::new(|_, create| Ok(create.then(Memory::new)))).unwrap()
}

#[test]
fn families() {
    pass(|| family(4096));
    pass(|| family(37));
}

#[test]
fn multi() {
    pass(|| Multi::split(Memory::new(), Memory::new()));
}

fn subfile(members: usize, stripe: u64) -> Subfile<Memory> {
    Subfile::new((0..members).map(|_| Memory::new()).collect(), stripe).unwrap()
}

#[test]
fn subfiles() {
    pass(|| subfile(1, 100));
    pass(|| subfile(3, 7));
    pass(|| subfile(8, 512));
    pass(|| Subfile::new(vec![subfile(2, 16), subfile(2, 16)], 64).unwrap());
}

#[test]
fn decorators() {
    pass(|| Log::new(Memory::new()));
    pass(Tape::default);
    pass(|| VectorLimit::new(Memory::new()));
    pass(|| Fault::new(Throttle::new(Log::new(Memory::new()).keep(10)).bandwidth(u64::MAX)));
    pass(|| Log::new(Subfile::new(vec![Fault::new(family(1000)), Fault::new(family(999))], 50).unwrap()));
}

#[test]
fn page_buffers() {
    for (size, pages) in [(64, 1), (64, 8), (512, 40), (4096, 100), (7, 5)] {
        for strategy in PageStrategy::ALL {
            let make = || PageBuffer::new(Memory::new(), size, pages).unwrap().with_strategy(strategy);
            pass(|| Kinds::new(make()));
            pass(|| Kinds::new(make().writing_through()));
        }
        pass(|| PageBuffer::new(Memory::new(), size, pages).unwrap());
    }
    pass(|| PageBuffer::new(subfile(4, 100), 256, 16).unwrap());
    pass(|| PageBuffer::new(Log::new(family(500)), 100, 30).unwrap());
    pass(|| Subfile::new((0..3).map(|_| PageBuffer::new(subfile(2, 30), 64, 8).unwrap()).collect(), 77).unwrap());
}
