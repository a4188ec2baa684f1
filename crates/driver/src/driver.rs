//! The trait that every storage implements.
//!
//! Lives here: [`Driver`] and how references and boxes of drivers are drivers too. Does not live here: the lowering that its
//! defaults call (that is `lower`). Called by `file`, `meta` and `chunk`, and by drivers that stand on others.

use std::any::Any;
use std::sync::Arc;

use crate::{
    Capabilities, CtlFlags, CtlOp, CtlReply, ReadPart, Result, SelectionPair, Transfer, WritePart, ctl, lower,
};

/// Storage as an extensible array of bytes.
///
/// Five methods must be there; each other has a default that lowers a request to a simpler one, so a driver implements the
/// lowest level it must and the highest it can use. All levels give the same bytes.
///
/// - A read beyond the end is an error that says how much there is; a write beyond it extends the storage, and a gap reads as
///   zeros. A request for no bytes succeeds anywhere.
/// - Parts of one read may run in any order and at once. Parts of one write that overlap take effect in list order.
/// - Requests from several threads may run at once; two that overlap are ordered only if the caller orders them.
/// - A call that makes the storage longer may run beside requests that end before the new end.
/// - After a failed read its buffers hold anything. After a failed write the bytes of its own ranges may be old or new;
///   no other byte has changed.
///
/// ```
/// use std::sync::Mutex;
/// use hyperslab_driver::{Driver, Error, Operation, ReadPart, Result, Transfer, Why, WritePart};
///
/// /// The least a driver can be.
/// struct Plain(Mutex<Vec<u8>>);
///
/// impl Driver for Plain {
///     fn read_at(&self, addr: u64, buf: &mut [u8], _: &Transfer) -> Result<()> {
///         let bytes = self.0.lock().unwrap();
///         let at = addr as usize;
///         let there = bytes.get(at..at + buf.len()).ok_or_else(|| {
///             Error::new("plain", Operation::Read, addr, buf.len() as u64, Why::PastEnd { end: bytes.len() as u64 })
///         })?;
///         buf.copy_from_slice(there);
///         Ok(())
///     }
///     fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
///         let (mut bytes, end) = (self.0.lock().unwrap(), addr as usize + buf.len());
///         if bytes.len() < end {
///             bytes.resize(end, 0);
///         }
///         bytes[addr as usize..end].copy_from_slice(buf);
///         Ok(())
///     }
///     fn len(&self, _: &Transfer) -> Result<u64> {
///         Ok(self.0.lock().unwrap().len() as u64)
///     }
///     fn set_len(&self, len: u64, _: &Transfer) -> Result<()> {
///         Ok(self.0.lock().unwrap().resize(len as usize, 0))
///     }
///     fn sync(&self, _: &Transfer) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// let plain = Plain(Mutex::default());
/// plain.write_vector(&[WritePart::new(0, b"ab"), WritePart::new(4, b"ef")], &Transfer::default())?;
/// let mut all = [1; 6];
/// plain.read_vector(&mut [ReadPart::new(0, &mut all)], &Transfer::default())?;
/// assert_eq!(&all, b"ab\0\0ef");
/// # Ok::<(), Error>(())
/// ```
pub trait Driver: Send + Sync {
    /// Fills `buf` from `addr` on.
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()>;

    /// Stores `buf` from `addr` on.
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()>;

    /// How many bytes there are. Where [kinds are apart](Capabilities::KINDS_APART), the address behind the last byte of the kind of the transfer.
    fn len(&self, transfer: &Transfer) -> Result<u64>;

    /// Cuts the storage, or extends it with zeros; where [kinds are apart](Capabilities::KINDS_APART), that of the kind of the transfer alone.
    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()>;

    /// Returns when everything written is durable: a power failure loses none of it. A new file has its name durably, too.
    fn sync(&self, transfer: &Transfer) -> Result<()>;

    /// Returns when everything written has left this process: if it is killed, nothing of that is lost. Storage that keeps nothing back
    /// has nothing to do; a driver that passes requests on passes this on, too.
    fn flush(&self, _: &Transfer) -> Result<()> {
        Ok(())
    }

    /// How errors call this storage: its path, or what it is if it has none.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// What it does by itself.
    fn capabilities(&self) -> Capabilities {
        Capabilities::WRITE
    }

    /// The driver that every request is passed on to, if there is one; a driver without is terminal.
    fn below(&self) -> Option<&dyn Driver> {
        None
    }

    /// Fills the buffer of each part.
    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        lower::read_vector(self, parts, transfer)
    }

    /// Stores the buffer of each part.
    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        lower::write_vector(self, parts, transfer)
    }

    /// Reads the selected elements of each pair. `bufs` has one entry per pair, or one for all.
    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        lower::read_selection(self, pairs, bufs, transfer)
    }

    /// Writes the selected elements of each pair. `bufs` has one entry per pair, or one for all.
    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        lower::write_selection(self, pairs, bufs, transfer)
    }

    /// Does a control operation; an unknown one goes by the document's rules, see [`CtlFlags`].
    fn ctl(&self, op: CtlOp, flags: CtlFlags, input: Option<&dyn Any>) -> Result<CtlReply> {
        ctl::unknown(self, op, flags, input)
    }
}

/// A pointer to a driver is that driver.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<D: Driver + ?Sized> Driver for $pointer {
            fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
                (**self).read_at(addr, buf, transfer)
            }
            fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
                (**self).write_at(addr, buf, transfer)
            }
            fn len(&self, transfer: &Transfer) -> Result<u64> {
                (**self).len(transfer)
            }
            fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
                (**self).set_len(len, transfer)
            }
            fn sync(&self, transfer: &Transfer) -> Result<()> {
                (**self).sync(transfer)
            }
            fn flush(&self, transfer: &Transfer) -> Result<()> {
                (**self).flush(transfer)
            }
            fn name(&self) -> &str {
                (**self).name()
            }
            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }
            fn below(&self) -> Option<&dyn Driver> {
                (**self).below()
            }
            fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
                (**self).read_vector(parts, transfer)
            }
            fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
                (**self).write_vector(parts, transfer)
            }
            fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
                (**self).read_selection(pairs, bufs, transfer)
            }
            fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
                (**self).write_selection(pairs, bufs, transfer)
            }
            fn ctl(&self, op: CtlOp, flags: CtlFlags, input: Option<&dyn Any>) -> Result<CtlReply> {
                (**self).ctl(op, flags, input)
            }
        }
    )*};
}

forward!(&D, Box<D>, Arc<D>);
