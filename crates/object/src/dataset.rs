//! What the header says of a dataset: size, type, layout, filters, fill value.

use hyperslab_base::{AnyError, Classified};
use hyperslab_dtype::Datatype;
use hyperslab_file::{Error, Result};
use hyperslab_format::message::{self, AllocTime, DatasetFilters, FillTime, FillValue, FillWrite, kind};
use hyperslab_space::Extent;

use crate::{Context, Object};

impl Object {
    /// The size of a dataset.
    pub fn extent(&self, context: &Context) -> Result<Extent> {
        let body = self.required(context, kind::DATASPACE, "dataspace")?;
        let extent = Extent::decode(&body.bytes, context.file().widths().lengths);
        extent.map_err(|why| self.undecoded(why))
    }

    /// The type of a dataset's values, or the committed datatype itself; with where it is committed, if it is.
    pub fn datatype(&self, context: &Context) -> Result<(Datatype, Option<u64>)> {
        let body = self.required(context, kind::DATATYPE, "datatype")?;
        let (datatype, _) = Datatype::decode(&body.bytes).map_err(|why| self.undecoded(why))?;
        // Old headers have no checksum; a number that uses so few of its bits is more likely damage.
        if self.header().prefix().version == 1 && datatype.is_suspicious() {
            return Err(self.broken(format!("a datatype of no likely shape ({datatype}): the header may be damaged")));
        }
        Ok((datatype, body.committed))
    }

    /// How values are stored.
    pub fn layout(&self, context: &Context) -> Result<message::DataLayout> {
        let body = self.required(context, kind::DATA_LAYOUT, "data layout")?;
        message::DataLayout::decode(&body.bytes, context.file().widths()).map_err(Error::at(self.address()))
    }

    /// The filters that chunks go through.
    pub fn filters(&self, context: &Context) -> Result<DatasetFilters> {
        for kind in [kind::FILTER_PIPELINE, kind::SECTION_FILTERS] {
            if let Some(body) = self.message(context, kind)? {
                return DatasetFilters::decode(kind, &body.bytes).map_err(Error::at(self.address()));
            }
        }
        Ok(DatasetFilters::default())
    }

    /// What elements are that were never written.
    pub fn fill(&self, context: &Context) -> Result<FillWrite> {
        if let Some(body) = self.message(context, kind::FILL_VALUE)? {
            return FillWrite::decode(&body.bytes).map_err(Error::at(self.address()));
        }
        match self.message(context, kind::OLD_FILL_VALUE)? {
            Some(body) => FillWrite::decode_old(&body.bytes).map_err(Error::at(self.address())),
            None => {
                let alloc = match self.layout(context)?.layout {
                    message::Layout::Compact(_) => AllocTime::Early,
                    message::Layout::Contiguous { .. } => AllocTime::Late,
                    _ => AllocTime::Incremental,
                };
                Ok(FillWrite { value: FillValue::Undefined, alloc, write: FillTime::IfSet })
            }
        }
    }

    /// The external files that hold a contiguous dataset's values.
    pub fn external(&self, context: &Context) -> Result<Option<message::ExternalFiles>> {
        let Some(body) = self.message(context, kind::EXTERNAL_FILES)? else { return Ok(None) };
        let files = message::ExternalFiles::decode(&body.bytes, context.file().widths());
        files.map(Some).map_err(Error::at(self.address()))
    }

    fn required(&self, context: &Context, wanted: u16, what: &str) -> Result<crate::Body<'_>> {
        self.message(context, wanted)?.ok_or_else(|| self.broken(format!("it has no {what} message")))
    }

    /// A message of the header that is not what its layer says of it.
    fn undecoded(&self, why: impl Classified) -> Error {
        let source = AnyError::from(why).of_stored();
        Error::Undecoded { what: "object header", address: self.address(), source, may_be_torn: false }
    }

    fn broken(&self, why: String) -> Error {
        Error::broken("object header", self.address(), why)
    }
}
