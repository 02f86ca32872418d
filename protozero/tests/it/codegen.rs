//! The optimized code: no panic in the whole crate, and hot setters that consist of a comparison
//! and stores.
//!
//! The crate (without `alloc`: `Vec` has panics of its own) and `tests/codegen/` are compiled to
//! assembly, which takes a second. Nothing is linked or run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Compiles a file below the package's root to assembly.
fn compile(name: &str, source: &str, arguments: &[String]) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("codegen");
    std::fs::create_dir_all(&dir).expect("a directory for the assembly");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=rlib", "--emit=asm,metadata", "--crate-name", name])
        .args([
            "-Copt-level=3",
            "-Ccodegen-units=1",
            "-Coverflow-checks=off",
            "-Cdebug-assertions=off",
        ])
        .args(arguments)
        .arg("--out-dir")
        .arg(&dir)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source))
        .output()
        .expect("rustc can be started, as it has compiled this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(dir.join(name).with_extension("s"))
        .expect("rustc has written the assembly")
}

/// The assembly of the crate, and of functions that use it.
static ASSEMBLY: LazyLock<(String, String)> = LazyLock::new(|| {
    let library = compile("protozero", "src/lib.rs", &[]);
    let metadata = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("codegen/libprotozero.rmeta");
    let user = ["--extern".to_owned(), format!("protozero={}", metadata.display())];
    (library, compile("fast_path", "tests/codegen/fast_path.rs", &user))
});

/// The panicking functions of the standard library that `assembly` calls, by common parts of their
/// names.
fn panics(assembly: &str) -> Vec<&str> {
    let symbols =
        assembly.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.' && c != '$');
    symbols.filter(|symbol| symbol.contains("panic") || symbol.contains("_fail")).collect()
}

/// The instructions of a function.
fn function<'a>(assembly: &'a str, name: &str) -> Vec<&'a str> {
    let mangled = format!("{}{name}", name.len());
    let label = |line: &&str| line.contains(&mangled) && line.ends_with(':');
    let lines = assembly.lines().skip_while(|line| !label(line)).skip(1);
    let body = lines.take_while(|line| !line.starts_with(".Lfunc_end")).map(str::trim);
    let instructions: Vec<_> =
        body.filter(|line| !line.starts_with('.') && !line.ends_with(':')).collect();
    assert!(!instructions.is_empty(), "no function `{name}`");
    instructions
}

#[test]
fn nothing_panics() {
    let control = compile("indexing", "tests/codegen/indexing.rs", &[]);
    assert!(panics(&control).len() >= 2, "panics have other names now:\n{control}");
    let (library, user) = &*ASSEMBLY;
    for (assembly, part) in
        [(library, "DecodeError"), (user, "write_split"), (user, "fast_path4read")]
    {
        assert!(assembly.contains(part), "`{part}` has not been compiled");
        assert_eq!(panics(assembly), [""; 0]);
    }
}

/// Only cold functions are called. The number of instructions is an upper bound with a margin,
/// which includes the cold calls and detects a setter that has become slow.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn setters_are_short() {
    let (_, user) = &*ASSEMBLY;
    let cold = [
        "put_split",
        "put_varint_split",
        "put_long",
        "write_split",
        "open_size_split",
        "close_size_elsewhere",
        "_Unwind_Resume",
    ];
    let check = |name: &str, at_most: usize| {
        let instructions = function(user, name);
        let calls =
            instructions.iter().filter(|line| line.starts_with("call") || line.contains("_ZN"));
        for call in calls {
            assert!(cold.iter().any(|name| call.contains(name)), "`{name}` has `{call}`");
        }
        let count = instructions.len();
        assert!(
            count <= at_most,
            "`{name}` has {count} instructions:\n{}",
            instructions.join("\n")
        );
    };
    check("set_fixed64", 18);
    check("set_bool", 18);
    check("set_uint32", 40);
    check("set_sint64", 60);
    check("set_bytes", 24);
    check("set_nested", 90);
}
