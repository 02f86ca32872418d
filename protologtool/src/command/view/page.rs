//! The page: its parts put together into one file that asks nothing of the network.
//!
//! Invariants: nothing of a log stands in the HTML but as base64, in an element that browsers do
//! not interpret; only the one script and the one style sheet run, by their hashes.

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

const HTML: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/style.css");

/// The part of a script that asks the server.
pub(super) const SESSION: &str = include_str!("page/session.js");

/// The parts of the script, each after the parts that it needs.
const SCRIPT: [&str; 16] = [
    SESSION,
    include_str!("page/data.js"),
    include_str!("page/format.js"),
    include_str!("page/clock.js"),
    include_str!("page/facets.js"),
    include_str!("page/search.js"),
    include_str!("page/filter.js"),
    include_str!("page/list.js"),
    include_str!("page/overview.js"),
    include_str!("page/flames.js"),
    include_str!("page/side.js"),
    include_str!("page/detail.js"),
    include_str!("page/switches.js"),
    include_str!("page/state.js"),
    include_str!("page/keys.js"),
    include_str!("page/main.js"),
];

/// Characters of base64 in an element, a multiple of four: Chromium parses elements of this size in
/// half of the time that it takes for a large one.
const ELEMENT: usize = 60_000;

/// The page with this data, deflated columns; without any, it asks its server for them.
pub(super) fn page(data: Option<&[u8]>) -> String {
    let script = script();
    let connect = if data.is_some() { "'none'" } else { "'self'" };
    let data = data.map(elements).unwrap_or_default();
    let policy = policy(&script, connect);
    // The data last, so that nothing is looked for in them.
    let page =
        HTML.replace("{csp}", &policy).replace("{style}", STYLE).replace("{script}", &script);
    page.replacen("{data}", &data, 1)
}

/// The elements with the data.
fn elements(data: &[u8]) -> String {
    let mut all = String::with_capacity(data.len() / 3 * 4 + data.len() / 300);
    for part in data.chunks(ELEMENT / 4 * 3) {
        all.push_str("<script type=\"application/octet-stream\" class=\"data\">");
        STANDARD.encode_string(part, &mut all);
        all.push_str("</script>\n");
    }
    all
}

/// The policy that the server sends with the page: that of the page, and that no other page may
/// hold this one.
pub(super) fn served_policy() -> String {
    format!("{}; frame-ancestors 'none'", policy(&script(), "'self'"))
}

fn script() -> String {
    format!("\"use strict\";\n(() => {{\n{}\n}})();\n", SCRIPT.join("\n"))
}

fn policy(script: &str, connect: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src {connect}; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_stand_in_the_page_once_and_alone() {
        let page = page(Some(b"abc"));
        assert!(!page.contains("{csp}") && !page.contains("{style}") && !page.contains("{script}"));
        assert_eq!(page.matches("YWJj").count(), 1);
        assert_eq!(page.matches("</script>").count(), 2);
        // Of more data there are more elements, which a browser decodes one by one.
        let page = super::page(Some(&vec![7; ELEMENT]));
        assert_eq!(page.matches("</script>").count(), 3);
        let first = STANDARD.encode(vec![7; ELEMENT / 4 * 3]);
        assert!(page.contains(&format!(" class=\"data\">{first}</script>\n<script ")));
        // These would end the element early.
        assert!(!script().contains("</script") && !STYLE.contains("</style"));
        assert!(!page.contains("http://") && !page.contains("https://"));
    }
}
