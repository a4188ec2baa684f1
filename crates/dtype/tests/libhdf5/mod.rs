//! libhdf5 as an oracle: a list of requests, a Python process, a list of answers.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use hyperslab_dtype::{Class, Datatype, Version};

/// The answer to each request.
pub fn ask(requests: &[String]) -> Option<Vec<String>> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let python = hyperslab_workshop::python()?;
    let name = format!("hyperslab-dtype-{}-{}.txt", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, requests.join("\n")).unwrap();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/libhdf5/oracle.py");
    let output = Command::new(python).arg(script).arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let answers: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect();
    let stuck = requests.get(answers.len()).map_or("", String::as_str);
    assert!(output.status.success(), "{}\n{}\nat {stuck}", output.status, String::from_utf8_lossy(&output.stderr));
    Some(answers)
}

pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

pub fn message(datatype: &Datatype) -> String {
    hex(datatype.encode(Version::V1))
}

/// How to make a datatype with libhdf5's own functions.
pub fn recipe(datatype: &Datatype) -> String {
    match datatype.class() {
        Class::Compound(compound) => {
            let mut text = format!("compound {} {}", datatype.size(), compound.members().len());
            for member in compound.members() {
                text += &format!(" {} {} {}", hex(member.name.as_bytes()), member.offset, recipe(&member.datatype));
            }
            text
        }
        Class::Array(array) => {
            let dims: Vec<String> = array.dims().iter().map(u32::to_string).collect();
            format!("array {} {} {}", dims.len(), dims.join(" "), recipe(array.base()))
        }
        Class::Enum(names) => {
            let mut text = format!("enum {} {}", names.members().len(), recipe(names.base()));
            for (name, value) in names.members() {
                text += &format!(" {} {}", hex(name.as_bytes()), hex(value));
            }
            text
        }
        Class::Vlen(vlen) => match vlen.text {
            Some((padding, charset)) => format!("text {} {}", padding as u8, charset as u8),
            None => format!("vlen {}", recipe(&vlen.base)),
        },
        Class::Complex(base) => format!("complex {}", recipe(base)),
        _ => format!("leaf {}", message(datatype)),
    }
}
