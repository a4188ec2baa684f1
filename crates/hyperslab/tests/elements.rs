//! Reads of the sample file as types of one's own, and what is refused.

use hyperslab::{Element, File, s};

fn weather() -> File {
    File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5")).unwrap()
}

#[derive(Debug, Element, PartialEq)]
enum Sky {
    #[hyperslab(rename = "CLEAR")]
    Clear,
    #[hyperslab(rename = "RAIN")]
    Rain,
    #[hyperslab(rename = "CLOUDY")]
    Cloudy,
}

#[derive(Debug, Element, PartialEq)]
struct Reading {
    sky: Sky,
    note: String,
    #[hyperslab(rename = "wind")]
    wind_speed: [f64; 2],
    time: i64,
    #[hyperslab(default)]
    rain: Option<Vec<f32>>,
}

#[test]
fn structs_and_enums() {
    let file = weather();
    let readings: Vec<Reading> = file.dataset("reading").unwrap().read().unwrap();
    let calm =
        Reading { sky: Sky::Clear, note: "calm".into(), wind_speed: [1.5, -2.0], time: 1_700_000_000, rain: None };
    assert_eq!(readings[0], calm);
    assert_eq!(readings[1].sky, Sky::Rain);
    assert_eq!(file.dataset("station/sky").unwrap().read::<Sky>().unwrap(), [Sky::Rain, Sky::Clear, Sky::Cloudy]);
}

#[derive(Clone, Copy, Debug, Default, Element, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[hyperslab(pod)]
#[repr(C)]
struct Moment {
    wind: [f32; 2],
    time: u64,
}

#[derive(Element)]
struct Pair<T> {
    time: T,
}

#[test]
fn structs_that_are_bytes_and_generic_ones() {
    let dataset = weather().dataset("reading").unwrap();
    let moments = dataset.read::<Moment>().unwrap();
    assert_eq!(moments[1], Moment { wind: [8.0, 3.0], time: 1_700_003_600 });
    let mut last = [Moment::default()];
    dataset.read_slice_into(s![-1..], &mut last).unwrap();
    assert_eq!(last[0], moments[1]);
    assert_eq!(dataset.read::<Pair<f32>>().unwrap()[0].time, 1.7e9);
}

#[test]
fn sequences_and_null() {
    let file = weather();
    let visits = file.dataset("station/visits").unwrap();
    assert_eq!(visits.read::<Vec<u16>>().unwrap(), [vec![2019, 2021], vec![], vec![2020]]);
    assert_eq!(visits.read::<Option<Vec<i64>>>().unwrap(), [Some(vec![2019, 2021]), None, Some(vec![2020])]);
    assert_eq!(file.dataset("station/code").unwrap().read::<[u8; 3]>().unwrap()[1], *b"BRN");
    assert_eq!(file.dataset("station/name").unwrap().read::<Vec<u8>>().unwrap()[1], b"Bern");
    assert_eq!(file.dataset("station/active").unwrap().read::<bool>().unwrap(), [true, false, true]);
    assert_eq!(file.dataset("station/active").unwrap().read::<u8>().unwrap(), [1, 0, 1]);
}

#[test]
fn refusals_say_what_to_do() {
    let file = weather();
    let why = |wrong: hyperslab::Result<()>| wrong.unwrap_err().to_string();
    let dataset = |name: &str| file.dataset(name).unwrap();
    assert_eq!(
        why(dataset("station/name").read::<f32>().map(drop)),
        "values of type string(utf8) cannot be read as f32: read String, or Vec<u8> if it is not UTF-8"
    );
    assert!(why(dataset("temperature").read::<String>().map(drop)).contains("read a number"));
    assert!(why(dataset("station/sky").read::<bool>().map(drop)).contains("neither 0 (false) nor 1 (true)"));
    #[derive(Debug, Element)]
    struct Wrong {
        gust: f32,
    }
    let wrong = why(dataset("reading").read::<Wrong>().map(drop));
    assert!(wrong.contains("it has no member \"gust\", only time, wind, note, sky"), "{wrong}");
    let mut few = [0f32; 3];
    assert_eq!(
        why(dataset("temperature").read_into(&mut few)),
        "12 values do not fit a place for 3; both must be equal in number"
    );
    assert!(why(dataset("temperature").slice(s![0, 0, 0]).map(drop)).contains("it has 3 dimensions, the dataset 2"));
    assert!(why(dataset("temperature").slice(s![2..5]).map(drop)).contains("index 5 is outside of dimension 0"));
    assert!(why(dataset("temperature").slice(s![..;-1]).map(drop)).contains("the step in dimension 0 is not positive"));
    assert_eq!(why(dataset("temperature").attribute("unit").map(drop)), "there is no attribute unit");
}

#[test]
fn attributes_and_paths() {
    let file = weather();
    let temperature = file.dataset("temperature").unwrap();
    assert_eq!(temperature.attribute_names().unwrap(), ["calibrated", "range", "units"]);
    assert!(temperature.attribute("calibrated").unwrap().read_scalar::<bool>().unwrap());
    assert_eq!(file.root().unwrap().attribute("title").unwrap().read_scalar::<String>().unwrap(), "A small example");
    let station = file.group("/station/").unwrap();
    assert_eq!(station.dataset("first").unwrap().read::<String>().unwrap()[2], "Genève");
    assert_eq!(station.get("/height").unwrap().kind(), "dataset");
    assert!(station.group("name").is_err() && station.get("nothing").is_err());
    let made: Vec<_> = station.links_as_made().unwrap().into_iter().map(|link| link.name).collect();
    assert_eq!(made, [&b"name"[..], b"code", b"active", b"sky", b"visits", b"first"]);
}
