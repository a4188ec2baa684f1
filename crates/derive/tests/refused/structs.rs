use hyperslab_derive::Element;

#[derive(Element)]
struct Tuple(f32, f32);

#[derive(Element)]
struct Empty {}

#[derive(Element)]
#[hyperslab(pod)]
struct Placeless {
    value: f32,
}

#[derive(Element)]
struct Unknown {
    #[hyperslab(renamed = "x")]
    value: f32,
}

#[derive(Element)]
struct Twice {
    a: f32,
    #[hyperslab(rename = "a")]
    b: f32,
}

#[derive(Element)]
union Either {
    a: f32,
    b: u32,
}

fn main() {}
