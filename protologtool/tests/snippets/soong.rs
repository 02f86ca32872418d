//! A rule for Soong, run as Soong runs it: from the root of all sources, with paths in place of
//! what the rule names.

use protolog_testkit::{run, workspace_root};
use std::fs;
use std::process::Command;

/// The directory of the module in the tree.
const MODULE: &str = "vendor/app";
/// The directory of the rule's outputs.
const OUTPUTS: &str = "out/gen";

/// Runs a `genrule` with sources in Rust; each of its outputs must be there, and the first without
/// texts.
pub(crate) fn run_rule(rule: &str) {
    let dir = protolog_testkit::temp_dir();
    let sources = strings_of(rule, "srcs");
    for (index, source) in sources.iter().enumerate() {
        let path = dir.path().join(MODULE).join(source);
        fs::create_dir_all(path.parent().expect("a directory")).expect("make a directory");
        let main = "mod net;\n#[derive(protolog_rt::ProtoLogGroup)]\nenum AppLog { Net }\n\
            fn main() { protolog_rt::d!(AppLog::Net, \"a text\"); }\n";
        fs::write(path, if index == 0 { main } else { "" }).expect("write a source");
    }
    fs::create_dir_all(dir.path().join(OUTPUTS)).expect("make a directory");
    let paths: Vec<String> = sources.iter().map(|source| format!("{MODULE}/{source}")).collect();
    let mut command = strings_of(rule, "cmd").concat();
    for (source, path) in sources.iter().zip(&paths) {
        command = command.replace(&format!("$(location {source})"), path);
    }
    let tool = env!("CARGO_BIN_EXE_protologtool");
    for name in ["protologtool", "protolog-tool"] {
        command = command.replace(&format!("$(location {name})"), tool);
    }
    command = command.replace("$(genDir)", OUTPUTS);
    command = command.replace("$(in)", &paths.join(" ")).replace("$$", "$");
    run(Command::new("sh").args(["-c", &command]).current_dir(dir.path()));
    for output in strings_of(rule, "out") {
        let path = dir.path().join(OUTPUTS).join(&output);
        let bytes =
            fs::read(&path).unwrap_or_else(|error| panic!("`{output}`: {error}\n{command}"));
        let has_text = bytes.windows(6).any(|part| part == b"a text");
        assert_eq!(has_text, output == "app.pb", "{output}");
    }
}

/// The fragment of `init` for Android's build: pasted into a project in Java, its rules run; what
/// they write is compiled, and has the ids of the dictionary.
#[test]
fn the_fragment_of_init_builds() {
    let dir = protolog_testkit::temp_dir();
    let tool = env!("CARGO_BIN_EXE_protologtool");
    let sources = ["src/com/foo/AppLog.java", "src/com/foo/Net.java"];
    for (source, text) in sources.iter().zip([crate::java::GROUPS, crate::java::CALLS]) {
        let path = dir.path().join(source);
        fs::create_dir_all(path.parent().expect("a directory")).expect("make a directory");
        fs::write(path, text).expect("write a source");
    }
    let mut init = Command::new(tool);
    let fragment = run(init.args(["init", "--build", "soong"]).current_dir(dir.path())).stdout;
    // A module's sources are those that its pattern takes, here all.
    assert_eq!(strings_of(&fragment, "srcs"), ["src/**/*.java"]);
    for rule in fragment.split("genrule {").skip(1) {
        let mut command = strings_of(rule, "cmd").concat();
        for (name, value) in [
            ("$(location protolog-tool)", tool),
            ("$(location :app-protolog-groups)", sources[0]),
            ("$(locations :app-sources)", &sources.join(" ")),
            ("$(out)", &strings_of(rule, "out").concat()),
        ] {
            command = command.replace(name, value);
        }
        assert!(!command.contains('$'), "{command}");
        run(Command::new("sh").args(["-c", &command]).current_dir(dir.path()));
    }
    run(Command::new("unzip")
        .args(["-q", "app.protolog.srcjar", "-d", "out"])
        .current_dir(dir.path()));
    let written =
        fs::read_to_string(dir.path().join("out/src/com/foo/Net.java")).expect("a source");
    let mut compile = Command::new("sh");
    let line = "javac -d classes -proc:none $(find \"$0/java/src\" out -name '*.java')";
    run(compile.args(["-c", line]).arg(workspace_root()).current_dir(dir.path()));
    let dictionary = fs::read(dir.path().join("app.protolog.pb")).expect("a dictionary");
    let dictionary = viewer_config::Dictionary::read(&dictionary).expect("a dictionary").dictionary;
    let ids: Vec<String> =
        dictionary.messages().iter().map(|it| format!(" {}L,", it.id.cast_signed())).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| written.contains(id)), "{ids:?}\n{written}");
}

/// The fragment of `init` for a crate in Android's build: its rule runs as that of the README does.
#[test]
fn the_fragment_of_init_for_rust_builds() {
    let dir = protolog_testkit::temp_dir();
    fs::create_dir_all(dir.path().join("src")).expect("make a directory");
    fs::write(dir.path().join("src/main.rs"), "use protolog_rt::d;\n").expect("write a source");
    fs::write(dir.path().join("src/net.rs"), "").expect("write a source");
    let mut init = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let fragment = run(init.args(["init", "--build", "soong"]).current_dir(dir.path())).stdout;
    assert_eq!(strings_of(&fragment, "srcs"), ["src/main.rs", "src/net.rs"]);
    run_rule(&fragment);
}

/// The strings of a property, over several lines if they are added up.
fn strings_of(rule: &str, property: &str) -> Vec<String> {
    let (_, value) = rule.split_once(&format!("    {property}: ")).expect("a property");
    let ends = [",\n    ", ",\n}"].map(|end| value.find(end).unwrap_or(value.len()));
    let end = ends[0].min(ends[1]);
    value[..end].split('"').skip(1).step_by(2).map(str::to_owned).collect()
}
