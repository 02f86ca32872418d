//! Any bytes as a Kotlin source, taken through the tool: no panic, no endless loop; what is
//! rewritten keeps its lines and all bytes outside of calls, and a second run changes nothing.
//!
//! The first byte says what the others are: `b` the body of a function, `m` the members of a class,
//! with the imports that make calls calls; anything else a file.
#![no_main]

#[path = "../../protologtool/tests/kotlin/holds.rs"]
mod holds;

use libfuzzer_sys::fuzz_target;
use protologtool::lang::java::groups::from_java_source;
use protologtool::ids::MessageIds;
use protologtool::lang::java::Java;
use protologtool::lang::jvm::dialect::{Android, Dialect};
use protologtool::pipeline::Settings;
use protologtool::source::Source;
use std::sync::LazyLock;

const GROUPS: &str = include_str!("../../protologtool/tests/java/runtime/demo/AppLog.java");
const HEAD: &[u8] = b"package demo; import demo.AppLog.*; import dev.protolog.ProtoLog.d\nimport dev.protolog.ProtoLog\nclass A { ";

static DIALECTS: LazyLock<[Settings; 3]> = LazyLock::new(|| {
    let source = Source::new("AppLog.java", GROUPS.as_bytes().to_vec());
    let groups = from_java_source(&source, "demo.AppLog").expect("the groups are good");
    let forms = [
        Dialect::Protolog,
        Dialect::Android(Android::ANDROID_17),
        Dialect::Android(Android::ANDROID_15),
    ];
    forms.map(|dialect| {
        let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
        let (java, groups) = (java.with_dialect(dialect), groups.clone());
        Settings { java, rust: None, groups, ids: MessageIds::Xxh3 }
    })
});

fuzz_target!(|data: &[u8]| {
    let source = match data.split_first() {
        Some((b'b', body)) => [HEAD, b"fun f() {", body, b"} }"].concat(),
        Some((b'm', members)) => [HEAD, members, b"}"].concat(),
        Some((_, file)) => file.to_vec(),
        None => return,
    };
    for settings in &*DIALECTS {
        holds::check(settings, "A.kt", &source);
    }
});
