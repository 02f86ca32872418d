//! `lsp`: a language server, for editors. Problems as they are typed, the message of a call, its
//! place, the changes that do away with problems, and switches of calls in programs that run.
//!
//! One thread reads messages, so that a request can be cancelled while another is answered; one
//! answers them, in their order, and looks at changed documents when no message waits. A document
//! is looked at by the pipeline of all commands, in the text that the editor has.
//!
//! Invariants: standard output carries messages and nothing else; every request has one response; a
//! text that can't be parsed, or makes the tool panic, ends neither.

mod documents;
mod folders;
mod message;
mod overlay;
mod position;
mod protocol;
mod server;
mod shown;
mod switches;

use crate::args::Sources;
use crate::args::values::dictionary;
use crate::exit::{Exit, Failure};
use crate::output::reason;
use crate::system::System;
use lsp_server::{Message, RequestId};
use server::Server;
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};

/// Arguments of `lsp`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = LSP_HELP, after_help = "See --help for an example.")]
#[command(mut_arg("files", |files| files.required(false)))]
pub(crate) struct LspArgs {
    #[command(flatten)]
    pub(super) sources: Sources,

    /// The dictionary in JSON that is kept beside the sources: the place of a message is there
    #[arg(long, value_name = "FILE.json", value_parser = dictionary)]
    pub(super) viewer_config: Option<PathBuf>,
}

const LSP_HELP: &str = "\
Examples:
  protologtool lsp   # Rust
  protologtool lsp --loggroups-class com.foo.AppLog \\
    --loggroups-source src/com/foo/AppLog.java src

The editor starts it and speaks the Language Server Protocol over standard input and output. Without FILES all \
sources of the editor's folders are looked at. Paths are relative to the first of these. The initialization option `arguments`, a list, takes the place of \
the arguments of the command line.";

/// The requests that the client no longer wants an answer to.
#[derive(Debug, Default)]
struct Cancelled {
    ids: Mutex<HashSet<RequestId>>,
}

impl Cancelled {
    fn add(&self, id: RequestId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    /// Returns whether a request is cancelled, and forgets it.
    fn take(&self, id: &RequestId) -> bool {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

/// Answers messages until the client says that it exits.
pub(crate) fn run(args: &LspArgs, system: &dyn System) -> Result<Exit, Failure> {
    let failed = |error: &io::Error| {
        Failure::new(format!("can't read a message: {}", reason(error)))
            .help("leave this command to an editor; docs/guides/editor.md has its settings")
    };
    let mut input = BufReader::new(system.input().map_err(|error| failed(&error))?);
    let (sender, receiver) = mpsc::channel();
    let cancelled = &Cancelled::default();
    std::thread::scope(|scope| {
        let answers = scope.spawn(move || Server::new(args, system, cancelled).serve(&receiver));
        let read = read_all(&mut input, &sender, cancelled);
        drop(sender);
        let exit = answers.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        read.map_err(|error| failed(&error))?;
        exit.map_err(|error| Failure::new(format!("can't write a message: {}", reason(&error))))
    })
}

fn read_all(
    input: &mut impl BufRead,
    sender: &Sender<Message>,
    cancelled: &Cancelled,
) -> io::Result<()> {
    while let Some(message) = message::read(input)? {
        let mut is_last = false;
        if let Message::Notification(notification) = &message {
            is_last = notification.method == "exit";
            if notification.method == "$/cancelRequest" {
                if let Ok(id) = serde_json::from_value(notification.params["id"].clone()) {
                    cancelled.add(id);
                }
                continue;
            }
        }
        if sender.send(message).is_err() || is_last {
            break;
        }
    }
    Ok(())
}
