//! Values of any type, for programs that learn the type only when they open the file.

use hyperslab_dtype::{Arena, Datatype};
use hyperslab_session::room;
use hyperslab_space::Space;

use crate::{Attribute, Dataset, File, Result, Values};

impl Dataset {
    /// Reads the selected values, whatever their type.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let dataset = file.dataset("temperature")?;
    /// for value in dataset.read_values(&dataset.space())? {
    ///     println!("{}", value?);
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_values(&self, selection: &Space) -> Result<Values<'_>> {
        let datatype = self.memory_datatype()?;
        let count = selection.npoints();
        let mut bytes = room(count, datatype.size())?;
        let mut arena = Arena::default();
        self.read_converted(selection, &datatype, &Space::simple(&[count])?, &mut bytes, &mut arena)?;
        Ok(Values::converted(self.session(), datatype, bytes, arena))
    }
}

impl Attribute {
    /// Its values, whatever their type.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let range = file.dataset("temperature")?.attribute("range")?;
    /// let shown = range.read_values()?.map(|value| Ok(value?.to_string())).collect::<hyperslab::Result<Vec<_>>>()?;
    /// assert_eq!(shown, ["-40", "60"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_values(&self) -> Result<Values<'_>> {
        let _held = self.held()?;
        Values::stored(self.session(), &self.datatype, &self.data)
    }
}

impl File {
    /// The values in `stored`, which has them as this file does: a fill value, say.
    pub fn stored_values(&self, stored: &Datatype, bytes: &[u8]) -> Result<Values<'_>> {
        Values::stored(&self.session, stored, bytes)
    }
}
