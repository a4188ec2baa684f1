//! What `#[hyperslab(…)]` says.

use proc_macro2::Span;
use syn::{Attribute, Error, Ident, LitStr, Result, ext::IdentExt};

/// The options of a field, a variant or a type.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) rename: Option<LitStr>,
    pub(crate) default: Option<Span>,
    pub(crate) pod: Option<Span>,
}

impl Options {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Options> {
        let mut options = Options::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("hyperslab")) {
            attribute.parse_nested_meta(|option| {
                let span = option.path.get_ident().map_or_else(Span::call_site, Ident::span);
                if option.path.is_ident("rename") {
                    options.rename = Some(option.value()?.parse()?);
                } else if option.path.is_ident("default") {
                    options.default = Some(span);
                } else if option.path.is_ident("pod") {
                    options.pod = Some(span);
                } else {
                    return Err(option.error("known are `rename = \"…\"`, `default` and `pod`"));
                }
                Ok(())
            })?;
        }
        Ok(options)
    }

    /// The name in files.
    pub(crate) fn name(&self, ident: &Ident) -> String {
        self.rename.as_ref().map_or_else(|| ident.unraw().to_string(), LitStr::value)
    }

    /// Refuses options that mean nothing where they stand.
    pub(crate) fn only(&self, what: &str, rename: bool, default: bool, pod: bool) -> Result<()> {
        let refuse = |span: Span, option: &str| Err(Error::new(span, format!("`{option}` means nothing for {what}")));
        match (&self.rename, self.default, self.pod) {
            (Some(name), ..) if !rename => refuse(name.span(), "rename"),
            (_, Some(span), _) if !default => refuse(span, "default"),
            (.., Some(span)) if !pod => refuse(span, "pod"),
            _ => Ok(()),
        }
    }
}

/// Refuses a name in files that two have.
pub(crate) fn unique<'a>(names: impl Iterator<Item = (&'a Ident, &'a str)>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for (ident, name) in names {
        if !seen.insert(name) {
            return Err(Error::new(ident.span(), format!("another one is called {name:?} in files already")));
        }
    }
    Ok(())
}
