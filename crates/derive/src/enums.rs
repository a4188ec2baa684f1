//! Enums: one variant for each name of an enumeration.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Result, Variant, spanned::Spanned};

use crate::attributes::{Options, unique};

pub(crate) fn write(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    Options::of(&input.attrs)?.only("an enum", false, false, false)?;
    let name = |variant: &Variant| {
        let own = Options::of(&variant.attrs)?;
        own.only("a variant", true, false, false)?;
        match &variant.fields {
            Fields::Unit => Ok(own.name(&variant.ident)),
            fields => Err(Error::new(fields.span(), "a value of an enumeration is a name and a number, no more")),
        }
    };
    let names = data.variants.iter().map(name).collect::<Result<Vec<String>>>()?;
    if names.is_empty() {
        return Err(Error::new(input.ident.span(), "an enum without variants has no values"));
    }
    unique(data.variants.iter().map(|variant| &variant.ident).zip(names.iter().map(String::as_str)))?;
    let (impls, types, wheres) = input.generics.split_for_impl();
    let ident = &input.ident;
    let variants = data.variants.iter().map(|variant| &variant.ident);
    let (last, others) = match variants.collect::<Vec<_>>().split_last() {
        Some((last, others)) => (*last, others.to_vec()),
        None => return Ok(TokenStream::new()),
    };
    let numbers = 0..others.len();
    let (each, places) = (data.variants.iter().map(|variant| &variant.ident).collect::<Vec<_>>(), 0..names.len());
    Ok(quote! {
        #[automatically_derived]
        impl #impls ::hyperslab::Storable for #ident #types #wheres {
            type Encoder = ::hyperslab::derived::StoredVariants;

            fn datatype() -> ::hyperslab::Result<::hyperslab::dtype::Datatype> {
                ::hyperslab::derived::StoredVariants::datatype(&[#(#names),*], &[#(Self::#each as i128),*])
            }

            fn storing(
                stored: &::hyperslab::dtype::Datatype,
            ) -> ::hyperslab::Result<::hyperslab::Storing<Self::Encoder>> {
                ::hyperslab::derived::StoredVariants::storing::<Self>(stored, &[#(#names),*])
            }

            fn encode(
                &self,
                encoder: &Self::Encoder,
                bytes: &mut [u8],
                _: &mut dyn ::hyperslab::dtype::Target,
            ) -> ::hyperslab::Result<()> {
                encoder.encode(match self { #(Self::#each => #places,)* }, bytes)
            }
        }

        #[automatically_derived]
        impl #impls ::hyperslab::Element for #ident #types #wheres {
            type Decoder = ::hyperslab::derived::Variants;

            fn recipe(
                stored: &::hyperslab::dtype::Datatype,
            ) -> ::hyperslab::Result<::hyperslab::Recipe<Self::Decoder>> {
                ::hyperslab::derived::Variants::recipe::<Self>(stored, &[#(#names),*])
            }

            fn decode(
                decoder: &Self::Decoder,
                bytes: &[u8],
                _: &::hyperslab::Sequences<'_>,
            ) -> ::hyperslab::Result<Self> {
                ::std::result::Result::Ok(match decoder.find(bytes)? {
                    #(#numbers => Self::#others,)*
                    _ => Self::#last,
                })
            }
        }
    })
}
