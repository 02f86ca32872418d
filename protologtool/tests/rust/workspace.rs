//! Crates of a workspace that name each other's groups, by what their manifests and the workspace's
//! say.

use crate::case::{tool, transform};
use crate::program::{Built, fixture, notes};
use protologtool::cli::Exit;
use protologtool::system::Memory;
use std::collections::BTreeSet;
use std::path::Path;

/// The root is a package, too. `store` is another name of a package whose library has a third;
/// `deep` is known to it alone.
const MANIFESTS: [(&str, &str); 4] = [
    (
        "Cargo.toml",
        r#"
[package]
name = "workspace"
version = "0.0.0"
edition = "2024"

[features]
rewritten = []
written = ["plog/macros"]

[dependencies]
plog.workspace = true
store = { workspace = true }

[target.'cfg(unix)'.dependencies]
net-of-unix.workspace = true

[workspace]
members = ["crates/*"]

[workspace.dependencies]
plog = { path = "PROTOLOG_RT", package = "protolog-rt", default-features = false }
store = { path = "crates/storage", package = "storage" }
deep = { path = "crates/deep" }
net-of-unix = { path = "crates/net", version = "0.0.0" }
"#,
    ),
    (
        "crates/storage/Cargo.toml",
        r#"
[package]
name = "storage"
version = "0.0.0"
edition = "2021"
[lib]
name = "storage_lib"
[dependencies]
plog.workspace = true
deep.workspace = true
"#,
    ),
    (
        "crates/deep/Cargo.toml",
        r#"
[package]
name = "deep"
version = "0.0.0"
edition = "2024"
[dependencies]
log_rt = { path = "PROTOLOG_RT", package = "protolog-rt", default-features = false }
"#,
    ),
    (
        "crates/net/Cargo.toml",
        r#"
[package]
name = "net-of-unix"
version = "0.0.0"
edition = "2024"
[dependencies]
plog.workspace = true
"#,
    ),
];

const SOURCES: [(&str, &str); 3] = [
    (
        "crates/storage/src/lib.rs",
        "use plog::ProtoLogGroup;
         pub use deep::DeepLog;
         #[derive(ProtoLogGroup)]
         #[protolog(crate = ::plog)]
         pub enum StoreLog { Disk, #[cfg(windows)] Drive }
         pub fn store() { plog::i!(StoreLog::Disk, \"stored\"); deep::log(); }",
    ),
    (
        "crates/deep/src/lib.rs",
        "#[derive(log_rt::ProtoLogGroup)]
         #[protolog(crate = ::log_rt)]
         pub enum DeepLog { Deep }
         pub fn log() { log_rt::d!(DeepLog::Deep, \"deep in %s\", module_path!()); }",
    ),
    (
        "crates/net/src/lib.rs",
        "#[derive(plog::ProtoLogGroup)] #[protolog(crate = plog)] pub enum NetLog { Up, Down }",
    ),
];

fn workspace() -> Memory {
    let system = Memory::default();
    for (path, text) in MANIFESTS.iter().chain(&SOURCES) {
        system.add_file(*path, *text);
    }
    let calls = "
        store::store();
        plog::w!(store::StoreLog::Disk, \"a group of another crate\");
        plog::e!(store::DeepLog::Deep, \"passed on by %s\", \"storage\");
        { use net_of_unix::NetLog::{self, *}; plog::v!(NetLog::Up, \"up\"); plog::v!(Down, \"down\"); }
        ";
    let root = fixture("main.rs").replace("/* modules */", "").replace("/* calls */", calls);
    let root = root.replace("protolog_rt", "plog");
    system
        .add_file("src/main.rs", root.replace("pub enum", "#[protolog(crate = ::plog)] pub enum"));
    system.add_file("src/effects.rs", fixture("effects.rs"));
    system
}

#[test]
fn members_name_each_others_groups() {
    let built = Built::new("rust-workspace", &workspace());
    assert_eq!(built.compare_dictionaries(), [""; 0]);
    let groups: BTreeSet<String> =
        notes(&built.written).into_iter().map(|note| note.group).collect();
    assert_eq!(
        Vec::from_iter(groups),
        [
            "deep::DeepLog::Deep",
            "net_of_unix::NetLog::Down",
            "net_of_unix::NetLog::Up",
            "storage_lib::StoreLog::Disk"
        ]
    );
    let written = built.log(&built.written, "json");
    assert_eq!(written.len(), 6, "{written:#?}");
    assert_eq!(written, built.log(&built.rewritten, "json"));
}

#[test]
fn members_that_are_no_inputs_are_read() {
    let (whole, part) = (workspace(), workspace());
    let (exit, errors) = transform(&whole);
    assert_eq!(exit, Exit::Done, "{errors}");
    let flags = ["transform-protolog-calls", "--output-dir", "out", "--viewer-config", "app.pb"];
    let (exit, errors) = tool(&part, &[&flags[..], &["--depfile", "app.d", "src"]].concat());
    assert_eq!(exit, Exit::Done, "{errors}");
    let main = "out/src/main.rs";
    assert_eq!(whole.text(main), part.text(main));
    assert!(!part.files().contains_key(Path::new("out/crates/deep/src/lib.rs")));
    let depends = part.text("app.d").unwrap();
    for path in ["Cargo.toml", "crates/deep/Cargo.toml", "crates/deep/src/lib.rs"] {
        assert!(depends.contains(path), "{depends}");
    }
}
