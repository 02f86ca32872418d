//! Code that can't be evaluated is an error that names the class, the method, the line and the
//! instruction.

use crate::fixture::{compiled, fixtures, jar, table};
use protolog_testkit::{expect_file, java_sources};
use protologtool::groups::from_jar;
use std::fmt::Write;
use zip::CompressionMethod;

#[test]
fn each_error_names_its_place() {
    let Some(compiled) = compiled() else { return };
    let jar = compiled.jar("errors");
    let sources = java_sources(&fixtures().join("errors"));
    let stems = sources.iter().map(|source| source.file_stem().unwrap().to_str().unwrap());
    let mut out = String::new();
    for stem in stems.chain(["Missing", "NoGroups$1"]) {
        writeln!(out, "== {stem}").unwrap();
        match from_jar(&jar, &format!("errors.{stem}")) {
            Ok(groups) => out.push_str(&table(&groups)),
            Err(error) => writeln!(out, "error: {error}\nhelp: {}", error.help()).unwrap(),
        }
    }
    expect_file(&fixtures().join("errors.txt"), &out);
}

#[test]
fn what_is_no_jar_of_class_files_is_said_so() {
    let message = |bytes: &[u8]| {
        let error = from_jar(bytes, "a.B").unwrap_err();
        format!("{error}; {}", error.help())
    };
    assert!(message(b"").starts_with("not a jar: "), "{}", message(b""));
    let dex = jar(&[("classes.dex".to_owned(), b"dex\n035".to_vec())], CompressionMethod::Stored);
    assert_eq!(
        message(&dex),
        "no class `a.B` in the jar; pass the jar of class files that the compiler made, not the one for the device"
    );
    let text =
        jar(&[("a/B.class".to_owned(), b"hello, world".to_vec())], CompressionMethod::Stored);
    assert_eq!(
        message(&text),
        "can't evaluate `a.B`: malformed class file: `a.B`: invalid file prefix at 4 in start; compile the jar again"
    );
}

#[test]
fn a_class_under_the_name_of_another_is_refused() {
    let Some(compiled) = compiled() else { return };
    let mut entries = compiled.entries("17");
    for (name, _) in &mut entries {
        *name = name.replace("Bodies", "Renamed");
    }
    let jar = jar(&entries, CompressionMethod::Stored);
    let error = from_jar(&jar, "shapes.Renamed").unwrap_err().to_string();
    assert!(error.contains("the file of `shapes/Renamed` holds `shapes/Bodies`"), "{error}");
}
