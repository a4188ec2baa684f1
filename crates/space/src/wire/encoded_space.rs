//! An encoded dataspace whose selection is walked where it is.

use std::ops::Range;

use hyperslab_base::{Reader, Width};

use super::{MESSAGE, VERSION, content::Content};
use crate::{Error, Extent, Result, Space};

/// An encoded dataspace, after its head was read: the selected elements can be walked without a [`Space`] of them, which takes several times longer to make.
///
/// ```
/// use hyperslab_space::{EncodedSpace, Form, Space};
/// let mut space = Space::simple(&[4, 10])?;
/// space.select_row_major([3..5, 12..13, 20..40])?;
/// let bytes = space.encode(Form::Smallest)?;
/// let encoded = EncodedSpace::read(&bytes)?;
/// let mut runs = Vec::new();
/// encoded.for_each_run(|run| Ok::<(), hyperslab_space::Error>(runs.push(run)))?;
/// assert_eq!(runs, [3..5, 12..13, 20..40]);
/// assert_eq!(encoded.to_space()?, space);
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncodedSpace<'a> {
    extent: Extent,
    content: Content<'a>,
}

impl<'a> EncodedSpace<'a> {
    /// Reads what [`Space::encode`] or `H5Sencode` wrote. Bytes after the end are left alone.
    pub fn read(bytes: &'a [u8]) -> Result<EncodedSpace<'a>> {
        let mut reader = Reader::new("dataspace", bytes);
        if reader.u8()? != MESSAGE {
            return Err(reader.refuse("this is not an encoded dataspace").into());
        }
        reader.version(VERSION..=VERSION)?;
        let width = reader.u8()?;
        let Some(width) = Width::new(width).filter(|width| [2, 4, 8].contains(&width.bytes())) else {
            return Err(reader.refuse(format!("sizes of {width} bytes")).into());
        };
        let length = reader.u32()? as usize;
        let extent = Extent::decode(reader.take(length)?, width)?;
        let content = Content::read(&mut Reader::new("selection", reader.rest()), extent.rank())?;
        Ok(EncodedSpace { extent, content })
    }

    /// The size of the array.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// The dataspace.
    pub fn to_space(&self) -> Result<Space> {
        self.content.of(self.extent.clone())
    }

    /// Calls `each` for runs of selected elements by their row-major numbers, in the order of the selection: they rise, except those of points, each of
    /// which comes alone. Runs may touch. A selection that reaches over its extent is refused.
    pub fn for_each_run<E: From<Error>>(
        &self,
        mut each: impl FnMut(Range<u64>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let dims = self.extent.dims();
        // Row-major numbers of all elements fit.
        self.extent.elements().ok_or_else(|| Error::Elements(dims.to_vec()))?;
        match &self.content {
            Content::Points(points) => {
                for point in 0..points.entries() {
                    let mut number = 0;
                    for (dim, &size) in dims.iter().enumerate() {
                        let high = points.get(point, dim);
                        if high >= size {
                            return Err(Error::OutOfExtent { dim, high, size }.into());
                        }
                        // A partial sum is above the number of elements only where a later size is 0, which no point passes.
                        number = high.wrapping_add(size.wrapping_mul(number));
                    }
                    each(number..number + 1)?;
                }
                Ok(())
            }
            Content::Blocks(blocks) if let Some(blocks) = blocks.in_order(dims) => blocks.for_each(each),
            _ => {
                let space = self.to_space()?;
                space.check_inside()?;
                space.runs(1)?.try_for_each(|run| each(run.offset..run.end()))
            }
        }
    }
}
