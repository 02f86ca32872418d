//! Generated classes of groups: those whose groups are read from source have the values that the
//! real compilers and the virtual machine give them; all others are refused.
//!
//! A sample is compiled in every test run; with `PROTOLOG_SOAK=1`, as `cargo xtask soak groups`
//! sets it, 500 of each language.

#[path = "../kotlin/compiler.rs"]
#[allow(dead_code, reason = "used by other tests")]
mod compiler;
mod java;
mod kotlin;

mod random;

use protolog_testkit::{compile_java, run_java, temp_dir};
use protologtool::diagnostic::Diagnostic;
use protologtool::groups::Groups;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The number of generated classes.
fn count(sample: usize) -> usize {
    if std::env::var_os("PROTOLOG_SOAK").is_some() { 500 } else { sample }
}

/// The source of a class of groups, by its class.
type Sources = BTreeMap<String, String>;

/// Compares what the tool reads of each class with what the virtual machine says of those in
/// `classes`. Gives the number of classes that were read.
fn compare(
    sources: &Sources,
    classes: &[PathBuf],
    read: impl Fn(&str, &str) -> Result<Groups, Vec<Diagnostic>>,
) -> Option<usize> {
    let directory = temp_dir();
    let main = directory.path().join("PrintAll.java");
    std::fs::write(&main, PRINT_ALL).unwrap();
    let own = directory.path().join("classes");
    let output = compile_java(&own, &[main], classes)?;
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let path: Vec<PathBuf> = [own].into_iter().chain(classes.iter().cloned()).collect();
    let names: Vec<&str> = sources.keys().map(String::as_str).collect();
    let printed = run_java(&path, "PrintAll", &names)?;
    let mut real: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in printed.stdout.lines() {
        let (class, group) = line.split_once('|').unwrap();
        real.entry(class).or_default().push(group);
    }
    let (mut understood, mut wrong) = (0, String::new());
    for (class, source) in sources {
        let Some(real) = real.get(class.as_str()) else { continue };
        if real.iter().any(|group| group.contains("Error") || group.contains("Exception")) {
            continue;
        }
        let Ok(groups) = read(class, source) else { continue };
        understood += 1;
        let of = |group: &protologtool::groups::Group| {
            format!("{}|{}|{}|{}", group.name, group.enabled, group.log_to_text, group.tag)
        };
        let known: Vec<String> = groups.list().iter().map(of).collect();
        if known != *real {
            let _ = writeln!(wrong, "\n{source}\nread:  {known:?}\nreal:  {real:?}");
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong}", printed.stderr);
    Some(understood)
}

/// Writes the sources below `root`, each under the name of its package; gives their paths.
fn write(root: &Path, sources: &Sources, extension: &str) -> Vec<PathBuf> {
    let paths = sources.iter().map(|(class, source)| {
        let path = root.join(class.replace('.', "/")).with_extension(extension);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, source).unwrap();
        path
    });
    paths.collect()
}

const PRINT_ALL: &str = r#"
import java.lang.reflect.*;
import java.util.*;

public class PrintAll {
    public static void main(String[] names) {
        for (String name : names) {
            try {
                Class<?> type = Class.forName(name);
                Object[] constants = type.getEnumConstants();
                if (constants != null) {
                    for (Object it : constants) print(name, ((Enum<?>) it).name(), it);
                    continue;
                }
                for (Field field : type.getDeclaredFields()) {
                    field.setAccessible(true);
                    if (field.getName().length() == 1) print(name, field.getName(), field.get(null));
                }
            } catch (Throwable e) {
                System.out.println(name + "|" + e);
            }
        }
    }

    static void print(String of, String name, Object group) throws Exception {
        Object[] values = new Object[3];
        String[] getters = {"isEnabled", "isLogToLogcat", "getTag"};
        for (int i = 0; i < 3; i++) {
            Method getter = group.getClass().getMethod(getters[i]);
            getter.setAccessible(true);
            values[i] = getter.invoke(group);
        }
        System.out.println(of + "|" + name + "|" + values[0] + "|" + values[1] + "|" + values[2]);
    }
}
"#;
