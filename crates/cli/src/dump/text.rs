//! Objects as text: a headline, attributes, values.

use super::elements::Elements;
use super::{Dumper, brief};
use crate::attributes;
use crate::escape::{printable, said};
use crate::failure::Failure;
use crate::nested::{self, Shape};
use crate::style::{DATASET, FAINT, GROUP, SHAPE, TYPE};
use crate::text::{self, shape};
use hyperslab::{Attribute, Dataset, Node};
use std::io::{IsTerminal, Write, stdout};

impl Dumper<'_> {
    /// Prints an object; says what could not be read of it. Groups are worth a headline only for their attributes.
    pub(super) fn text(&mut self, path: &str, node: &Node) -> Result<Vec<String>, Failure> {
        let mut errors = Vec::new();
        let attributes = match self.options.attributes {
            true => attributes::readable(node, &mut errors),
            false => Vec::new(),
        };
        if matches!(node, Node::Group(_)) && attributes.is_empty() {
            return Ok(errors);
        }
        if self.objects > 0 {
            writeln!(self.out)?;
        }
        self.objects += 1;
        match node {
            Node::Group(_) => writeln!(self.out, "{GROUP}{path}{GROUP:#}")?,
            Node::Datatype(named) => {
                let datatype = named.datatype().map(|datatype| datatype.to_string());
                let datatype = datatype.map_err(|why| errors.push(why.to_string())).unwrap_or_default();
                let datatype = printable(datatype.as_bytes());
                writeln!(self.out, "{TYPE}{path}{TYPE:#}  {TYPE}{datatype}{TYPE:#}")?;
            }
            Node::Dataset(dataset) => self.headline(path, dataset)?,
        }
        self.attributes(&attributes, &mut errors)?;
        if let Node::Dataset(dataset) = node {
            self.values(dataset, &mut errors)?;
        }
        Ok(errors)
    }

    fn headline(&mut self, path: &str, dataset: &Dataset) -> Result<(), Failure> {
        let datatype = text::datatype(&dataset.datatype().to_string());
        let size = shape(&dataset.extent());
        write!(self.out, "{DATASET}{path}{DATASET:#}  {TYPE}{datatype}{TYPE:#}  {SHAPE}{size}{SHAPE:#}")?;
        if let Some(slice) = &self.options.slice {
            write!(self.out, " {FAINT}[{}]{FAINT:#}", said(slice))?;
        }
        Ok(writeln!(self.out)?)
    }

    fn attributes(&mut self, attributes: &[Attribute], errors: &mut Vec<String>) -> Result<(), Failure> {
        for attribute in attributes {
            write!(self.out, "  ")?;
            if !attributes::line(self.out, attribute, &self.names, self.options.limit.unwrap_or(u64::MAX))? {
                errors.push(format!("attribute {}", printable(&attribute.name)));
            }
        }
        Ok(())
    }

    fn values(&mut self, dataset: &Dataset, errors: &mut Vec<String>) -> Result<(), Failure> {
        if dataset.extent().is_null() {
            return Ok(());
        }
        if let Some(sparse) = self.sparse(dataset) {
            return self.sparse_text(dataset, sparse, errors);
        }
        let part = match self.part(dataset) {
            Ok(part) => part,
            Err(why) => {
                errors.push(why);
                return Ok(());
            }
        };
        let failed = if self.brief {
            brief::write(self.out, dataset, &part, &self.names)?
        } else {
            let shape = Shape::new(&part.dims, brief::width());
            let elements = Elements::new(dataset, &part.slabs, !stdout().is_terminal());
            let most = self.limit();
            nested::text(self.out, &shape, elements, &self.names, most)?.failed
        };
        errors.extend(failed.map(|why| why.to_string()));
        Ok(writeln!(self.out)?)
    }
}
