//! Another process that uses files when it is told to.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use hyperslab::OpenOptions;

/// A process that reads commands line by line, and answers each with a line that begins with `= `.
pub(crate) struct Peer {
    pub(crate) child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    /// A process with h5py; none if there is no Python.
    pub(crate) fn h5py() -> Option<Peer> {
        let mut command = Command::new(hyperslab_workshop::python()?);
        command.args(["-W", "ignore", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peer/peer.py")]);
        Some(Peer::start(command))
    }

    pub(crate) fn start(mut command: Command) -> Peer {
        command.env_remove("HDF5_USE_FILE_LOCKING").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Peer { child, to, from }
    }

    /// The answer to a command: "ok", or why not.
    pub(crate) fn ask(&mut self, words: &[&str]) -> String {
        writeln!(self.to, "{}", words.join("\t")).unwrap();
        // What a test harness prints is no answer.
        let lines = (&mut self.from).lines().map(|line| line.unwrap());
        lines.filter_map(|line| line.strip_prefix("= ").map(str::to_owned)).next().expect("the process has ended")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a file is opened in a mode; the names are those of Python.
pub(crate) fn options(mode: &str) -> OpenOptions {
    let options = OpenOptions::new();
    match mode {
        "r" => options,
        "r+" => options.read_write(),
        "a" => options.create(),
        "w" => options.create().truncate(),
        "x" => options.create_new(),
        "swmr" => options.swmr_read(),
        other => panic!("{other}"),
    }
}
