//! Texts that are half typed: every prefix of a source, and with parts taken out. The server
//! answers to each.

use crate::session::{Session, fixtures};
use protolog_testkit::{serde_json, temp_dir};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

const KOTLIN: &str = "package demo\nimport dev.protolog.ProtoLog\nfun f(n: Int) { ProtoLog.d(AppLog.NET, \"n=$n of ${n + 1}\") }\n";

#[test]
fn every_text_is_answered() {
    let directory = temp_dir();
    fixtures(directory.path());
    let root = format!("file://{}", directory.path().display());
    let args = "--loggroups-class demo.AppLog --loggroups-source src/demo/AppLog.java";
    let mut session = Session::start(directory.path(), args);
    let initialize = format!(
        r#"{{"id":0,"method":"initialize","params":{{"capabilities":{{}},"rootUri":"{root}"}}}}"#
    );
    session.send(&initialize);
    session.receive(TIMEOUT).unwrap();
    let mut id = 0;
    for (name, text) in [
        ("demo/Net.java", include_str!("fixtures/Net.java")),
        ("demo/Net.kt", KOTLIN),
        ("lib.rs", include_str!("fixtures/lib.rs")),
    ] {
        let uri = format!("{root}/src/{name}");
        let document = format!(r#""textDocument":{{"uri":"{uri}","version":1}}"#);
        session.send(&format!(
            r#"{{"method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"{uri}","languageId":"","version":0,"text":""}}}}}}"#
        ));
        for cut in (0..text.len()).filter(|at| at % 3 == 0) {
            let without = format!("{}{}", &text[..cut], &text[(cut + 9).min(text.len())..]);
            for damaged in [&text[..cut], &without] {
                id += 1;
                let new = serde_json::to_string(damaged).unwrap();
                session.send(&format!(
                    r#"{{"method":"textDocument/didChange","params":{{{document},"contentChanges":[{{"text":{new}}}]}}}}"#
                ));
                session.send(&format!(
                    r#"{{"id":{id},"method":"textDocument/hover","params":{{{document},"position":{{"line":4,"character":40}}}}}}"#
                ));
                let answer = format!(r#""id":{id},"#);
                while let Some(message) = session.receive(TIMEOUT) {
                    if message.contains(&answer) {
                        assert!(message.contains("\"result\""), "{message}\n{damaged}");
                        break;
                    }
                }
            }
        }
    }
    assert!(id > 300);
    // Cancelled before it is read: either answer is right, and there is one.
    session.send(r#"{"method":"$/cancelRequest","params":{"id":"last"}}"#);
    session.send(r#"{"id":"last","method":"shutdown"}"#);
    let mut said = Vec::new();
    while let Some(message) = session.receive(TIMEOUT) {
        said.push(message);
        if said.last().unwrap().contains("\"id\":\"last\"") {
            break;
        }
    }
    assert!(said.last().unwrap().contains("-32800"), "{said:?}");
    session.send(r#"{"id":"end","method":"shutdown"}"#);
    session.send(r#"{"method":"exit"}"#);
    let (code, rest) = session.finish();
    assert_eq!(code, Some(0));
    assert!(rest.iter().any(|message| message.contains("\"id\":\"end\"")));
}
