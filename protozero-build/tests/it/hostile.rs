//! Descriptors and messages that somebody made to do harm: no code comes of a name, and no stack
//! overflows.

use crate::{build, code_of};
use protolog_testkit::{run, temp_dir};
use protozero::{Heap, Writer};
use protozero_build::{Error, Options, generate};

/// A descriptor set with one file, whose fields `write` sets.
fn set_with(write: impl FnOnce(&mut protozero::Message<'_, Heap>)) -> Vec<u8> {
    let mut writer = Writer::new(Heap::default());
    write(&mut writer.message().nested(1));
    writer.into_vec().expect("it fits")
}

#[test]
fn no_name_becomes_code() {
    let evil = "Foo\npub fn evil() {}\n//";
    let message = |name: &str, field: &str, oneof: &str| {
        set_with(|file| {
            file.string(1, "a.proto");
            let mut message = file.nested(4);
            message.string(1, name);
            message.nested(2).string(1, field).int32(3, 1).int32(5, 5).int32(9, 0);
            message.nested(8).string(1, oneof);
        })
    };
    let made = |set: &[u8]| generate(set, |_| true, &Options::default());
    assert!(made(&message("Foo", "bar", "baz")).is_ok());
    for set in
        [message(evil, "bar", "baz"), message("Foo", evil, "baz"), message("Foo", "bar", evil)]
    {
        let error = made(&set).expect_err("no name");
        assert!(matches!(&error, Error::Name(name) if name.contains("evil")), "{error}");
    }
    let package = set_with(|file| {
        file.string(1, "a.proto").string(2, evil);
    });
    assert!(matches!(made(&package), Err(Error::Name(_))));
    let runtime = Options { runtime: "::a; fn evil() {} //".to_owned(), ..Options::default() };
    let error = generate(&message("Foo", "bar", "baz"), |_| true, &runtime).expect_err("no path");
    assert!(matches!(error, Error::Parameter(_)));
}

#[test]
fn nested_descriptors_end() {
    let nested = |levels: usize| {
        let mut bytes = Vec::new();
        for _ in 0..levels {
            let mut writer = Writer::new(Heap::default());
            let mut message = writer.message();
            message.string(1, "A");
            if !bytes.is_empty() {
                message.bytes(3, &bytes);
            }
            bytes = writer.into_vec().expect("it fits");
        }
        set_with(|file| {
            file.string(1, "a.proto").bytes(4, &bytes);
        })
    };
    assert!(generate(&nested(50), |_| true, &Options::default()).is_ok());
    let error = generate(&nested(10_000), |_| true, &Options::default()).expect_err("too deep");
    assert!(error.to_string().contains("nested too deep"), "{error}");
}

/// A program that writes a message again that has another one within it, and so on.
const DEEP: &str = r#"
mod schema { include!("schema.rs"); }
use protozero::{Heap, Writer};
use schema::forms::old::{All, AllReader};

fn again(levels: usize) -> Result<usize, String> {
    let mut bytes = Vec::new();
    for _ in 0..levels {
        let mut writer = Writer::new(Heap::default());
        All::root(&mut writer).inner_encoded(&bytes);
        bytes = writer.into_vec().unwrap();
    }
    let mut writer = Writer::new(Heap::default());
    let mut to = All::root(&mut writer);
    for field in AllReader::new(&bytes) {
        field.and_then(|field| field.write_to(&mut to)).map_err(|error| error.to_string())?;
    }
    Ok(writer.into_vec().unwrap().len())
}

fn main() {
    assert!(again(100).is_ok());
    let error = again(100_000).unwrap_err();
    assert!(error.starts_with("groups or messages are nested too deep at offset "), "{error}");
    assert!(error.ends_with(", field 17"), "{error}");
}
"#;

#[test]
fn nested_messages_end() {
    let dir = temp_dir();
    let code = code_of("forms2.proto", |config| config).expect("code");
    run(&mut std::process::Command::new(build::program(dir.path(), &code, DEEP)));
}
