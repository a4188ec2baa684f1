use hyperslab_derive::Element;

#[derive(Element)]
enum Filled {
    Some(f32),
    None,
}

#[derive(Element)]
enum Never {}

#[derive(Element)]
enum Defaulted {
    #[hyperslab(default)]
    One,
}

fn main() {}
