//! The document's rules for control operations (2.5.1), and the bracket of concurrent requests (2.5.2).

use std::any::Any;
use std::time::{Duration, Instant};

use hyperslab_driver::{
    CtlFlags, CtlOp, CtlReply, Damage, Driver, Fault, Log, Memory, Operation, Result, Subfile, Target, Throttle,
    Transfer, Why, concurrently,
};

use crate::common::Plain;

/// Knows the rank and nothing else.
#[derive(Default)]
struct Rank(Plain);

impl Driver for Rank {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.0.read_at(addr, buf, transfer)
    }
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.0.write_at(addr, buf, transfer)
    }
    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.0.len(transfer)
    }
    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.0.set_len(len, transfer)
    }
    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.0.sync(transfer)
    }
    fn ctl(&self, op: CtlOp, flags: CtlFlags, input: Option<&dyn Any>) -> Result<CtlReply> {
        if op == CtlOp::MPI_RANK {
            return Ok(CtlReply::Value(Box::new(3u32)));
        }
        self.0.ctl(op, flags, input)
    }
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Fails,
    Ignored,
    Rank,
}

fn outcome(driver: &dyn Driver, op: CtlOp, flags: CtlFlags) -> Outcome {
    match driver.ctl(op, flags, None) {
        Err(error) => {
            assert!(matches!(error.why, Why::UnknownCtl(unknown) if unknown == op), "{error}");
            Outcome::Fails
        }
        Ok(CtlReply::Ignored) => Outcome::Ignored,
        Ok(CtlReply::Value(value)) => {
            assert_eq!(value.downcast_ref::<u32>(), Some(&3));
            Outcome::Rank
        }
        Ok(CtlReply::Done) => panic!("no driver does that"),
    }
}

#[test]
fn the_table_of_rules() {
    const FAIL: CtlFlags = CtlFlags::FAIL_IF_UNKNOWN;
    const IGNORE: CtlFlags = CtlFlags::IGNORE_IF_UNKNOWN;
    const ROUTE: CtlFlags = CtlFlags::ROUTE_TO_TERMINAL;
    let terminal = Rank::default();
    let stacked = Log::new(Throttle::new(Fault::new(Rank::default())));
    for (flags, known_below, unknown) in [
        (CtlFlags::empty(), Outcome::Ignored, Outcome::Ignored),
        (IGNORE, Outcome::Ignored, Outcome::Ignored),
        (FAIL, Outcome::Fails, Outcome::Fails),
        (FAIL | IGNORE, Outcome::Fails, Outcome::Fails),
        (ROUTE, Outcome::Rank, Outcome::Ignored),
        (ROUTE | IGNORE, Outcome::Rank, Outcome::Ignored),
        (ROUTE | FAIL, Outcome::Rank, Outcome::Fails),
    ] {
        assert_eq!(outcome(&terminal, CtlOp::MPI_RANK, flags), Outcome::Rank, "known, terminal, {flags:?}");
        assert_eq!(outcome(&terminal, CtlOp(77), flags), unknown, "unknown, terminal, {flags:?}");
        assert_eq!(outcome(&stacked, CtlOp::MPI_RANK, flags), known_below, "known below, {flags:?}");
        assert_eq!(outcome(&stacked, CtlOp(77), flags), unknown, "unknown, stacked, {flags:?}");
    }
}

#[test]
fn every_driver_is_bracketed_once() {
    let logs = [Log::new(Memory::from(vec![1; 9])), Log::new(Memory::from(vec![2; 9])), Log::new(Memory::new())];
    let mut buffers = [[0; 4]; 4];
    concurrently(|co| {
        for (index, buffer) in buffers.iter_mut().enumerate() {
            co.issue(&logs[index % 2], |driver| driver.read_at(0, buffer, &Transfer::default()));
        }
    })
    .unwrap();
    assert_eq!(buffers, [[1; 4], [2; 4], [1; 4], [2; 4]]);
    for log in &logs[..2] {
        let records = log.records();
        let ops: Vec<_> = records.iter().map(|record| (record.operation, record.ctl)).collect();
        assert_eq!(ops.first(), Some(&(Operation::Ctl, Some(CtlOp::COBEGIN))));
        assert_eq!(ops.last(), Some(&(Operation::Ctl, Some(CtlOp::COEND))));
        assert_eq!(ops.len(), 4);
    }
    assert!(logs[2].records().is_empty());
}

#[test]
fn the_first_error_in_order_of_issue() {
    let slow = Fault::new(Throttle::new(Memory::new()).latency(Duration::from_millis(10)));
    slow.arm(Target::Writes, 0, Damage::Tear(1));
    let fast = Fault::new(Memory::new());
    fast.arm(Target::Writes, 0, Damage::Fail);
    let outcome = concurrently(|co| {
        co.issue(&slow, |driver| driver.write_at(100, b"abc", &Transfer::default()));
        co.issue(&fast, |driver| driver.write_at(200, b"abc", &Transfer::default()));
        7
    });
    assert_eq!(outcome.unwrap_err().addr, 100);
}

#[test]
fn eight_stripes_wait_together() {
    let latency = Duration::from_millis(5);
    let member = |_| Log::new(Throttle::new(Memory::from(vec![7; 4096])).latency(latency));
    let file = Subfile::new((0..8).map(member).collect(), 1024).unwrap();
    let mut buffer = vec![0; 8 * 4096];
    file.read_at(0, &mut buffer, &Transfer::default()).unwrap();
    let fastest = (0..5)
        .map(|_| {
            let begun = Instant::now();
            file.read_at(0, &mut buffer, &Transfer::default()).unwrap();
            begun.elapsed()
        })
        .min()
        .unwrap();
    assert!(fastest >= latency && fastest < Duration::from_millis(16), "{fastest:?}");
    // Two stripes touched, two members asked.
    file.members().iter().for_each(Log::clear);
    file.read_at(1000, &mut buffer[..100], &Transfer::default()).unwrap();
    let asked: Vec<_> = file.members().iter().map(|member| member.counts().reads).collect();
    assert_eq!(asked, [1, 1, 0, 0, 0, 0, 0, 0]);
}
