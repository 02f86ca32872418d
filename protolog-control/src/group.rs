//! A group, as its program reports it.

/// A group of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The page with its word; none where it has not come up yet, or is not shared.
    pub page: Option<u32>,
    /// Which word of the page.
    pub index: u16,
    /// The word, when it was asked for.
    pub word: u32,
    /// Whether its calls are compiled in.
    pub compiled: bool,
    /// Its full name.
    pub name: String,
    /// What logcat's formats show.
    pub tag: String,
}
