//! Structs: one field for each wanted member of a compound.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Error, Fields, Generics, Ident, Path, Result, Type, parse_quote, spanned::Spanned};

use crate::attributes::{Options, unique};

struct Field<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    name: String,
    default: bool,
}

pub(crate) fn write(input: &DeriveInput, fields: &Fields) -> Result<TokenStream> {
    let options = Options::of(&input.attrs)?;
    options.only("a struct", false, false, true)?;
    let Fields::Named(named) = fields else {
        let why = "members of a compound have names, so the fields of the struct must have names as well";
        return Err(Error::new(input.ident.span(), why));
    };
    let fields = named.named.iter().filter_map(|field| Some((field, field.ident.as_ref()?)));
    let fields = fields.map(|(field, ident)| {
        let own = Options::of(&field.attrs)?;
        own.only("a field", true, true, false)?;
        Ok(Field { ident, ty: &field.ty, name: own.name(ident), default: own.default.is_some() })
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    if fields.is_empty() {
        return Err(Error::new(input.ident.span(), "a struct without fields takes nothing of a compound"));
    }
    unique(fields.iter().map(|field| (field.ident, field.name.as_str())))?;
    match options.pod {
        Some(span) => plain(input, &fields, span),
        None => Ok([decoded(input, &fields), encoded(input, &fields)].into_iter().collect()),
    }
}

/// Field by field, of bytes that lie as the file has them or are converted.
fn decoded(input: &DeriveInput, fields: &[Field<'_>]) -> TokenStream {
    let generics = bounded(&input.generics, fields, &parse_quote!(::hyperslab::Element));
    let (impls, types, wheres) = generics.split_for_impl();
    let ident = &input.ident;
    let recipes = fields.iter().map(|Field { ty, name, default, .. }| match default {
        true => quote_spanned!(ty.span()=> fields.field_if_there::<#ty>(#name)?),
        false => quote_spanned!(ty.span()=> fields.field::<#ty>(#name)?),
    });
    let decoders = fields.iter().map(|Field { ty, default, .. }| {
        let field = quote_spanned!(ty.span()=> ::hyperslab::derived::Field<<#ty as ::hyperslab::Element>::Decoder>);
        if *default { quote!(::std::option::Option<#field>) } else { field }
    });
    let values = fields.iter().enumerate().map(|(nth, Field { ident, ty, default, .. })| {
        let nth = syn::Index::from(nth);
        match default {
            true => quote_spanned!(ty.span()=> #ident: match &decoder.#nth {
                ::std::option::Option::Some(field) => field.decode::<#ty>(bytes, sequences)?,
                ::std::option::Option::None => ::std::default::Default::default(),
            }),
            false => quote_spanned!(ty.span()=> #ident: decoder.#nth.decode::<#ty>(bytes, sequences)?),
        }
    });
    let references = fields.iter().enumerate().map(|(nth, Field { ty, default, .. })| {
        let nth = syn::Index::from(nth);
        match default {
            true => quote!(if let ::std::option::Option::Some(field) = &decoder.#nth {
                field.references::<#ty>(bytes, visit);
            }),
            false => quote!(decoder.#nth.references::<#ty>(bytes, visit);),
        }
    });
    quote! {
        #[automatically_derived]
        impl #impls ::hyperslab::Element for #ident #types #wheres {
            type Decoder = (#(#decoders,)*);

            fn recipe(
                stored: &::hyperslab::dtype::Datatype,
            ) -> ::hyperslab::Result<::hyperslab::Recipe<Self::Decoder>> {
                let mut fields = ::hyperslab::derived::Fields::of::<Self>(stored)?;
                let decoder = (#(#recipes,)*);
                fields.recipe(decoder)
            }

            fn decode(
                decoder: &Self::Decoder,
                bytes: &[u8],
                sequences: &::hyperslab::Sequences<'_>,
            ) -> ::hyperslab::Result<Self> {
                ::std::result::Result::Ok(Self { #(#values,)* })
            }

            fn references(decoder: &Self::Decoder, bytes: &[u8], visit: &mut dyn ::std::ops::FnMut(&[u8])) {
                #(#references)*
            }
        }
    }
}

/// Field by field, to bytes that are converted.
fn encoded(input: &DeriveInput, fields: &[Field<'_>]) -> TokenStream {
    let generics = bounded(&input.generics, fields, &parse_quote!(::hyperslab::Storable));
    let (impls, types, wheres) = generics.split_for_impl();
    let (ident, datatype) = (&input.ident, datatype(fields));
    let steps = fields.iter().map(|Field { ty, name, default, .. }| match default {
        true => quote_spanned!(ty.span()=> fields.field_if_there::<#ty>(#name)?),
        false => quote_spanned!(ty.span()=> fields.field::<#ty>(#name)?),
    });
    let encoders = fields.iter().map(|Field { ty, default, .. }| {
        let field =
            quote_spanned!(ty.span()=> ::hyperslab::derived::StoredField<<#ty as ::hyperslab::Storable>::Encoder>);
        if *default { quote!(::std::option::Option<#field>) } else { field }
    });
    let values = fields.iter().enumerate().map(|(nth, Field { ident, ty, default, .. })| {
        let nth = syn::Index::from(nth);
        match default {
            true => quote_spanned!(ty.span()=> if let ::std::option::Option::Some(field) = &encoder.#nth {
                field.encode::<#ty>(&self.#ident, bytes, heap)?;
            }),
            false => quote_spanned!(ty.span()=> encoder.#nth.encode::<#ty>(&self.#ident, bytes, heap)?;),
        }
    });
    quote! {
        #[automatically_derived]
        impl #impls ::hyperslab::Storable for #ident #types #wheres {
            type Encoder = (#(#encoders,)*);

            #datatype

            fn storing(
                stored: &::hyperslab::dtype::Datatype,
            ) -> ::hyperslab::Result<::hyperslab::Storing<Self::Encoder>> {
                let mut fields = ::hyperslab::derived::StoredFields::of::<Self>(stored)?;
                let encoder = (#(#steps,)*);
                fields.storing(encoder)
            }

            fn encode(
                &self,
                encoder: &Self::Encoder,
                bytes: &mut [u8],
                heap: &mut dyn ::hyperslab::dtype::Target,
            ) -> ::hyperslab::Result<()> {
                #(#values)*
                ::std::result::Result::Ok(())
            }
        }
    }
}

/// The compound of a new dataset.
fn datatype(fields: &[Field<'_>]) -> TokenStream {
    let members = fields
        .iter()
        .map(|Field { ty, name, .. }| quote_spanned!(ty.span()=> (#name, <#ty as ::hyperslab::Storable>::datatype()?)));
    quote! {
        fn datatype() -> ::hyperslab::Result<::hyperslab::dtype::Datatype> {
            ::std::result::Result::Ok(::hyperslab::dtype::Datatype::compound([#(#members),*])?)
        }
    }
}

/// Straight to its place: the compound of the conversion is the struct as it lies in memory.
fn plain(input: &DeriveInput, fields: &[Field<'_>], span: Span) -> Result<TokenStream> {
    let is_c = |attribute: &syn::Attribute| {
        attribute.path().is_ident("repr")
            && attribute.parse_args::<Ident>().is_ok_and(|repr| repr == "C" || repr == "transparent")
    };
    if !input.attrs.iter().any(is_c) {
        return Err(Error::new(span, "`pod` needs `#[repr(C)]`: else it is unknown where the fields are"));
    }
    let (impls, types, wheres) = input.generics.split_for_impl();
    let ident = &input.ident;
    let members = fields.iter().map(|Field { ident: field, ty, name, .. }| {
        quote_spanned!(ty.span()=> fields.field_at::<#ty>(#name, ::std::mem::offset_of!(Self, #field))?;)
    });
    let stored_members = fields.iter().map(|Field { ident: field, ty, name, .. }| {
        quote_spanned!(ty.span()=> fields.field_at::<#ty>(#name, ::std::mem::offset_of!(Self, #field))?;)
    });
    let datatype = datatype(fields);
    if let Some(field) = fields.iter().find(|field| field.default) {
        return Err(Error::new(field.ident.span(), "with `pod` every member must be there; `default` cannot be"));
    }
    Ok(quote! {
        #[automatically_derived]
        impl #impls ::hyperslab::Element for #ident #types #wheres {
            type Decoder = ();

            fn recipe(stored: &::hyperslab::dtype::Datatype) -> ::hyperslab::Result<::hyperslab::Recipe<()>> {
                let mut fields = ::hyperslab::derived::Fields::of::<Self>(stored)?;
                #(#members)*
                fields.recipe_in_place::<Self>()
            }

            fn decode(_: &(), bytes: &[u8], _: &::hyperslab::Sequences<'_>) -> ::hyperslab::Result<Self> {
                ::hyperslab::derived::read(bytes)
            }

            fn as_bytes(values: &mut [Self]) -> ::std::option::Option<&mut [u8]> {
                ::std::option::Option::Some(::hyperslab::derived::bytemuck::cast_slice_mut(values))
            }

            fn zeros(count: usize) -> ::std::option::Option<::std::vec::Vec<Self>> {
                ::hyperslab::derived::bytemuck::allocation::try_zeroed_vec(count).ok()
            }
        }

        #[automatically_derived]
        impl #impls ::hyperslab::Storable for #ident #types #wheres {
            type Encoder = ();

            #datatype

            fn storing(stored: &::hyperslab::dtype::Datatype) -> ::hyperslab::Result<::hyperslab::Storing<()>> {
                let mut fields = ::hyperslab::derived::StoredFields::of::<Self>(stored)?;
                #(#stored_members)*
                fields.storing_in_place::<Self>()
            }

            fn encode(
                &self,
                _: &(),
                bytes: &mut [u8],
                _: &mut dyn ::hyperslab::dtype::Target,
            ) -> ::hyperslab::Result<()> {
                ::hyperslab::derived::put(bytes, ::hyperslab::derived::bytemuck::bytes_of(self));
                ::std::result::Result::Ok(())
            }

            fn bytes_of(values: &[Self]) -> ::std::option::Option<&[u8]> {
                ::std::option::Option::Some(::hyperslab::derived::bytemuck::cast_slice(values))
            }
        }
    })
}

/// Type parameters must be elements themselves.
fn bounded(generics: &Generics, fields: &[Field<'_>], bound: &Path) -> Generics {
    let mut generics = generics.clone();
    if generics.type_params().next().is_some() {
        let clause = generics.make_where_clause();
        clause.predicates.push(parse_quote!(Self: ::std::marker::Send + ::std::marker::Sync));
        for ty in fields.iter().map(|field| field.ty) {
            clause.predicates.push(parse_quote!(#ty: #bound));
        }
    }
    generics
}
