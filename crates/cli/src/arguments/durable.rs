//! What outlives a power failure, for all jobs that change files in place.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hyperslab::Durability;

#[derive(Args)]
pub(crate) struct Durable {
    /// What outlives a power failure: what the system wrote by itself, what was written when the command ends, or at any moment what was
    /// flushed last
    #[arg(long, value_name = "HOW", default_value = "none", value_parser = durability())]
    pub(crate) durability: Durability,
}

fn durability() -> impl TypedValueParser<Value = Durability> {
    PossibleValuesParser::new(Durability::ALL.map(Durability::name)).try_map(|name| name.parse())
}
