//! A rule for Soong, run as Soong runs it: from the root of all sources, with paths in place of what the rule names.

use protolog_testkit::run;
use std::fs;
use std::process::Command;

/// The directory of the module in the tree.
const MODULE: &str = "vendor/app";
/// The directory of the rule's outputs.
const OUTPUTS: &str = "out/gen";

/// Runs a `genrule` with sources in Rust; each of its outputs must be there, and the first without texts.
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
    command = command.replace("$(location protologtool)", tool).replace("$(genDir)", OUTPUTS);
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

/// The strings of a property, over several lines if they are added up.
fn strings_of(rule: &str, property: &str) -> Vec<String> {
    let (_, value) = rule.split_once(&format!("    {property}: ")).expect("a property");
    let end = value.find(",\n    ").or_else(|| value.find(",\n}")).unwrap_or(value.len());
    value[..end].split('"').skip(1).step_by(2).map(str::to_owned).collect()
}
