//! Generated code: it is what it was, it compiles, and what it reads and writes is what prost and
//! Python's protobuf do.

mod build;
mod hostile;
mod instructions;
mod numbers;
mod plugin;
mod random;
mod round_trip;
mod schemas;

use protolog_testkit::{expect_file, temp_dir};
use protozero_build::{Config, Error};
use std::fs;
use std::path::PathBuf;

/// A file of the test data.
fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The code for a file of the test data.
fn code_of(name: &str, configure: impl FnOnce(Config) -> Config) -> Result<String, Error> {
    let dir = temp_dir();
    let path = dir.path().join("code.rs");
    configure(Config::new().include(data("")).file(data(name))).compile_to(&path)?;
    Ok(fs::read_to_string(path).expect("read the code"))
}

#[test]
fn the_code_is_what_it_was() {
    expect_file(&data("car.txt"), &code_of("car.proto", |config| config).expect("code"));
}

/// Where names would be the same, or a method's own, the second has a mark.
#[test]
fn names_are_told_apart() {
    let code = code_of("forms2.proto", |config| config).expect("code");
    for name in ["foo_bar", "foo_bar_", "new_", "root_", "untyped_", "r#type", "self_", "added"] {
        assert_eq!(code.matches(&format!("pub fn {name}(&mut self")).count(), 1, "{name}");
    }
    for method in ["root_encoded_", "text_pieces", "text_pieces_", "added_pieces_"] {
        assert!(code.contains(&format!("pub fn {method}")), "{method}");
    }
    assert!(code.contains("Other_(i32)") && code.contains("pub const GRUEN: Self = Self(1)"));
}

#[test]
fn a_group_is_refused_or_left_out() {
    let error = code_of("group.proto", |config| config).expect_err("a group");
    assert_eq!(error.to_string(), "the field `forms.WithGroup.inner` is a group");
    let code = code_of("group.proto", Config::leave_out_groups).expect("code");
    assert!(code.contains("fn before(") && code.contains("fn after("), "{code}");
    assert!(!code.contains("fn inner(") && !code.contains("fn member("), "{code}");
}

#[test]
fn mistakes_of_a_schema_have_their_place() {
    let dir = temp_dir();
    let path = dir.path().join("wrong.proto");
    fs::write(&path, "syntax = \"proto3\";\nmessage Car {\n  Wheel wheel = 1;\n}\n")
        .expect("write");
    let error =
        Config::new().file(&path).compile_to(dir.path().join("code.rs")).expect_err("wrong");
    let text = error.to_string();
    assert!(text.contains("wrong.proto:3:3") && text.contains("Wheel"), "{text}");
    let error =
        Config::new().file(dir.path().join("none.proto")).compile_to("x").expect_err("none");
    assert!(error.to_string().contains("none.proto"), "{error}");
}

/// `main` of a build script shows its error by `Debug`.
#[test]
fn a_build_script_shows_what_is_wrong_and_what_to_do() {
    let dir = temp_dir();
    let shown = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("write");
        let config = Config::new().include(dir.path()).file(&path);
        format!("{:?}", config.message("garage.Car").compile_to(dir.path().join("code.rs")))
    };
    let lines = [
        shown("wrong.proto", "syntax = \"proto3\";\nmessage Car {\n  Wheel wheel = 1;\n}\n"),
        shown("edition.proto", "edition = \"2023\";\nmessage Car {}\n"),
        shown("other.proto", "syntax = \"proto3\";\npackage garge;\nmessage Car {}\n"),
    ];
    assert_eq!(
        lines,
        [
            "Err(wrong.proto:3:3: name 'Wheel' is not defined\n\
             help: correct the .proto file, or name the directory of what it imports)",
            "Err(edition.proto:1:1: expected 'enum', 'extend', 'import', 'message', 'option', \
             'service', 'package' or ';', but found 'edition'\n\
             help: have protoc parse it: its plugin `protoc-gen-protozero` takes editions)",
            "Err(no file declares the type `garage.Car`\n\
             help: check the full name, or add the file that declares it \
             (`protoc --include_imports`))",
        ]
    );
    let none = Config::new().include(dir.path()).file(dir.path().join("none.proto"));
    let none = none.compile_to(dir.path().join("code.rs")).expect_err("no such file");
    assert!(none.help().starts_with("check that the file exists"), "{none:?}");
}

#[test]
fn only_needed_types_of_imports_are_there() {
    let code = code_of("forms2.proto", |config| config).expect("code");
    assert!(code.contains("pub struct Option<M>") && !code.contains("Unused"), "{code}");
}
