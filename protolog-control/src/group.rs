//! A group, as its process reports it.

/// A group of a target process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The page with its switch word; none before the group registers, and if no memory is shared.
    pub page: Option<u32>,
    /// The index of its word in the page.
    pub index: u16,
    /// The switch word at the time of the request.
    pub word: u32,
    /// True if its calls are compiled in.
    pub compiled: bool,
    /// Its full name.
    pub name: String,
    /// The tag that logcat's formats show.
    pub tag: String,
}
