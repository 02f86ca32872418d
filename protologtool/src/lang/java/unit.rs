//! A compilation unit that was read but not parsed: tokens, package, imports, outline.

use super::brackets::{self, Fault};
use super::escapes::Translated;
use super::lexer::{self, Token, TokenKind};
use super::names::Names;
use super::outline::{MemberId, MemberKind, Outline, TypeId};
use crate::lang::jvm::looks;
use protolog_core::hash;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A file. All ranges and offsets are of its [`text`](Self::text).
#[derive(Clone, Debug)]
pub(crate) struct Unit<'s> {
    text: Cow<'s, [u8]>,
    translated: Option<Translated>,
    /// All tokens but comments.
    pub(crate) tokens: Vec<Token>,
    /// For each opening bracket the index of the token that closes it; for other tokens nothing of
    /// use.
    pub(crate) partners: Vec<u32>,
    pub(crate) names: Names,
    /// A guess where brackets do not balance.
    pub(crate) outline: Outline,
    /// The reasons for brackets that do not balance in the file; the tokens are
    /// [repaired](brackets::repaired) then.
    pub(crate) faults: Vec<Fault>,
    /// The names that tokens look like declarations of arrays of. Made when one is asked for.
    arrays: OnceLock<HashSet<String>>,
    fields: Fields,
    /// The types by their owners and the hashes of their names, in their order.
    types: OnceLock<TypesByName>,
}

type TypesByName = HashMap<(Option<TypeId>, u64), Vec<TypeId>>;

/// The names that a field declares, with their types as they are written; none for an array.
pub(super) type FieldTypes = HashMap<String, Option<String>>;

/// The fields of a file, as far as somebody has asked for them.
#[derive(Debug, Default)]
struct Fields {
    /// By their types, and the hashes of their words.
    by_word: OnceLock<HashMap<(TypeId, u64), Vec<MemberId>>>,
    types: Mutex<HashMap<MemberId, Arc<FieldTypes>>>,
}

/// A copy finds them itself.
impl Clone for Fields {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<'s> Unit<'s> {
    /// Reads a file.
    pub(crate) fn of(bytes: &'s [u8]) -> Self {
        Self::read(Cow::Borrowed(bytes))
    }

    /// Reads a file whose bytes nobody else keeps.
    pub(crate) fn owned(bytes: Vec<u8>) -> Unit<'static> {
        let mut unit = Unit::read(Cow::Owned(bytes));
        unit.tokens.shrink_to_fit();
        unit.partners.shrink_to_fit();
        unit
    }

    fn read(bytes: Cow<'s, [u8]>) -> Self {
        let translated = Translated::of(&bytes);
        let text = translated.as_ref().map_or(&*bytes, |translated| &translated.bytes);
        let Spare { mut tokens, mut partners } = SPARE.take();
        tokens.clear();
        tokens.extend(lexer::tokens(text).filter(|token| token.kind != TokenKind::Comment));
        let names = Names::of(text, &tokens);
        let mut faults = Vec::new();
        if !brackets::pair(&tokens, &mut partners) {
            (tokens, faults) = brackets::repaired(text);
            brackets::pair(&tokens, &mut partners);
        }
        let outline = Outline::of(text, &tokens, &partners);
        Self {
            text: bytes,
            translated,
            tokens,
            partners,
            names,
            outline,
            faults,
            arrays: OnceLock::new(),
            fields: Fields::default(),
            types: OnceLock::new(),
        }
    }

    /// The text, with `\u` escapes translated if they matter.
    pub(crate) fn text(&self) -> &[u8] {
        self.translated.as_ref().map_or(&self.text, |translated| &translated.bytes)
    }

    /// Returns whether the text differs from the file.
    pub(crate) fn is_translated(&self) -> bool {
        self.translated.is_some()
    }

    /// The bytes of the file that the bytes `range` of the text come from.
    pub(crate) fn origin(&self, range: Range<usize>) -> Range<usize> {
        match &self.translated {
            Some(translated) => translated.origins(range),
            None => range,
        }
    }

    /// Returns whether tokens look like a declaration of an array called `name`: `] name`,
    /// `... name` or `name []`.
    pub(crate) fn may_be_array(&self, name: &str) -> bool {
        self.arrays.get_or_init(|| self.names_of_arrays()).contains(name)
    }

    /// One walk over all tokens, however many calls ask for one of the names.
    fn names_of_arrays(&self) -> HashSet<String> {
        let is = |at: Option<usize>, byte| {
            let token = at.and_then(|at| self.tokens.get(at));
            token.is_some_and(|token| token.kind == TokenKind::Punct(byte))
        };
        let is_array = |at: usize| {
            is(at.checked_sub(1), b']')
                || is(at.checked_sub(1), b'.') && is(at.checked_sub(2), b'.')
                || is(Some(at + 1), b'[') && is(Some(at + 2), b']')
        };
        let words = self.tokens.iter().enumerate().filter(|(_, it)| it.kind == TokenKind::Word);
        let arrays = words.filter(|(at, _)| is_array(*at));
        arrays.map(|(_, token)| self.str(&token.range()).to_owned()).collect()
    }

    /// The text of `range`, where it is UTF-8.
    pub(crate) fn str(&self, range: &Range<usize>) -> &str {
        self.text().get(range.clone()).map_or("", |text| std::str::from_utf8(text).unwrap_or(""))
    }

    /// A type's simple name.
    pub(crate) fn name(&self, id: TypeId) -> &str {
        self.str(&self.outline.types[id.0].name)
    }

    /// A type's canonical name.
    pub(crate) fn canonical(&self, id: TypeId) -> String {
        let mut path: Vec<&str> = self.outline.outwards(Some(id)).map(|id| self.name(id)).collect();
        path.reverse();
        self.names.canonical(&path.join("."))
    }

    /// The type called `name` in `outer`, or the top-level one.
    pub(crate) fn type_in(&self, outer: Option<TypeId>, name: &str) -> Option<TypeId> {
        let known = self.types.get_or_init(|| self.types_by_name());
        let all = known.get(&(outer, hash(name.as_bytes()))).map_or(&[][..], Vec::as_slice);
        looks::count(all.len());
        all.iter().copied().find(|id| self.str(&self.outline.types[id.0].name) == name)
    }

    fn types_by_name(&self) -> TypesByName {
        let mut found = TypesByName::new();
        looks::count(self.outline.types.len());
        for (at, declared) in self.outline.types.iter().enumerate() {
            let name = hash(&self.text()[declared.name.clone()]);
            found.entry((declared.outer, name)).or_default().push(TypeId(at));
        }
        found
    }

    /// The hashes of the names that something within a member may declare, by its tokens: its own
    /// name and the names that calls begin with or pass as their first argument declare nothing.
    pub(crate) fn may_declare(&self, member: MemberId) -> HashSet<u64> {
        let text = self.text();
        let range = self.outline.members[member.0].tokens.clone();
        let is = |index: usize, puncts: &[u8]| {
            let token = self.tokens[range.clone()].get(index);
            token.is_some_and(
                |token| matches!(token.kind, TokenKind::Punct(byte) if puncts.contains(&byte)),
            )
        };
        let word = |index: usize| {
            let token = self.tokens[range.clone()].get(index)?;
            (token.kind == TokenKind::Word).then(|| &text[token.range()])
        };
        let declares = |at: usize| {
            let before = |count: usize| at.checked_sub(count);
            let after = |puncts| before(1).is_some_and(|at| is(at, puncts));
            let word_before = |count| before(count).and_then(word);
            if is(at + 1, b"(") {
                // A method or record of this name comes after a type, a call after anything else.
                let statement = [&b"else"[..], b"do", b"return", b"yield"];
                return after(b">]") || word_before(1).is_some_and(|it| !statement.contains(&it));
            }
            // `d(NET, …`: parameter lists have types, or no name before them.
            let is_first_argument = is(at + 1, b",") && after(b"(") && word_before(2).is_some();
            !is(at + 1, b".") && !after(b".") && !is_first_argument
        };
        let tokens = &self.tokens[range.clone()];
        looks::count(tokens.len());
        let words = tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word);
        let declared = words.filter(|(at, _)| declares(*at));
        declared.map(|(_, token)| hash(&text[token.range()])).collect()
    }

    /// The fields and constants of a type that have the word `name`, or another one of the same
    /// hash, in their order.
    pub(crate) fn fields_with(&self, of: TypeId, name: &str) -> &[MemberId] {
        let fields = self.fields.by_word.get_or_init(|| self.fields_by_word());
        fields.get(&(of, hash(name.as_bytes()))).map_or(&[], Vec::as_slice)
    }

    fn fields_by_word(&self) -> HashMap<(TypeId, u64), Vec<MemberId>> {
        let mut found: HashMap<_, Vec<MemberId>> = HashMap::new();
        for (at, member) in self.outline.members.iter().enumerate() {
            let is_field = matches!(member.kind, MemberKind::Field | MemberKind::Constant);
            let Some(owner) = member.owner.filter(|_| is_field) else { continue };
            looks::count(member.tokens.len());
            for token in &self.tokens[member.tokens.clone()] {
                if token.kind == TokenKind::Word {
                    let all = found.entry((owner, hash(&self.text()[token.range()]))).or_default();
                    if all.last() != Some(&MemberId(at)) {
                        all.push(MemberId(at));
                    }
                }
            }
        }
        found
    }

    /// The declarations of the field `member`, as `read` gives them at the first question.
    pub(super) fn field_types(
        &self,
        member: MemberId,
        read: impl FnOnce(&Self, MemberId) -> FieldTypes,
    ) -> Arc<FieldTypes> {
        let known = || self.fields.types.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&member) {
            return found.clone();
        }
        let found = Arc::new(read(self, member));
        known().insert(member, found.clone());
        found
    }
}

/// Files come one after the other, and their tokens are many: they share memory.
impl Drop for Unit<'_> {
    fn drop(&mut self) {
        let tokens = std::mem::take(&mut self.tokens);
        let partners = std::mem::take(&mut self.partners);
        if tokens.capacity() <= MAX_SPARE {
            SPARE.set(Spare { tokens, partners });
        }
    }
}

/// The largest token buffer that is worth keeping.
const MAX_SPARE: usize = 1 << 18;

thread_local! {
    static SPARE: Cell<Spare> = const { Cell::new(Spare { tokens: Vec::new(), partners: Vec::new() }) };
}

#[derive(Default)]
struct Spare {
    tokens: Vec<Token>,
    partners: Vec<u32>,
}
