//! What is kept of other files that a file leads to: it is let go when the file is closed, and found anew if another program changed it.

mod links;
mod raw_files;
mod refreshed;
mod scene;
mod sources;
