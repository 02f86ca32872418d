//! Enums and the groups that are read from their sources.

use crate::case::{Case, case_files};
use protolog_testkit::{compile_java, expect_file, run_java, temp_dir};
use protologtool::diagnostic::{Style, render};
use protologtool::groups::Groups;
use protologtool::lang::java::groups::from_java_source;
use protologtool::lang::java::place;
use std::fmt::Write;
use std::path::PathBuf;

fn read(case: &Case) -> Result<Groups, String> {
    let source = case.source();
    from_java_source(&source, &class(case)).map_err(|diagnostics| {
        diagnostics.iter().map(|diagnostic| render(diagnostic, &source, Style::default())).collect()
    })
}

/// The name of the enum: the case's class, or `Groups` within it.
fn class(case: &Case) -> String {
    let nested = if case.body.contains("enum Groups") { "$Groups" } else { "" };
    format!("{}{nested}", case.class_name())
}

fn listing(groups: &Groups) -> String {
    groups.list().iter().fold(String::new(), |mut text, group| {
        let _ = writeln!(
            text,
            "{} enabled={} text={} tag={:?} id={}",
            group.full_name, group.enabled, group.log_to_text, group.tag, group.id
        );
        text
    })
}

#[test]
fn groups_of_enums() {
    for file in case_files("groups") {
        let text =
            file.with(|case| read(case).map_or_else(|errors| errors, |groups| listing(&groups)));
        expect_file(&file.path, &text);
    }
}

/// The enums that can be read mean the same to javac and the virtual machine.
#[test]
fn java_says_the_same() {
    let directory = temp_dir();
    let (mut sources, mut classes, mut expected) = (Vec::new(), Vec::new(), String::new());
    for case in case_files("groups").into_iter().flat_map(|file| file.cases) {
        // Objects in fields are compared with what a jar has of them, in `tests/jar`.
        let Some(groups) = read(&case).ok().filter(|_| case.body.contains("enum ")) else {
            continue;
        };
        let path = directory.path().join(place(case.source().path(), case.source().bytes()));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, case.unit()).unwrap();
        sources.push(path);
        classes.push(class(&case));
        for group in groups.list() {
            let (enabled, text) = (group.enabled, group.log_to_text);
            let _ = writeln!(expected, "{} {enabled} {text} {}", group.full_name, group.tag);
        }
    }
    assert!(classes.len() > 5);
    let main = directory.path().join("PrintGroups.java");
    std::fs::write(&main, PRINT_GROUPS).unwrap();
    sources.push(main);
    for interface in ["ProtoLogGroup", "IProtoLogGroup"] {
        let path = format!("runtime/dev/protolog/{interface}.java");
        sources.push(crate::case::here().join(path));
    }
    let out: PathBuf = directory.path().join("classes");
    let Some(compiled) = compile_java(&out, &sources, &[]) else { return };
    assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
    let args: Vec<&str> = classes.iter().map(String::as_str).collect();
    let Some(printed) = run_java(&[out], "PrintGroups", &args) else { return };
    assert_eq!(printed.stdout, expected, "{}", printed.stderr);
}

const PRINT_GROUPS: &str = r#"
import dev.protolog.ProtoLogGroup;

class PrintGroups {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            for (Object constant : Class.forName(name).getEnumConstants()) {
                ProtoLogGroup group = (ProtoLogGroup) constant;
                System.out.println(((Enum<?>) constant).getDeclaringClass().getCanonicalName() + "." + group.name()
                        + " " + group.isEnabled() + " " + group.isLogToText() + " " + group.getTag());
            }
        }
    }
}
"#;
