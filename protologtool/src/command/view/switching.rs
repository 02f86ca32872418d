//! Switches from the page: a message's calls and its group, in the program that logs it.
//!
//! | request | |
//! |---|---|
//! | `GET /switches/PID/ID` | what holds for the message with this id in a program; `null` if none has it |
//! | `POST /switch/PID/site/ID/WORD` | `on`, `off` or `default` for its calls |
//! | `POST /switch/PID/group/NAME/LEVEL` | the least level that its group records, or `off` |
//!
//! NAME is in hexadecimal. All of a request stands in its path, which its proof includes; `http.rs`
//! lets nobody send one but the page.
//!
//! Invariant: where the page's promise is less, at an address that somebody else may have had or
//! through another one that leads here, nothing is asked and nothing is switched.

use super::http::{Asked, PageReply};
use crate::command::configuration::remote;
use hyper::{Method, StatusCode};
use protolog_core::Level;
use protolog_core::control::site_rule::SiteSetting;
use serde::Serialize;
use serde_json::json;

/// The kind of an answer.
const JSON: &str = "application/json";

/// Answers a request; none if it is no such one.
pub(super) fn reply_to(asked: &Asked, is_allowed: bool) -> Option<PageReply> {
    let path: Vec<&str> = asked.path.split('/').skip(1).collect();
    let (method, parts) = (&asked.method, &*path);
    if !matches!(parts, ["switches" | "switch", ..]) {
        return None;
    }
    if !is_allowed {
        return Some(PageReply::status(StatusCode::FORBIDDEN));
    }
    let reply = match (method, parts) {
        (&Method::GET, ["switches", pid, id]) => look(pid, id),
        (&Method::POST, ["switch", pid, "site", id, word]) => set_rule(pid, id, word),
        (&Method::POST, ["switch", pid, "group", name, level]) => set_level(pid, name, level),
        _ => None,
    };
    Some(reply.unwrap_or_else(|| PageReply::status(StatusCode::NOT_FOUND)))
}

fn look(pid: &str, id: &str) -> Option<PageReply> {
    let (pid, id) = (pid.parse().ok()?, id_of(id)?);
    // `null` if no such program runs: to ask is no mistake.
    Some(reply(&remote::with_message(id, Some(pid)).pop()))
}

fn set_rule(pid: &str, id: &str, word: &str) -> Option<PageReply> {
    let (pid, id) = (pid.parse().ok()?, id_of(id)?);
    let setting = match word {
        "on" | "off" | "default" => SiteSetting::parse(word).ok()?,
        _ => return None,
    };
    Some(match remote::set_rule(pid, id, setting) {
        Ok(now) => reply(&now),
        Err(error) => refusal(&error),
    })
}

fn set_level(pid: &str, name: &str, level: &str) -> Option<PageReply> {
    let (pid, name) = (pid.parse().ok()?, text_of(name)?);
    let from: Option<Level> = if level == "off" { None } else { Some(level.parse().ok()?) };
    Some(match remote::set_level(pid, &name, from) {
        Ok(()) => reply(&json!({})),
        Err(error) => refusal(&error),
    })
}

fn reply(value: &impl Serialize) -> PageReply {
    let text = serde_json::to_string(value).unwrap_or_default();
    PageReply::new(text, JSON)
}

/// The answer where a program refused, or has ended.
fn refusal(error: &str) -> PageReply {
    reply(&json!({ "error": error }))
}

/// An id of 16 hexadecimal digits.
fn id_of(text: &str) -> Option<u64> {
    let is_id = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| is_id)
}

/// A text in hexadecimal.
fn text_of(hex: &str) -> Option<String> {
    let is_hex = hex.len().is_multiple_of(2) && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> =
        (0..hex.len()).step_by(2).map(|at| byte(at).filter(|_| is_hex)).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: Method, path: &str, is_allowed: bool) -> Option<u16> {
        let asked = Asked { method, path: path.to_owned(), tag: String::new(), is_direct: true };
        reply_to(&asked, is_allowed).map(|reply| reply.code())
    }

    #[test]
    fn only_whole_requests_of_their_method_are_answered() {
        for path in [
            "/switch",
            "/switches/1",
            "/switches/x/0123456789abcdef",
            "/switches/1/123",
            "/switches/1/+123456789abcdef",
            "/switch/1/site/0123456789abcdef/on",
            "/switch/1/site/0123456789abcdef",
            "/switch/1/group/6e6574/debug",
        ] {
            assert_eq!(status(Method::GET, path, true), Some(404), "{path}");
            assert_eq!(status(Method::GET, path, false), Some(403), "{path}");
        }
        for path in [
            "/switches/1/0123456789abcdef",
            "/switch/1/site/0123456789abcdef/on,text",
            "/switch/1/site/0123456789abcdef/limit:1",
            "/switch/1/site/0123456789abcdef/on/",
            "/switch/1/group/6e657/debug",
            "/switch/1/group/ff/debug",
            "/switch/1/group/6e6574/loud",
            "/switch/1/group/+e6574/debug",
        ] {
            assert_eq!(status(Method::POST, path, true), Some(404), "{path}");
        }
        for path in ["/data", "/switched", "/", "/data/switch"] {
            assert_eq!(status(Method::POST, path, true), None, "{path}");
        }
    }

    #[test]
    fn names_have_any_characters() {
        assert_eq!(text_of("c3a42f20").as_deref(), Some("ä/ "));
        assert_eq!(text_of(""), Some(String::new()));
        assert_eq!((text_of("c3"), text_of("abc"), text_of("+a")), (None, None, None));
    }
}
