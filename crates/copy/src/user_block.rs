//! The bytes in front of a file, which no structure of it knows of.

use std::{
    fs,
    io::{self, Seek, SeekFrom, Write},
    path::Path,
};

use hyperslab_driver::Operation;

use hyperslab_session::{Error, Result, Session};

/// What is copied at once.
const PIECE: u64 = 1 << 20;

/// Copies them from an open file, whatever storage it has, to one that is closed and has zeros there.
pub(super) fn copy(from: &Session, to: &Path) -> Result<()> {
    let size = from.file().user_block();
    if size == 0 {
        return Ok(());
    }
    let refused = |why: io::Error| trouble(to, Operation::Write, why);
    let mut target = fs::OpenOptions::new().write(true).open(to).map_err(refused)?;
    let (mut piece, zeros) = (Vec::new(), vec![0; PIECE as usize]);
    let mut start = 0;
    while start < size {
        piece.resize(PIECE.min(size - start) as usize, 0);
        from.file().read_user_block(start, &mut piece)?;
        // Where nothing was written, the new file has a hole too.
        if !zeros.starts_with(&piece) {
            target.seek(SeekFrom::Start(start)).and_then(|_| target.write_all(&piece)).map_err(refused)?;
        }
        start += piece.len() as u64;
    }
    Ok(())
}

/// What the system refused at a path.
pub(super) fn trouble(path: &Path, operation: Operation, why: io::Error) -> Error {
    hyperslab_driver::Error::new(&path.display().to_string(), operation, 0, 0, why).into()
}
