//! Walks over a file and says what it found: `cargo run -p hyperslab-hostile --example walk FILE`.

use std::time::Instant;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let begin = Instant::now();
        let report = hyperslab_hostile::walk(std::fs::read(&path)?);
        println!("{path}: {} objects, {} reads, {:?}", report.objects, report.reads, begin.elapsed());
        report.errors.iter().for_each(|error| println!("    {error}"));
    }
    Ok(())
}
