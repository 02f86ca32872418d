//! The page that hands the trace over: its parts put together, and its policy.
//!
//! Invariants: only the one script and the one style sheet run, by their hashes; it asks its own server alone; names stand in attributes
//! and text, escaped.

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

const HTML: &str = include_str!("index.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("handover.js");

/// The page that opens the UI at the address `ui`, with a trace of this title.
pub(super) fn page(ui: &str, title: &str) -> String {
    // The parts without names first, so that nothing is looked for in these.
    let page = HTML.replace("{style}", STYLE).replace("{script}", SCRIPT);
    let parts: Vec<&str> = page.split("{title}").collect();
    parts.join(&escaped(title)).replacen("{ui}", &escaped(ui), 1)
}

/// The policy that the server sends with the page.
pub(super) fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// Text for an attribute between double quotes, or an element.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // As the braces of the parts of the page.
            '{' => out.push_str("&#123;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text() {
        let page = page("https://ui.example/?a=\"b", "{ui} \"><script>alert(1)</script>.pftrace");
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(page.contains("data-ui=\"https://ui.example/?a=&quot;b\""), "{page}");
        assert_eq!(page.matches("&#123;ui}").count(), 2, "{page}");
    }
}
