//! Functions of Kotlin and Java that pass a template and arguments on to a log call, and do nothing
//! else.
//!
//! ```text
//! fun v(msg: String, vararg args: Any?) = ProtoLog.v(NET, "Server: $msg", *args)
//! v("sent %d", n)          is the message `Server: sent %d` of the group `NET`, with the argument `n`
//! ```
//!
//! In Kotlin the class around one may give its instances a tag, which is a constant where they are
//! made:
//!
//! ```text
//! class Log(private val tag: String) { fun v(msg: String, vararg args: Any?) = ProtoLog.v(NET, "%s: $msg", tag, *args) }
//! Log("Server").v("sent %d", n)
//! ```
//!
//! Or its calls pass the tag before the template:
//! `fun v(tag: String, msg: String, vararg args: Any?)`, and in Java `void v(String tag, String
//! message, Object... rest) { ProtoLog.v(NET, tag + message, rest); }`.
//!
//! A front end finds those of each file; a second pass, over the files that have one of their
//! names, rewrites their calls. Invariant: no other function can take a wrapper's place at a call
//! that has one of its names.

use memchr::memmem::Finder;
use protolog_core::Level;
use std::collections::HashMap;

/// The character in the place of a tag, which no template has.
pub const TAG: char = '\0';

/// The same for a tag that is itself a part of the template, as in Java, so that a per cent sign in
/// it begins a conversion.
pub const TAG_OF_TEMPLATE: char = '\u{10fffe}';

/// The source of the tag for which [`TAG`] stands in the texts of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagSource {
    /// It has none, or a constant that the texts have.
    None,
    /// The instance of its class that a call is of.
    Instance,
    /// The argument before the template: a constant.
    Call,
}

/// One such function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// The name in calls, before any import gives it another one.
    pub name: String,
    /// The canonical names that it has in Kotlin.
    pub kotlin_names: Vec<String>,
    /// The canonical names that it has in Java as a static method.
    pub java_names: Vec<String>,
    /// True if a function of the same package, in another file, may be of the same name.
    pub is_of_file: bool,
    /// The level of its log call.
    pub level: Level,
    /// The group of its log call, as its position in [`crate::groups::Groups`].
    pub group: usize,
    /// True if it is called by an instance of its class. The class extends nothing, so that no
    /// other method can be meant.
    pub of_instance: bool,
    /// True if a call from outside its class, object or file may run code that initialises that.
    pub runs_code: bool,
    /// The source of its tag.
    pub tag: TagSource,
    /// The template's text before the one that callers pass.
    pub before: String,
    /// The template's text after the one that callers pass.
    pub after: String,
}

/// The functions that other files can call.
#[derive(Debug, Default)]
pub struct Wrappers {
    all: Vec<Wrapper>,
    /// One for each name.
    finders: Vec<Finder<'static>>,
}

impl Wrappers {
    /// The functions `found`, but for those whose names another one has.
    pub fn new(found: impl IntoIterator<Item = Wrapper>) -> Self {
        let mut all: Vec<Wrapper> = Vec::new();
        for wrapper in found {
            if !all.contains(&wrapper) {
                all.push(wrapper);
            }
        }
        let mut uses: HashMap<String, usize> = HashMap::new();
        for name in all.iter().flat_map(Wrapper::names) {
            *uses.entry(name.to_owned()).or_default() += 1;
        }
        all.retain(|wrapper| wrapper.names().all(|name| uses[name] == 1));
        let mut names: Vec<&str> = all.iter().map(|wrapper| &*wrapper.name).collect();
        names.sort_unstable();
        names.dedup();
        let finders = names.iter().map(|name| Finder::new(*name).into_owned()).collect();
        Self { all, finders }
    }

    /// The functions.
    pub fn all(&self) -> &[Wrapper] {
        &self.all
    }

    /// Returns whether a source may call one of them.
    pub fn may_be_called(&self, bytes: &[u8]) -> bool {
        let is_word = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        self.finders.iter().any(|finder| {
            let length = finder.needle().len();
            let mut found = finder.find_iter(bytes);
            found.any(|at| !is_word(at.checked_sub(1)) && !is_word(Some(at + length)))
        })
    }
}

impl PartialEq for Wrappers {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

/// The reason why a call stays that may run code of another class.
pub const RUNS_CODE: &str = "it may initialise a class, which runs code";

impl Wrapper {
    /// The function of an instance with this tag, or of calls that pass it.
    #[must_use]
    pub fn with_tag(&self, tag: &str) -> Self {
        let plain = tag.replace('%', "%%");
        let [before, after] = [&self.before, &self.after]
            .map(|text| text.replace(TAG, &plain).replace(TAG_OF_TEMPLATE, tag));
        Self { before, after, tag: TagSource::None, ..self.clone() }
    }

    /// Returns whether its instances have a tag.
    pub fn has_tag(&self) -> bool {
        self.tag == TagSource::Instance
    }

    /// Returns whether its calls pass a tag.
    pub fn takes_tag(&self) -> bool {
        self.tag == TagSource::Call
    }

    /// Returns whether it is a method of the class with one of these canonical names.
    pub fn is_of<'n>(&self, classes: impl IntoIterator<Item = &'n str>) -> bool {
        let of = |name: &'_ str| name.rsplit_once('.').map_or(String::new(), |it| it.0.to_owned());
        let mut classes = classes.into_iter();
        classes.any(|class| self.names().any(|name| of(name) == class))
    }

    /// All names, each once.
    fn names(&self) -> impl Iterator<Item = &str> {
        let of_java = self.java_names.iter().filter(|name| !self.kotlin_names.contains(name));
        self.kotlin_names.iter().chain(of_java).map(String::as_str)
    }
}
