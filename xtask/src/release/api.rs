//! The public interface of the libraries that programs name, as a list of lines, and its comparison
//! with the list that is committed.
//!
//! rustdoc tells in JSON which items there are and where they stand; the signature of each is its
//! source up to the body. So a list is read like code, and a change of the interface is a change
//! of a file, which its reviewer sees. Items of other crates that a library exports are listed by
//! name. rustdoc's JSON is for a nightly compiler; the stable one gives it under `RUSTC_BOOTSTRAP`.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::Value;

use crate::{Result, shell, workspace};

/// The libraries, with the folders that have their lists.
const LIBRARIES: [(&str, &str, &str); 3] = [
    ("protolog-rt", "protolog_rt", "protolog-rt"),
    ("protolog-protozero", "protozero", "protozero"),
    ("protolog-protozero-build", "protozero_build", "protozero-build"),
];

/// The name of a list.
const LIST: &str = "api.txt";

/// Compares the interfaces with their lists.
pub(crate) fn compare() -> Result<()> {
    let mut findings = Vec::new();
    for (package, library, folder) in LIBRARIES {
        let file = Path::new(folder).join(LIST);
        let before = workspace::read(workspace::root().join(&file)).unwrap_or_default();
        let now = interface(package, library)?;
        let (gone, new) = (lines_only_in(&before, &now), lines_only_in(&now, &before));
        println!("{package}: {} items", now.lines().count());
        findings.extend(gone.iter().map(|line| format!("{}: gone: {line}", file.display())));
        findings.extend(new.iter().map(|line| format!("{}: new: {line}", file.display())));
    }
    shell::report(&findings, "the interface differs from the lists").map_err(|problem| {
        format!(
            "{problem}\nhelp: run `cargo xtask bless api`; what is gone breaks programs, so raise \
             the version that says so"
        )
    })
}

/// Writes the lists anew.
pub(crate) fn bless() -> Result<()> {
    for (package, library, folder) in LIBRARIES {
        let list = workspace::root().join(folder).join(LIST);
        workspace::write(list, interface(package, library)?)?;
    }
    Ok(())
}

fn lines_only_in<'a>(text: &'a str, other: &str) -> Vec<&'a str> {
    let other: BTreeSet<&str> = other.lines().collect();
    text.lines().filter(|line| !other.contains(line)).collect()
}

/// The lines of a library's interface, sorted.
fn interface(package: &str, library: &str) -> Result<String> {
    // A directory of its own: the variable would have all of the usual one compiled anew.
    let dir = workspace::target_dir()?.join("api");
    let args = ["rustdoc", "--quiet", "--locked", "--lib", "--all-features", "--package", package];
    let mut rustdoc = shell::cargo(&args);
    rustdoc.arg("--target-dir").arg(&dir);
    rustdoc.args(["--", "-Zunstable-options", "--output-format", "json"]);
    shell::run(rustdoc.env("RUSTC_BOOTSTRAP", "1"))?;
    let text = workspace::read(dir.join("doc").join(format!("{library}.json")))?;
    let json: Value = serde_json::from_str(&text)
        .map_err(|error| format!("can't read rustdoc's JSON of {package}: {error}"))?;
    let mut list = List { json: &json, sources: HashMap::new(), lines: BTreeSet::new() };
    list.add_item(&json["root"], library, None);
    let mut lines: Vec<String> = list.lines.into_iter().collect();
    // The last line ends, too.
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// A list as it grows.
struct List<'a> {
    json: &'a Value,
    /// The texts of sources, by their names as rustdoc has them.
    sources: HashMap<String, String>,
    lines: BTreeSet<String>,
}

impl<'a> List<'a> {
    /// Adds an item and the items in it; `name` is the one under which it is exported.
    fn add_item(&mut self, id: &Value, parent: &str, name: Option<&str>) {
        let Some(item) = self.item(id) else { return };
        let (kind, inner) = kind(item);
        let own = name.or(item["name"].as_str()).unwrap_or_default();
        let path = if *id == self.json["root"] { parent.to_owned() } else { join(parent, own) };
        match kind {
            "module" => self.add_all(&inner["items"], &path),
            "use" => self.add_use(inner, parent),
            "impl" => self.add_impl(inner, parent),
            _ => {
                let signature = self.signature(item, kind, own);
                self.lines.insert(format!("{path}: {signature}"));
                for key in ["items", "variants", "impls", "fields"] {
                    self.add_all(&inner[key], &path);
                }
                for form in ["plain", "struct"] {
                    self.add_all(&inner["kind"][form]["fields"], &path);
                }
                // The line of a variant has the types of such fields.
                if kind == "struct" {
                    self.add_all(&inner["kind"]["tuple"], &path);
                }
            }
        }
    }

    fn add_all(&mut self, ids: &Value, parent: &str) {
        for id in ids.as_array().into_iter().flatten() {
            self.add_item(id, parent, None);
        }
    }

    fn add_use(&mut self, used: &Value, parent: &str) {
        let name = used["name"].as_str().unwrap_or_default();
        match self.item(&used["id"]) {
            Some(item) if used["is_glob"] == true => {
                let (_, inner) = kind(item);
                self.add_all(&inner["items"], parent);
                self.add_all(&inner["variants"], parent);
            }
            Some(_) => self.add_item(&used["id"], parent, Some(name)),
            None => {
                let source = used["source"].as_str().unwrap_or_default();
                self.lines.insert(format!("{}: pub use {source}", join(parent, name)));
            }
        }
    }

    /// Methods of a type, and the traits that it has; not those that every such type has.
    fn add_impl(&mut self, block: &Value, parent: &str) {
        if block["is_synthetic"] == true || !block["blanket_impl"].is_null() {
            return;
        }
        match block["trait"]["path"].as_str() {
            // Comes with `PartialEq`.
            Some("StructuralPartialEq") => {}
            Some(name) => {
                self.lines.insert(format!("{parent}: impl {name}"));
            }
            None => self.add_all(&block["items"], parent),
        }
    }

    fn item(&self, id: &Value) -> Option<&'a Value> {
        let key = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        self.json["index"].get(key)
    }

    /// The source of an item up to its body, on one line; its kind and name where it is written by
    /// a macro.
    fn signature(&mut self, item: &Value, kind: &str, name: &str) -> String {
        let bare = format!("{} {name}", kind.replace('_', " "));
        if kind == "macro" || kind == "proc_macro" {
            return bare;
        }
        let Some(text) = self.source(&item["span"]) else { return bare };
        let end = match kind {
            "constant" | "static" | "assoc_const" | "variant" => text.find(['{', ';', '=']),
            "struct" => text.find(['{', ';', '(']),
            _ => text.find(['{', ';']),
        };
        let head = text[..end.unwrap_or(text.len())].split_whitespace().collect::<Vec<_>>();
        let head = head.join(" ").replace("( ", "(").replace(", )", ")").replace(",)", ")");
        let head = head.trim_end_matches([',', ' ']);
        let own = item["name"].as_str().unwrap_or(name);
        let is_field = kind == "struct_field";
        let names_it =
            is_field || head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|it| it == own);
        if names_it && !head.contains('$') { head.to_owned() } else { bare }
    }

    /// The text of a span.
    fn source(&mut self, span: &Value) -> Option<String> {
        let file = span["filename"].as_str()?;
        if !self.sources.contains_key(file) {
            let text = workspace::read(workspace::root().join(file)).ok()?;
            self.sources.insert(file.to_owned(), text);
        }
        let number = |place: &str, at: usize| span[place][at].as_u64().map(|it| it as usize);
        let (first, last) = (number("begin", 0)?, number("end", 0)?);
        let lines: Vec<&str> = self.sources.get(file)?.lines().collect();
        let text = lines.get(first - 1..last)?.join("\n");
        let cut = text.chars().skip(number("begin", 1)?.saturating_sub(1)).collect();
        Some(cut)
    }
}

/// The kind of an item and rustdoc's data for that kind.
fn kind(item: &Value) -> (&str, &Value) {
    let inner = item["inner"].as_object().and_then(|inner| inner.iter().next());
    inner.map_or(("", &Value::Null), |(kind, inner)| (kind.as_str(), inner))
}

fn join(parent: &str, name: &str) -> String {
    format!("{parent}::{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_line_that_is_gone_and_a_new_one() {
        let before = "a::f: pub fn f()\na::g: pub fn g()\n";
        let now = "a::f: pub fn f()\na::g: pub fn g(x: u8)\n";
        assert_eq!(lines_only_in(before, now), ["a::g: pub fn g()"]);
        assert_eq!(lines_only_in(now, before), ["a::g: pub fn g(x: u8)"]);
    }
}
