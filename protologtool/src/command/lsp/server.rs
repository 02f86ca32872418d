//! The state of the server, and its answers.

use super::documents::{self, Document};
use super::folders::{EditorFolders, Findings};
use super::overlay::Overlay;
use super::position::{self, Encoding};
use super::protocol as lsp;
use super::{Cancelled, LspArgs, shown, switches};
use crate::diagnostic::{Diagnostic, Fix, Severity};
use crate::exit::Exit;
use crate::lang::Kind;
use crate::pipeline::ShownCall;
use crate::source::Source;
use crate::system::System;
use clap::Parser;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError};

/// The name by which the client knows the source of a problem.
const SOURCE: &str = "protologtool";

/// The files whose changes on disk matter.
const WATCHED: &str = "**/*.{java,kt,rs,jar,json,toml}";

/// The arguments that the client gives.
#[derive(Debug, clap::Parser)]
#[command(name = "protologtool lsp", no_binary_name = true)]
struct ClientArgs {
    #[command(flatten)]
    args: LspArgs,
}

/// The stages of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    New,
    Running,
    ShutDown,
}

/// A session with one client.
pub(super) struct Server<'s> {
    args: LspArgs,
    system: &'s dyn System,
    files: Overlay<'s>,
    cancelled: &'s Cancelled,
    stage: Stage,
    encoding: Encoding,
    can_watch: bool,
    folders: Vec<PathBuf>,
    workspace: EditorFolders,
    /// True if groups and files are to be read anew.
    is_stale: bool,
    documents: BTreeMap<PathBuf, Document>,
    /// The documents that changed since they were looked at.
    changed: BTreeSet<PathBuf>,
    looks: BTreeMap<PathBuf, Findings>,
    /// Files that are not open and have problems that the client shows.
    others: BTreeSet<PathBuf>,
    /// The last texts that were shown and have no place in a source.
    said: Vec<String>,
}

/// The answer to a request: a result, or a code and words.
type Reply = Result<Value, (ErrorCode, String)>;

impl<'s> Server<'s> {
    pub(super) fn new(args: &LspArgs, system: &'s dyn System, cancelled: &'s Cancelled) -> Self {
        Self {
            args: args.clone(),
            system,
            files: Overlay::new(system),
            cancelled,
            stage: Stage::New,
            encoding: Encoding::Utf16,
            can_watch: false,
            folders: Vec::new(),
            workspace: EditorFolders::default(),
            is_stale: false,
            documents: BTreeMap::new(),
            changed: BTreeSet::new(),
            looks: BTreeMap::new(),
            others: BTreeSet::new(),
            said: Vec::new(),
        }
    }

    /// Answers until the client exits. Documents are looked at while no message waits.
    pub(super) fn serve(&mut self, messages: &Receiver<Message>) -> io::Result<Exit> {
        loop {
            let idle = || messages.recv().map_err(|_| TryRecvError::Disconnected);
            let has_work = self.is_stale || !self.changed.is_empty();
            let message = if has_work { messages.try_recv() } else { idle() };
            match message {
                Ok(Message::Request(request)) => self.request(request)?,
                Ok(Message::Notification(said)) if said.method == "exit" => break,
                Ok(Message::Notification(said)) => self.notification(said)?,
                Ok(Message::Response(_)) => {}
                Err(TryRecvError::Empty) => self.work()?,
                Err(TryRecvError::Disconnected) => break,
            }
        }
        Ok(if self.stage == Stage::ShutDown { Exit::Done } else { Exit::Problems })
    }

    fn send(&self, message: impl Into<Message>) -> io::Result<()> {
        let mut bytes = Vec::new();
        message.into().write(&mut bytes)?;
        self.system.write_output(&bytes)
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let id = request.id.clone();
        let answer = match (self.stage, request.method.as_str()) {
            _ if self.cancelled.take(&id) => {
                Err((ErrorCode::RequestCanceled, "the request was cancelled".to_owned()))
            }
            (Stage::New, "initialize") => self.initialize(request.params),
            (Stage::New, _) => {
                Err((ErrorCode::ServerNotInitialized, "`initialize` comes first".to_owned()))
            }
            (Stage::Running, "shutdown") => {
                self.stage = Stage::ShutDown;
                Ok(Value::Null)
            }
            (Stage::Running, method) => {
                self.refresh()?;
                let answer = AssertUnwindSafe(|| self.answer(method, request.params));
                catch_unwind(answer).unwrap_or_else(|_| {
                    Err((ErrorCode::InternalError, "this is a defect of protologtool".to_owned()))
                })
            }
            (Stage::ShutDown, _) => {
                Err((ErrorCode::InvalidRequest, "the server is shut down".to_owned()))
            }
        };
        self.send(response(id, answer))
    }

    fn answer(&mut self, method: &str, params: Value) -> Reply {
        match method {
            "textDocument/hover" => Ok(self.hover(&read(params)?)),
            "textDocument/definition" => Ok(self.definition(&read(params)?)),
            "textDocument/codeAction" => Ok(self.actions(&read(params)?)),
            "workspace/executeCommand" => self.execute(read(params)?),
            _ => Err((ErrorCode::MethodNotFound, format!("no method `{method}`"))),
        }
    }

    fn initialize(&mut self, params: Value) -> Reply {
        let params: lsp::InitializeParams = read(params)?;
        let encodings = params.capabilities.general.and_then(|general| general.position_encodings);
        self.encoding = Encoding::of(&encodings.unwrap_or_default());
        let watching = params.capabilities.workspace.and_then(|it| it.did_change_watched_files);
        self.can_watch = watching.and_then(|it| it.dynamic_registration).unwrap_or(false);
        let folders = params.workspace_folders.into_iter().flatten().map(|folder| folder.uri);
        self.folders = folders.filter_map(|uri| documents::path(&uri)).collect();
        if self.folders.is_empty() {
            self.folders.extend(params.root_uri.as_ref().and_then(documents::path));
        }
        let options = params.initialization_options.unwrap_or_default();
        self.configure(&options).map_err(|why| (ErrorCode::InvalidParams, why))?;
        self.stage = Stage::Running;
        Ok(json!({
            "capabilities": {
                "positionEncoding": self.encoding.name(),
                "textDocumentSync": { "openClose": true, "change": 2, "save": {} },
                "hoverProvider": true,
                "definitionProvider": true,
                "codeActionProvider": { "codeActionKinds": [lsp::QUICKFIX, switches::KIND] },
                "executeCommandProvider": { "commands": [switches::COMMAND] },
            },
            "serverInfo": { "name": SOURCE, "version": env!("CARGO_PKG_VERSION") },
        }))
    }

    /// Takes the arguments from `options`, where they have some.
    fn configure(&mut self, options: &Value) -> Result<(), String> {
        if let Some(arguments) = options["arguments"].as_array() {
            let arguments = arguments.iter().map(|argument| argument.as_str().unwrap_or_default());
            let parsed = ClientArgs::try_parse_from(arguments);
            self.args = parsed.map_err(|error| error.render().to_string())?.args;
        }
        self.workspace = EditorFolders::new(self.args.clone(), &self.folders);
        self.is_stale = true;
        Ok(())
    }

    fn notification(&mut self, said: Notification) -> io::Result<()> {
        if self.stage != Stage::Running {
            return Ok(());
        }
        match said.method.as_str() {
            "initialized" if self.can_watch => self.watch()?,
            "textDocument/didOpen" => {
                if let Ok(params) = read::<lsp::DidOpenTextDocumentParams>(said.params) {
                    let lsp::TextDocumentItem { uri, version, text } = params.text_document;
                    self.open(uri, version, text);
                }
            }
            "textDocument/didChange" => {
                if let Ok(params) = read::<lsp::DidChangeTextDocumentParams>(said.params) {
                    self.change(params);
                }
            }
            "textDocument/didClose" => {
                if let Ok(params) = read::<lsp::DidCloseTextDocumentParams>(said.params) {
                    self.close(&params.text_document.uri)?;
                }
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => self.is_stale = true,
            "workspace/didChangeConfiguration" => {
                if let Err(why) = self.configure(&said.params["settings"]["protolog"]) {
                    self.say(&why)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn watch(&self) -> io::Result<()> {
        let register = json!({ "registrations": [{
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": [{ "globPattern": WATCHED }] },
        }]});
        let id = RequestId::from("watch".to_owned());
        self.send(Request::new(id, "client/registerCapability".to_owned(), register))
    }

    fn open(&mut self, uri: lsp::Uri, version: i32, text: String) {
        let path = documents::path(&uri).filter(|path| Kind::of_path(path).is_some());
        let Some(path) = path else { return };
        let source = Source::new(&path, text.into_bytes());
        self.documents.insert(path.clone(), Document { uri, version, source });
        self.has_changed(&path);
    }

    fn change(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let Some(path) = documents::path(&params.text_document.uri) else { return };
        let Some(document) = self.documents.get_mut(&path) else { return };
        document.change(params.content_changes, self.encoding);
        document.version = params.text_document.version;
        self.has_changed(&path);
    }

    /// Notes that a document's text is another one.
    fn has_changed(&mut self, path: &Path) {
        let Some(document) = self.documents.get(path) else { return };
        let text = document.source.bytes();
        self.files.set(path, Some(text));
        self.is_stale |= self.workspace.rests_on(path, text);
        self.looks.remove(path);
        self.changed.insert(path.to_path_buf());
    }

    fn close(&mut self, uri: &lsp::Uri) -> io::Result<()> {
        let Some(path) = documents::path(uri) else { return Ok(()) };
        let Some(document) = self.documents.remove(&path) else { return Ok(()) };
        self.files.set(&path, None);
        self.looks.remove(&path);
        self.changed.remove(&path);
        self.is_stale |= self.workspace.rests_on(&path, document.source.bytes());
        self.publish(&document.uri, None, &document.source, &[])
    }

    /// One piece of the work to do when no message waits.
    fn work(&mut self) -> io::Result<()> {
        self.refresh()?;
        let Some(path) = self.changed.pop_first() else { return Ok(()) };
        self.look(&path);
        match (self.documents.get(&path), self.looks.get(&path)) {
            (Some(document), Some(look)) => {
                let Document { uri, version, source } = document;
                self.publish(uri, Some(*version), source, &look.diagnostics)
            }
            _ => Ok(()),
        }
    }

    /// Reads groups and files anew, if they may be other ones; all documents are to be looked at
    /// again.
    fn refresh(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_stale) {
            return Ok(());
        }
        let read = AssertUnwindSafe(|| self.workspace.read(&self.files));
        let said = catch_unwind(read).unwrap_or_else(|_| {
            vec!["the groups can't be read: a defect of protologtool".to_owned()]
        });
        for text in said.iter().filter(|text| !self.said.contains(text)) {
            self.say(text)?;
        }
        self.said = said;
        self.looks.clear();
        self.changed.extend(self.documents.keys().cloned());
        self.publish_others()
    }

    /// Shows the problems of the settings in files that are not open.
    fn publish_others(&mut self) -> io::Result<()> {
        let mut by_file: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        for path in std::mem::take(&mut self.others) {
            by_file.entry(path).or_default();
        }
        for (path, problem) in &self.workspace.problems {
            by_file.entry(path.clone()).or_default().push(problem.clone());
        }
        by_file.retain(|path, _| !self.documents.contains_key(path));
        for (path, problems) in by_file {
            let uri = documents::uri(&path);
            let source = Source::new(&path, self.files.read(&path).unwrap_or_default());
            self.publish(&uri, None, &source, &problems)?;
            if !problems.is_empty() {
                self.others.insert(path);
            }
        }
        Ok(())
    }

    /// Looks at a document, unless that was done since it changed.
    fn look(&mut self, path: &Path) {
        let Some(document) = self.documents.get(path) else { return };
        if !self.looks.contains_key(path) {
            let look = AssertUnwindSafe(|| self.workspace.look(&document.source, &self.files));
            // A panic has written to standard error, where the client keeps a log.
            let look = catch_unwind(look).unwrap_or_default();
            self.looks.insert(path.to_path_buf(), look);
        }
    }

    fn publish(
        &self,
        uri: &lsp::Uri,
        version: Option<i32>,
        source: &Source,
        diagnostics: &[Diagnostic],
    ) -> io::Result<()> {
        let diagnostics = diagnostics.iter().map(|it| self.diagnostic(it, source)).collect();
        let params = lsp::PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version };
        self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), params))
    }

    fn diagnostic(&self, diagnostic: &Diagnostic, source: &Source) -> lsp::PublishedDiagnostic {
        let message = match &diagnostic.help {
            Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
            None => diagnostic.message.clone(),
        };
        lsp::PublishedDiagnostic {
            range: position::range(source, &diagnostic.range, self.encoding),
            severity: match diagnostic.severity {
                Severity::Error => 1,
                Severity::Warning => 2,
                Severity::Note => 3,
            },
            code: diagnostic.code.name().to_owned(),
            source: SOURCE,
            message,
        }
    }

    /// Switches a call, and says so.
    fn execute(&self, params: lsp::ExecuteCommandParams) -> Reply {
        let lsp::ExecuteCommandParams { command, arguments } = params;
        if command != switches::COMMAND {
            return Err((ErrorCode::InvalidParams, format!("no command `{command}`")));
        }
        let said = match switches::execute(&arguments) {
            Ok(done) => self.show(lsp::MESSAGE_INFO, &done),
            Err(why) => self.show(lsp::MESSAGE_ERROR, &format!("nothing is switched: {why}")),
        };
        said.map_err(|error| (ErrorCode::InternalError, error.to_string()))?;
        Ok(Value::Null)
    }

    /// Shows a problem that has no place in a source.
    fn say(&self, text: &str) -> io::Result<()> {
        self.show(lsp::MESSAGE_ERROR, text)
    }

    fn show(&self, kind: u8, text: &str) -> io::Result<()> {
        let params = json!({ "type": kind, "message": shown::unlinked(text) });
        self.send(Notification::new("window/showMessage".to_owned(), params))
    }

    /// The document and the call at a place; the innermost one.
    fn call_at(
        &mut self,
        at: &lsp::TextDocumentPositionParams,
    ) -> Option<(&Document, &ShownCall, usize)> {
        let path = documents::path(&at.text_document.uri)?;
        self.look(&path);
        let document = self.documents.get(&path)?;
        let offset = position::offset(&document.source, at.position, self.encoding);
        let calls = self.looks.get(&path)?.calls.iter();
        let around = calls.filter(|call| call.range.start <= offset && offset <= call.range.end);
        let call = around.min_by_key(|call| call.range.len())?;
        Some((document, call, offset))
    }

    fn hover(&mut self, at: &lsp::TextDocumentPositionParams) -> Value {
        let encoding = self.encoding;
        let Some((document, call, _)) = self.call_at(at) else { return Value::Null };
        let (source, call) = (document.source.clone(), call.clone());
        let settings = self.workspace.settings();
        let Some(group) = settings.and_then(|it| it.groups.list().get(call.group)) else {
            return Value::Null;
        };
        json!({
            "contents": { "kind": "markdown", "value": shown::markdown(&call, group, &source) },
            "range": position::range(&source, &call.range, encoding),
        })
    }

    /// From the group, its declaration; from the rest of the call, the entry of the dictionary, if
    /// there is one.
    fn definition(&mut self, at: &lsp::TextDocumentPositionParams) -> Value {
        let Some((_, call, offset)) = self.call_at(at) else { return Value::Null };
        let (id, group, is_group) = (call.id, call.group, offset < call.template_range.start);
        let files = &self.files;
        let entry = (!is_group).then(|| self.workspace.entry(id, files)).flatten();
        let place = entry.or_else(|| self.workspace.group(group, files));
        let location = place.map(|(source, range)| {
            let open = self.documents.get(source.path()).map(|document| document.uri.clone());
            let uri = open.unwrap_or_else(|| documents::uri(source.path()));
            let range = position::range(&source, &range, self.encoding);
            lsp::Location { uri, range }
        });
        json!(location)
    }

    /// The changes for the problems in a range, those first that are right for certain, and then
    /// the switches of the call there.
    fn actions(&mut self, params: &lsp::CodeActionParams) -> Value {
        let Some(path) = documents::path(&params.text_document.uri) else { return json!([]) };
        self.look(&path);
        let mut actions = self.fixes(params, &path);
        if switches::are_wanted(&params.context) {
            let (text_document, position) = (params.text_document.clone(), params.range.start);
            let at = lsp::TextDocumentPositionParams { text_document, position };
            let id = self.call_at(&at).map(|(_, call, _)| call.id);
            actions.extend(id.map(switches::actions).unwrap_or_default());
        }
        json!(actions)
    }

    fn fixes(&self, params: &lsp::CodeActionParams, path: &Path) -> Vec<Value> {
        let is_fix = |kind: &String| kind == lsp::QUICKFIX || kind.is_empty();
        if params.context.only.as_ref().is_some_and(|only| !only.iter().any(is_fix)) {
            return Vec::new();
        }
        let known = (self.documents.get(path), self.looks.get(path));
        let (Some(document), Some(look)) = known else { return Vec::new() };
        let at = |place| position::offset(&document.source, place, self.encoding);
        let (start, end) = (at(params.range.start), at(params.range.end));
        let here = |it: &&Diagnostic| it.range.start <= end && start <= it.range.end;
        let problems = look.diagnostics.iter().filter(here);
        let mut all: Vec<(&Diagnostic, &Fix)> = problems
            .flat_map(|problem| problem.fixes.iter().map(move |fix| (problem, fix)))
            .collect();
        all.sort_by_key(|(_, fix)| !fix.is_certain);
        let actions = all.into_iter().map(|(problem, fix)| self.action(problem, fix, document));
        actions.collect()
    }

    fn action(&self, problem: &Diagnostic, fix: &Fix, document: &Document) -> Value {
        let Document { uri, source, .. } = document;
        let range = position::range(source, &fix.range, self.encoding);
        let edit = json!({ "range": range, "newText": fix.text });
        json!({
            "title": fix.title,
            "kind": lsp::QUICKFIX,
            "diagnostics": [self.diagnostic(problem, source)],
            "isPreferred": fix.is_certain,
            "edit": { "changes": { &uri.0: [edit] } },
        })
    }
}

/// The parameters of a method.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn response(id: RequestId, answer: Reply) -> Response {
    match answer {
        Ok(result) => Response::new_ok(id, result),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    }
}
