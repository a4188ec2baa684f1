//! What a driver can do by itself.
//!
//! Lives here: the flags. Does not live here: what happens without one (that is `lower`). Asked by the engine when it
//! chooses the form of a request; never needed for correctness, since every driver answers every form.

bitflags::bitflags! {
    /// What a driver does by itself, as opposed to through the lowering of the trait's defaults.
    ///
    /// ```
    /// use hyperslab_driver::{Capabilities, Driver, Memory};
    /// assert!(Memory::new().capabilities().contains(Capabilities::WRITE | Capabilities::VECTOR));
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Capabilities: u32 {
        /// Accepts writes.
        const WRITE = 1;
        /// Gains from seeing a whole vector.
        const VECTOR = 1 << 1;
        /// Gains from seeing whole selections.
        const SELECTION = 1 << 2;
        /// Gains from several requests at once.
        const CONCURRENT = 1 << 3;
        /// Can take part in collective requests.
        const COLLECTIVE = 1 << 4;
        /// Accepts buffers in device memory.
        const DEVICE_MEMORY = 1 << 5;
        /// Has a range of addresses, and an end, for some kinds of content: [`Driver::len`](crate::Driver::len) and
        /// [`Driver::set_len`](crate::Driver::set_len) look at the kind of the transfer.
        const KINDS_APART = 1 << 6;
        /// A small request costs little more than the bytes that it moves: memory, or a file that the operating system caches.
        const NEAR = 1 << 7;
        /// Spreads what it is given over a row of members of one size.
        const IN_A_ROW = 1 << 8;
    }
}
