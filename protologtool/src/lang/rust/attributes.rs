//! Attributes as the compiler sees them: those of `#[cfg_attr(…)]` stand beside the others, each
//! with its conditions.
//!
//! Conditions are the texts of `cfg` predicates. Which of them hold, nobody knows here, so that
//! their combination is again a predicate, for the compiler to decide.

use super::tokens::{Spans, content, is_punct, is_word, shown, split_at_commas};
use proc_macro2::{Delimiter, TokenTree};

/// An attribute, `derive(…)` for one, and the conditions under which it is there: all of them must
/// hold.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) conditions: Vec<String>,
    pub(crate) trees: Vec<TokenTree>,
}

impl Attribute {
    /// The attributes that stand in the source, each with its `#`.
    pub(crate) fn all(written: &[&[TokenTree]]) -> Vec<Self> {
        let mut all = Vec::new();
        for attribute in written {
            if let [_, TokenTree::Group(body)] = attribute {
                Self::add(&content(body), &[], &mut all);
            }
        }
        all
    }

    fn add(trees: &[TokenTree], conditions: &[String], all: &mut Vec<Self>) {
        let Some(list) = list_of(trees, "cfg_attr") else {
            all.push(Self { conditions: conditions.to_vec(), trees: trees.to_vec() });
            return;
        };
        let parts = split_at_commas(&list);
        let Some((condition, attributes)) = parts.split_first() else { return };
        let conditions = [conditions, &[shown(condition)]].concat();
        for part in attributes {
            Self::add(part, &conditions, all);
        }
    }

    /// The traits that a derive lists.
    pub(crate) fn derives(&self) -> Vec<Vec<TokenTree>> {
        let list = list_of(&self.trees, "derive").unwrap_or_default();
        split_at_commas(&list).into_iter().map(<[_]>::to_vec).collect()
    }

    /// Its conditions but for those that are known to hold.
    pub(crate) fn conditions_beyond(&self, known: &[String]) -> Vec<String> {
        self.conditions.iter().filter(|condition| !known.contains(condition)).cloned().collect()
    }
}

/// The condition of an item with these attributes: the predicate of its `cfg`s, unless it is always
/// there. `known` conditions hold.
pub(crate) fn presence(attributes: &[Attribute], known: &[String]) -> Option<String> {
    let parts = attributes.iter().filter_map(|attribute| {
        let predicate = shown(&list_of(&attribute.trees, "cfg")?);
        if known.contains(&predicate) {
            return None;
        }
        Some(match all_of(&attribute.conditions_beyond(known)) {
            None => predicate,
            Some(condition) => format!("any(not({condition}),{predicate})"),
        })
    });
    all_of(&parts.collect::<Vec<_>>())
}

/// The predicate that all of these hold; none if that is no condition.
pub(crate) fn all_of(predicates: &[String]) -> Option<String> {
    match predicates {
        [] => None,
        [only] => Some(only.clone()),
        more => Some(format!("all({})", more.join(","))),
    }
}

/// Takes parts out of attributes that stand in the source, and attributes that hold nothing else.
/// `#[protolog(…)]` always goes; of a derive, what begins at one of the bytes of `derives`.
pub(crate) struct Removal<'a> {
    pub(crate) spans: Spans,
    pub(crate) derives: &'a [usize],
}

impl Removal<'_> {
    /// The tokens that go from an attribute, its `#` among `written`, in order.
    pub(crate) fn of(&self, written: &[TokenTree]) -> Vec<TokenTree> {
        let [_, TokenTree::Group(body)] = written else { return Vec::new() };
        let mut removed = Vec::new();
        if self.take(&content(body), &mut removed) { written.to_vec() } else { removed }
    }

    /// Returns whether a whole attribute goes; if not, its parts that go.
    fn take(&self, trees: &[TokenTree], removed: &mut Vec<TokenTree>) -> bool {
        if is_word(trees.first(), "protolog") {
            return true;
        }
        if let Some(list) = list_of(trees, "derive") {
            let goes = |part: &[TokenTree], _: &mut Vec<TokenTree>| {
                part.first().is_some_and(|first| self.derives.contains(&self.spans.of(first).start))
            };
            return take_parts(&list, 0, goes, removed);
        }
        match list_of(trees, "cfg_attr") {
            Some(list) => take_parts(&list, 1, |part, removed| self.take(part, removed), removed),
            None => false,
        }
    }
}

/// Takes those parts of a list that `goes` names, with commas, so that the rest is a list. Returns
/// true if all from the part `first` on go; then none of them is taken here.
fn take_parts(
    list: &[TokenTree],
    first: usize,
    goes: impl Fn(&[TokenTree], &mut Vec<TokenTree>) -> bool,
    removed: &mut Vec<TokenTree>,
) -> bool {
    let mut inside = Vec::new();
    let parts = split_at_commas(list);
    let flags: Vec<bool> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| index >= first && goes(part, &mut inside))
        .collect();
    if parts.len() > first && flags[first..].iter().all(|goes| *goes) {
        return true;
    }
    removed.append(&mut inside);
    let last_kept = flags.iter().rposition(|goes| !*goes).unwrap_or(0);
    let ends_in_comma = is_punct(list.last(), ',');
    let mut rest = list;
    for (index, part) in parts.iter().enumerate() {
        let comma = rest.get(part.len());
        // A comma goes with the part before it; behind the last part that stays, it goes only if
        // nothing follows.
        let is_last = index == last_kept && index + 1 < parts.len() && !ends_in_comma;
        if flags[index] {
            removed.extend_from_slice(part);
        }
        if flags[index] || is_last {
            removed.extend(comma.cloned());
        }
        rest = rest.get(part.len() + 1..).unwrap_or_default();
    }
    false
}

/// The tokens in the parentheses after this word, if nothing else is there.
fn list_of(trees: &[TokenTree], key: &str) -> Option<Vec<TokenTree>> {
    match trees {
        [TokenTree::Ident(word), TokenTree::Group(list)]
            if word == key && list.delimiter() == Delimiter::Parenthesis =>
        {
            Some(content(list))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::rust::tokens::FileTokens;

    fn with_written<T>(text: &str, then: impl FnOnce(&[&[TokenTree]], Spans) -> T) -> T {
        let tokens = FileTokens::of(text.as_bytes()).unwrap();
        then(&tokens.trees.chunks(2).collect::<Vec<_>>(), tokens.spans)
    }

    #[test]
    fn attributes_have_their_conditions() {
        let text =
            "#[a] #[cfg_attr(unix, b(1), cfg_attr(feature = \"x\", c, d = 2,))] #[cfg_attr(y,)]";
        let shown = with_written(text, |written, _| {
            let all = Attribute::all(written);
            all.iter()
                .map(|one| format!("{} {}", one.conditions.join("+"), shown(&one.trees)))
                .collect::<Vec<_>>()
        });
        assert_eq!(shown, [" a", "unix b(1)", "unix+feature=\"x\" c", "unix+feature=\"x\" d=2"]);
    }

    #[test]
    fn presence_is_a_predicate() {
        for (text, known, expected) in [
            ("#[doc = \"x\"]", "", None),
            ("#[cfg(unix)]", "", Some("unix")),
            ("#[cfg(unix)] #[cfg(not(a))]", "", Some("all(unix,not(a))")),
            ("#[cfg_attr(a, cfg(b))]", "", Some("any(not(a),b)")),
            ("#[cfg_attr(a, cfg(b))]", "a", Some("b")),
            ("#[cfg(a)]", "a", None),
            ("#[cfg_attr(a, cfg_attr(b, cfg(c)))]", "", Some("any(not(all(a,b)),c)")),
        ] {
            let actual = with_written(text, |written, _| {
                presence(&Attribute::all(written), &[known.to_owned()])
            });
            assert_eq!(actual.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_stays_is_a_list() {
        for (text, expected) in [
            ("#[derive(X)]", ""),
            ("#[derive(X,)]", ""),
            ("#[derive(A, X)]", "#[derive(A )]"),
            ("#[derive(X, A)]", "#[derive( A)]"),
            ("#[derive(A, X, B)]", "#[derive(A,  B)]"),
            ("#[derive(A, X,)]", "#[derive(A, )]"),
            ("#[derive(A, X, X)]", "#[derive(A  )]"),
            ("#[cfg_attr(c, derive(X))]", ""),
            ("#[cfg_attr(c, derive(A, X))]", "#[cfg_attr(c, derive(A ))]"),
            ("#[cfg_attr(c, a, derive(X), protolog(b), d)]", "#[cfg_attr(c, a,   d)]"),
            ("#[cfg_attr(c, a, derive(X), protolog(b))]", "#[cfg_attr(c, a  )]"),
            ("#[cfg_attr(c, derive(X), protolog(b))]", ""),
            ("#[cfg_attr(c, cfg_attr(d, derive(X)), a)]", "#[cfg_attr(c,  a)]"),
            ("#[cfg_attr(c, cfg_attr(d, derive(X)), derive(X))]", ""),
            ("#[protolog(a)]", ""),
            ("#[cfg(a)]", "#[cfg(a)]"),
        ] {
            let starts: Vec<usize> = text.match_indices('X').map(|(at, _)| at).collect();
            let mut stays = text.to_owned();
            with_written(text, |written, spans| {
                let removed = Removal { spans, derives: &starts }.of(written[0]);
                for tree in removed.iter().rev() {
                    stays.replace_range(spans.of(tree), "");
                }
            });
            assert_eq!(stays, expected, "{text}");
        }
    }
}
