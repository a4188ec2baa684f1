//! A file with datasets of all kinds, and the calls that are tried on it. Each write puts a stamp of its own on noise, which takes filters some
//! time; a read that sees two stamps where one write covers all saw half of a write.

use std::{
    iter,
    ops::Range,
    sync::{Arc, LazyLock, OnceLock},
};

use hyperslab::{
    CacheConfig, Dataset, Element, File, OpenOptions, Recipe, Result, Sequences,
    driver::Memory,
    dtype::{Datatype, Native},
    s,
};

const DATASETS: u64 = 10;
const ROWS: u64 = 256;
const COLUMNS: u64 = 1024;
/// Rows of a chunk: one has 32 KiB.
const CHUNK: u64 = 8;
const VALUES: usize = (ROWS * COLUMNS) as usize;
/// Enough strings to be encoded and decoded by all cores.
const STRINGS: usize = 10_000;
/// As large as a dataset: whole ones go past it, rows through it.
const CACHE: usize = 1 << 20;

pub(crate) struct Scene {
    file: File,
    /// Filtered chunks; each is written as a whole.
    whole: Vec<Dataset>,
    /// Filtered chunks; each row, or each band of rows, is written as a whole.
    rows: Vec<Dataset>,
    /// Contiguous values, which are written past the cache.
    plain: Dataset,
    /// Chunks without filters.
    points: Dataset,
    strings: Vec<Dataset>,
}

fn stamp(nth: u64) -> u32 {
    nth as u32 * 2 + 1
}

static NOISE: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut random = fastrand::Rng::with_seed(3);
    iter::repeat_with(|| random.u32(..)).take(VALUES).collect()
});

/// Rows with a stamp.
fn stamped(rows: Range<u64>, stamp: u32) -> Vec<u32> {
    let elements = (rows.start * COLUMNS) as usize..(rows.end * COLUMNS) as usize;
    NOISE[elements].iter().map(|noise| noise ^ stamp).collect()
}

/// Checks that rows from this one on have one stamp.
fn check(row: u64, values: impl IntoIterator<Item = u32>) {
    let mut stamps = NOISE[(row * COLUMNS) as usize..].iter().zip(values).map(|(noise, value)| noise ^ value);
    let first = stamps.next().expect("values");
    let other = stamps.find(|stamp| *stamp != first);
    assert_eq!(other, None, "half of a write: one stamp is {first}");
}

impl Scene {
    pub(crate) fn new(read_ahead: bool) -> Scene {
        let cache = CacheConfig::default().bytes(CACHE).reserve(CACHE / 16).read_ahead(read_ahead);
        let options = OpenOptions::new().create().truncate().cache(cache);
        let file = options.open_on(Arc::new(Memory::new())).unwrap();
        let root = file.root().unwrap();
        let chunked = |name: String| {
            let new = root.new_dataset::<u32>().shape([ROWS, COLUMNS]).chunks([CHUNK, COLUMNS]).deflate(1);
            new.write(name, &stamped(0..ROWS, 7)).unwrap()
        };
        let strings = |nth| {
            let new = root.new_dataset::<str>().shape([STRINGS as u64]).chunks([1000]);
            new.write(format!("strings {nth}"), &vec!["first"; STRINGS]).unwrap()
        };
        Scene {
            whole: (0..DATASETS).map(|nth| chunked(format!("whole {nth}"))).collect(),
            rows: (0..2).map(|nth| chunked(format!("rows {nth}"))).collect(),
            plain: root.new_dataset::<u32>().shape([ROWS, COLUMNS]).create("plain").unwrap(),
            points: root.new_dataset::<u32>().shape([ROWS, COLUMNS]).chunks([CHUNK, 64]).create("points").unwrap(),
            strings: (0..2).map(strings).collect(),
            file,
        }
    }

    /// Closes the file: what could not be written is an error.
    pub(crate) fn close(self) {
        let Scene { file, whole, rows, plain, points, strings } = self;
        drop((whole, rows, plain, points, strings));
        file.close().unwrap();
    }

    fn whole(&self, nth: u64) -> &Dataset {
        &self.whole[(nth % DATASETS) as usize]
    }

    fn rows(&self, nth: u64) -> &Dataset {
        &self.rows[nth as usize / 2 % self.rows.len()]
    }

    pub(crate) fn write_all(&self, nth: u64) {
        self.whole(nth).write(&stamped(0..ROWS, stamp(nth))).unwrap();
    }

    pub(crate) fn read_all(&self, nth: u64) {
        check(0, self.whole(nth).read::<u32>().unwrap());
    }

    pub(crate) fn read_converted(&self, nth: u64) {
        check(0, self.whole(nth).read::<f64>().unwrap().into_iter().map(|value| value as u32));
    }

    pub(crate) fn write_converted(&self, nth: u64) {
        let values: Vec<f64> = stamped(0..ROWS, stamp(nth)).into_iter().map(f64::from).collect();
        self.whole(nth).write(&values).unwrap();
    }

    /// Whole chunks, enough of them to go past the cache.
    pub(crate) fn write_rows(&self, nth: u64) {
        let (from, count) = (nth % 4 * (ROWS / 4), ROWS / 4 + CHUNK);
        let rows = from..(from + count).min(ROWS);
        self.rows[0].write_slice(s![rows.clone(), ..], &stamped(rows, stamp(nth))).unwrap();
    }

    pub(crate) fn write_row(&self, nth: u64) {
        let row = nth * 7 % ROWS;
        self.rows(nth).write_slice(s![row, ..], &stamped(row..row + 1, stamp(nth))).unwrap();
    }

    pub(crate) fn read_row(&self, nth: u64) {
        let row = nth * 11 % ROWS;
        check(row, self.rows(nth).read_slice::<u32>(s![row, ..]).unwrap());
    }

    pub(crate) fn read_rows_in_order(&self, nth: u64) {
        for row in (0..ROWS).step_by(4) {
            let values = self.rows(nth).read_slice::<u32>(s![row..row + 4, ..]).unwrap();
            let each = (row..).zip(values.chunks_exact(COLUMNS as usize));
            each.for_each(|(row, values)| check(row, values.iter().copied()));
        }
    }

    /// A write that needs the file for itself for a moment.
    pub(crate) fn write_few(&self, nth: u64) {
        self.plain.write_slice(s![nth % ROWS, 0..4], &[stamp(nth); 4]).unwrap();
        self.points.write_slice(s![nth % ROWS, 0..4], &[stamp(nth); 4]).unwrap();
    }

    pub(crate) fn create(&self, nth: u64) {
        let (name, values) = (format!("new {nth}"), stamped(0..ROWS, stamp(nth)));
        let new = self.file.root().unwrap().new_dataset::<u32>().shape([ROWS, COLUMNS]).chunks([CHUNK, COLUMNS]);
        let dataset = new.deflate(1).write(&name, &values).unwrap();
        assert_eq!(dataset.read_slice::<u32>(s![0, 0]).unwrap(), values[..1]);
    }

    pub(crate) fn write_strings(&self, nth: u64) {
        let values = vec![format!("string {nth}").repeat(3); STRINGS];
        self.strings[nth as usize % self.strings.len()].write(&values).unwrap();
    }

    pub(crate) fn read_strings(&self, nth: u64) {
        let values = self.strings[nth as usize % self.strings.len()].read::<String>().unwrap();
        assert!(values.len() == STRINGS && values.iter().all(|value| *value == values[0]));
    }

    pub(crate) fn read_many(&self, nth: u64) {
        let (one, other) = (self.whole(nth), self.whole(nth + 1));
        let parts = [(one, &one.space()), (other, &other.space())];
        hyperslab::read_many::<u32>(&parts).unwrap().into_iter().for_each(|values| check(0, values));
    }

    pub(crate) fn write_many(&self, nth: u64) {
        let (one, other, values) = (self.whole(nth), self.whole(nth + 1), stamped(0..ROWS, stamp(nth)));
        hyperslab::write_many(&[(one, &one.space(), &values), (other, &other.space(), &values)]).unwrap();
    }

    pub(crate) fn read_points(&self, nth: u64) {
        let coordinate = |point: u64| [(point * 7 + nth) % ROWS, point * 13 % COLUMNS];
        let mut points = self.points.space();
        points.select_points(&(0..20_000).flat_map(coordinate).collect::<Vec<_>>()).unwrap();
        assert_eq!(self.points.read_selection::<u32>(&points).unwrap().len(), 20_000);
    }

    pub(crate) fn flush(&self, _: u64) {
        self.file.flush().unwrap();
    }

    pub(crate) fn read_nested(&self, nth: u64) {
        check(0, self.whole(nth).read::<Nested>().unwrap().into_iter().map(|Nested(value)| value));
    }
}

/// A value that looks another one up when it is decoded: in a dataset of a file of its own, whose values are converted on all cores.
pub(crate) struct Nested(u32);

impl Element for Nested {
    type Decoder = ();

    fn recipe(_: &Datatype) -> Result<Recipe<()>> {
        Ok(Recipe { stored: u32::datatype(), memory: u32::datatype(), decoder: () })
    }

    fn decode((): &(), bytes: &[u8], _: &Sequences<'_>) -> Result<Nested> {
        let value = u32::from_ne_bytes(bytes.try_into().unwrap());
        if fastrand::u32(..VALUES as u32 / 16) == 0 {
            let dataset = table()?;
            check(0, dataset.read::<f64>()?.into_iter().map(|value| value as u32));
            dataset.write_slice(s![0, ..], &stamped(0..1, 7))?;
        }
        Ok(Nested(value))
    }
}

fn table() -> Result<&'static Dataset> {
    static TABLE: OnceLock<Dataset> = OnceLock::new();
    if let Some(table) = TABLE.get() {
        return Ok(table);
    }
    let file = File::create_on(Arc::new(Memory::new()))?;
    let new = file.root()?.new_dataset::<u32>().shape([ROWS, COLUMNS]).chunks([CHUNK, COLUMNS]).deflate(1);
    let table = new.write("table", &stamped(0..ROWS, 7))?;
    Ok(TABLE.get_or_init(|| table))
}
