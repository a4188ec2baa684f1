//! A line of JSON for each object.

use super::Dumper;
use super::elements::Elements;
use crate::attributes;
use crate::failure::Failure;
use crate::nested::{self, Written};
use crate::text::dims;
use crate::value_json::text;
use hyperslab::{Dataset, Node};
use std::io::{IsTerminal, Write, stdout};

impl Dumper<'_> {
    /// Prints an object; says what could not be read of it.
    pub(super) fn json(&mut self, path: &str, node: &Node) -> Result<Vec<String>, Failure> {
        let mut errors = Vec::new();
        self.out.write_all(b"{\"path\":")?;
        text(self.out, path)?;
        write!(self.out, ",\"kind\":\"{}\"", node.kind())?;
        match node {
            Node::Group(_) => {}
            Node::Datatype(named) => match named.datatype() {
                Ok(datatype) => self.field("type", &datatype.to_string())?,
                Err(why) => errors.push(why.to_string()),
            },
            Node::Dataset(dataset) => self.json_dataset(dataset, &mut errors)?,
        }
        if self.options.attributes {
            let records = attributes::records(node, &self.names, &mut errors);
            self.out.write_all(b",\"attributes\":")?;
            serde_json::to_writer(&mut *self.out, &records).map_err(std::io::Error::from)?;
        }
        if !errors.is_empty() {
            self.field("error", &errors.join("; "))?;
        }
        self.out.write_all(b"}\n")?;
        Ok(errors)
    }

    fn json_dataset(&mut self, dataset: &Dataset, errors: &mut Vec<String>) -> Result<(), Failure> {
        self.field("type", &dataset.datatype().to_string())?;
        self.out.write_all(b",\"shape\":")?;
        serde_json::to_writer(&mut *self.out, &dims(&dataset.extent())).map_err(std::io::Error::from)?;
        if let Some(slice) = &self.options.slice {
            self.field("slice", &slice.to_string())?;
        }
        if let Some(sparse) = self.sparse(dataset) {
            return self.sparse_json(dataset, sparse, errors);
        }
        let part = match self.part(dataset) {
            Ok(part) => part,
            Err(why) => {
                errors.push(why);
                return Ok(());
            }
        };
        self.out.write_all(b",\"values\":")?;
        let mut elements = Elements::new(dataset, &part.slabs, !stdout().is_terminal());
        let most = self.limit();
        let Written { failed, .. } = nested::json(self.out, &part.dims, &mut elements, &self.names, most)?;
        if failed.is_none() && elements.next().is_some() {
            self.out.write_all(b",\"truncated\":true")?;
        }
        errors.extend(failed.map(|why| why.to_string()));
        Ok(())
    }

    fn field(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        write!(self.out, ",\"{key}\":")?;
        Ok(text(self.out, value)?)
    }
}
