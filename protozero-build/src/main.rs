//! `protoc-gen-protozero`: the plugin that `protoc --protozero_out=DIRECTORY` starts. It reads a
//! request from its standard input and writes the response to its standard output.

use std::io::{Read as _, Write as _, stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut request = Vec::new();
    let answered = stdin()
        .read_to_end(&mut request)
        .map_err(|error| format!("can't read the request: {error}"))
        .and_then(|_| {
            protozero_build::plugin::answer(&request).map_err(|error| {
                format!("{error}\nhelp: start it by `protoc --protozero_out=DIRECTORY`")
            })
        })
        .and_then(|response| {
            stdout()
                .write_all(&response)
                .map_err(|error| format!("can't write the response: {error}"))
        });
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            // Nobody is left to be told if that fails.
            let _ = writeln!(stderr(), "protoc-gen-protozero: {text}");
            ExitCode::from(2)
        }
    }
}
