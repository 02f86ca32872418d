//! The common form of the case files of all dialects: a title with a kind, `name [kind]`, and a
//! source that becomes a compilation unit. The class of a case is called by the case's name in
//! camel case.

/// The kind of a case's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A method's body.
    Body,
    /// Members of a class, `static void run()` among them.
    Members,
    /// A whole file.
    File,
}

/// The kind in a title, and what else stands in its brackets.
pub(crate) fn kind(title: &str) -> (Kind, &str) {
    match title.split_once('[').and_then(|(_, kind)| kind.strip_suffix(']')) {
        Some("members") => (Kind::Members, ""),
        Some("file") => (Kind::File, ""),
        other => (Kind::Body, other.unwrap_or_default()),
    }
}

/// The class of the case with this title.
pub(crate) fn class(title: &str) -> String {
    let words = title.split('[').next().unwrap().split_whitespace();
    let class: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    class.chars().filter(char::is_ascii_alphanumeric).collect()
}

impl Kind {
    /// The text before and after a case's own text in its compilation unit.
    #[allow(dead_code, reason = "Kotlin has frames of its own")]
    pub(crate) fn frame(self, prelude: &str, class: &str) -> (String, String) {
        match self {
            Self::File => (String::new(), "\n".to_owned()),
            Self::Members => (format!("{prelude}class {class} {{\n"), "\n}\n".to_owned()),
            Self::Body => (
                format!("{prelude}class {class} {{ static void run() throws Exception {{\n"),
                "\n} }\n".to_owned(),
            ),
        }
    }

    /// The class's name for the virtual machine.
    #[allow(dead_code, reason = "Kotlin has packages without semicolons")]
    pub(crate) fn class_name(self, body: &str, class: &str) -> String {
        let declared =
            || body.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'));
        match self {
            Self::File => {
                declared().map_or(class.to_owned(), |package| format!("{package}.{class}"))
            }
            _ => format!("demo.{class}"),
        }
    }
}
