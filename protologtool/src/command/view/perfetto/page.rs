//! The page that hands the trace over: its parts put together, and its policy.
//!
//! Invariants: only the one script and the one style sheet run, by their hashes; it asks its own
//! server alone; nothing of a trace stands in it, its name included.

use super::super::page::SESSION;
use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

const HTML: &str = include_str!("index.html");
const STYLE: &str = include_str!("style.css");
const HANDOVER: &str = include_str!("handover.js");

/// The page.
pub(super) fn page() -> String {
    HTML.replace("{style}", STYLE).replace("{script}", &script())
}

/// The policy that the server sends with the page.
pub(super) fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash(&script()),
        hash(STYLE)
    )
}

fn script() -> String {
    format!("\"use strict\";\n(() => {{\n{SESSION}\n{HANDOVER}\n}})();\n")
}
