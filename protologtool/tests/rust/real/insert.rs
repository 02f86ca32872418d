//! Puts log calls before statements of real files.
//!
//! A call fits before each statement of a function that is no constant one. Its arguments are
//! constants, what the place is called, other log calls, and, before a function's first statement,
//! the sizes of its parameters.

use proc_macro2::Span;
use std::fmt::Write;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A file with calls in it.
pub(super) struct Inserted {
    pub(super) original: String,
    pub(super) text: String,
    pub(super) calls: usize,
}

/// A call is put before about one statement in so many.
const EVERY: u64 = 3;
const BEGIN: &str = "/*[*/";
const END: &str = "/*]*/";
const GROUPS: &str = "/*[*/#[derive(Clone, protolog_rt::ProtoLogGroup)] #[allow(dead_code, missing_docs)] pub(crate) enum InsertedLog { A, #[protolog(tag = \"b\")] B, #[protolog(enabled = false)] Off }/*]*/";

/// `rewritten` without what became of the calls and the groups.
pub(super) fn without_calls(rewritten: &str) -> String {
    let mut rest = rewritten;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (call, after) = after.split_once(END).expect("each call has an end");
        let is_rewritten = call.contains(", @0x") && !call.contains("text %");
        assert!(is_rewritten || call.contains("enum InsertedLog"), "not rewritten: {call}");
        out.push_str(before);
        // The expansion of the derive stands behind the enum.
        rest = match after.strip_prefix(" ::protolog_rt::__rewritten_groups!(") {
            Some(expansion) => expansion.split_once(";);").expect("its end").1,
            None => after,
        };
    }
    out + rest
}

/// Inserts calls into `original`; `seed` decides where. The crate's root gets the groups. None
/// where there is no place.
pub(super) fn insert(seed: &str, original: &str, is_root: bool) -> Option<Inserted> {
    let file = syn::parse_file(original).ok()?;
    let random = seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut places = Places { seed, original, random, calls: Vec::new(), count: 0 };
    places.visit_file(&file);
    if places.calls.is_empty() && !is_root {
        return None;
    }
    places.calls.sort();
    let (mut text, mut at) = (String::new(), 0);
    for (offset, call) in &places.calls {
        text = text + &original[at..*offset] + call;
        at = *offset;
    }
    text.push_str(&original[at..]);
    if is_root {
        text.push_str(GROUPS);
    }
    Some(Inserted { original: original.to_owned(), text, calls: places.count })
}

struct Places<'a> {
    seed: &'a str,
    original: &'a str,
    random: u64,
    calls: Vec<(usize, String)>,
    /// Messages; a call within another counts, too, and one of a disabled group does not.
    count: usize,
}

impl Places<'_> {
    fn random(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    fn call(&mut self, at: Span, parameters: &[String]) {
        let number = self.calls.len();
        let seed = self.seed;
        let (mut template, mut arguments) = (format!("text %% {seed} {number}"), String::new());
        for _ in 0..self.random(4) {
            let (conversion, argument) = match self.random(8) {
                0 => (" %d", "u8::MAX".to_owned()),
                1 => (" %s", "module_path!()".to_owned()),
                2 => (" %f", "{ let x = 1.5; x }".to_owned()),
                3 => (" %b", "(|a, b| a < b)(1, 2)".to_owned()),
                4 => (" %s", "(1, [2, 3]).0".to_owned()),
                5 => (" %x", "::core::mem::size_of::<(u8, u16)>()".to_owned()),
                6 => {
                    self.count += 1;
                    let inner = format!(
                        "::protolog_rt::w!(crate::InsertedLog::B, \"text %% {seed} {number} inner {}\")",
                        self.count
                    );
                    (" %d", format!("{{ {inner}; line!() }}"))
                }
                _ => match parameters.first() {
                    Some(name) => (" %d", format!("::core::mem::size_of_val(&{name})")),
                    None => (" %s", "stringify!(r)".to_owned()),
                },
            };
            template.push_str(conversion);
            let _ = write!(arguments, ", {argument}");
        }
        let group = ["A", "B", "Off"][self.random(3) as usize];
        self.count += usize::from(group != "Off");
        let level = ["v", "d", "i", "e", "wtf"][self.random(5) as usize];
        let template = if self.random(4) == 0 {
            format!("r#\"{template}\"#")
        } else {
            format!("\"{template}\"")
        };
        let call = format!(
            "{BEGIN}::protolog_rt::{level}!(crate::InsertedLog::{group}, {template}{arguments});{END}"
        );
        self.calls.push((at.byte_range().start, call));
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() {
            return;
        }
        let parameters: Vec<String> = signature.inputs.iter().filter_map(name_of).collect();
        if let Some(first) = block.stmts.first() {
            self.call(first.span(), &parameters);
        }
        self.visit_block(block);
    }
}

/// The name of a parameter.
fn name_of(parameter: &syn::FnArg) -> Option<String> {
    match parameter {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(pat) if pat.subpat.is_none() => Some(pat.ident.to_string()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => Some("self".to_owned()),
    }
}

impl<'ast> Visit<'ast> for Places<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        for statement in block.stmts.iter().skip(1) {
            // After a block on a condition, which may be the last statement there is, nothing fits.
            let is_conditional = self.original[statement.span().byte_range()].starts_with('#');
            if self.random(EVERY) == 0 && !is_conditional {
                self.call(statement.span(), &[]);
            }
        }
        visit::visit_block(self, block);
    }

    // Constants can't log.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, _: &'ast syn::ExprRepeat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
}
