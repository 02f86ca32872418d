//! The expansion of the derive: a call of `__group_enum!`, whose definition in `protolog_rt` holds
//! the code.

use super::parse::{Group, GroupEnum};
use crate::tokens::{ident, joint_colons, literal, macro_call, path, punct, with_commas};
use proc_macro::{Ident, Literal, Span, TokenStream, TokenTree};

/// `::protolog_rt::__group_enum! { AppLog; Net, 0, "AppLog::Net", "NET", true, false; … }`
pub(super) fn implementation(group_enum: &GroupEnum) -> TokenStream {
    let site = Span::call_site();
    let name = TokenTree::Ident(group_enum.name.clone()).into();
    let groups =
        group_enum.groups.iter().enumerate().flat_map(|(index, group)| {
            [described(&group_enum.name, index, group), punct(';', site)]
        });
    let input = [name, punct(';', site)].into_iter().chain(groups).collect();
    let runtime = group_enum
        .runtime
        .clone()
        .unwrap_or_else(|| [joint_colons(site), ident("protolog_rt", site)].into_iter().collect());
    macro_call(path(&runtime, &["__group_enum"], site), input, site)
}

fn described(group_enum: &Ident, index: usize, group: &Group) -> TokenStream {
    let site = Span::call_site();
    let name = plain(&group.name);
    let full = format!("{}::{name}", plain(group_enum));
    let text = |text: &str| literal(Literal::string(text), site);
    let tag = match &group.tag {
        Some(tag) => TokenTree::Literal(tag.clone()).into(),
        None => text(&name),
    };
    let parts = [
        TokenTree::Ident(group.name.clone()).into(),
        literal(Literal::usize_unsuffixed(index), site),
        text(&full),
        tag,
        ident(if group.enabled { "true" } else { "false" }, site),
        ident(if group.log_to_text { "true" } else { "false" }, site),
    ];
    let sample = group.sample.iter().map(|rate| TokenTree::Literal(rate.clone()).into());
    let limit = group.limit.iter().map(|limit| {
        [ident("limit", site), TokenTree::Literal(limit.clone()).into()].into_iter().collect()
    });
    with_commas(parts.into_iter().chain(sample).chain(limit))
}

/// A name without the mark of raw identifiers.
fn plain(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}
