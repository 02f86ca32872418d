//! Messages of the Language Server Protocol 3.17, as far as this server reads and writes them.
//!
//! Names are the protocol's, but for those that this crate has already. A crate with all of it
//! takes as long to compile as the rest of the server, and reading what clients can do, of which
//! two answers count, is half a megabyte of code.
//!
//! Invariant: fields that are not named here are ignored, as the protocol wants it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of the actions that this server has.
pub(super) const QUICKFIX: &str = "quickfix";

/// The `MessageType` of an error, and of information.
pub(super) const MESSAGE_ERROR: u8 = 1;
pub(super) const MESSAGE_INFO: u8 = 3;

/// A place: line from 0, and units of the encoding from the line's beginning.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LspPosition {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LspRange {
    pub(super) start: LspPosition,
    pub(super) end: LspPosition,
}

/// The name of a document, as the client writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Uri(pub(super) String);

#[derive(Debug, Serialize)]
pub(super) struct Location {
    pub(super) uri: Uri,
    pub(super) range: LspRange,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    pub(super) capabilities: ClientCapabilities,
    /// The root, from clients without folders.
    pub(super) root_uri: Option<Uri>,
    pub(super) workspace_folders: Option<Vec<WorkspaceFolder>>,
    pub(super) initialization_options: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ClientCapabilities {
    pub(super) general: Option<GeneralClientCapabilities>,
    pub(super) workspace: Option<WorkspaceClientCapabilities>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeneralClientCapabilities {
    pub(super) position_encodings: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkspaceClientCapabilities {
    pub(super) did_change_watched_files: Option<WatchedFilesCapabilities>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WatchedFilesCapabilities {
    pub(super) dynamic_registration: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WorkspaceFolder {
    pub(super) uri: Uri,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct TextDocumentIdentifier {
    pub(super) uri: Uri,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidOpenTextDocumentParams {
    pub(super) text_document: TextDocumentItem,
}

#[derive(Debug, Deserialize)]
pub(super) struct TextDocumentItem {
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidChangeTextDocumentParams {
    pub(super) text_document: VersionedTextDocumentIdentifier,
    pub(super) content_changes: Vec<TextDocumentContentChangeEvent>,
}

#[derive(Debug, Deserialize)]
pub(super) struct VersionedTextDocumentIdentifier {
    pub(super) uri: Uri,
    pub(super) version: i32,
}

/// A change of a range; without one, of the whole document.
#[derive(Debug, Deserialize)]
pub(super) struct TextDocumentContentChangeEvent {
    pub(super) range: Option<LspRange>,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidCloseTextDocumentParams {
    pub(super) text_document: TextDocumentIdentifier,
}

/// Those of `textDocument/hover` and `textDocument/definition`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextDocumentPositionParams {
    pub(super) text_document: TextDocumentIdentifier,
    pub(super) position: LspPosition,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeActionParams {
    pub(super) text_document: TextDocumentIdentifier,
    pub(super) range: LspRange,
    pub(super) context: CodeActionContext,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeActionContext {
    /// The kinds that are asked for; none for all.
    pub(super) only: Option<Vec<String>>,
    /// 1 if the user asks, 2 if the client does so by itself.
    pub(super) trigger_kind: Option<u8>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ExecuteCommandParams {
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Vec<Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct PublishDiagnosticsParams {
    pub(super) uri: Uri,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    pub(super) diagnostics: Vec<PublishedDiagnostic>,
}

/// A `Diagnostic` of the protocol.
#[derive(Debug, Serialize)]
pub(super) struct PublishedDiagnostic {
    pub(super) range: LspRange,
    /// 1 for an error, 2 for a warning, 3 for information.
    pub(super) severity: u8,
    pub(super) code: String,
    pub(super) source: &'static str,
    pub(super) message: String,
}
