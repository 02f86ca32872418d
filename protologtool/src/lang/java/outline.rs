//! The types of a file and their members, from tokens alone: which stretch of the file is which
//! declaration.
//!
//! ```text
//! class A { int x = f(); enum E { P, Q { … }; void g() {} } }
//! A: field · E: constant · constant · method
//! ```
//!
//! So only the declarations that hold calls need to be parsed. Brackets balance, by guess if need
//! be. For sources that javac accepts the outline is exact; of others every token still belongs to
//! at most one member, and parsing that reports the error.

use super::lexer::{Token, TokenKind};
use crate::lang::jvm::looks;
use std::ops::Range;

/// Types nested deeper than this are left to the members that hold them.
const MAX_DEPTH: usize = 64;

/// A type: an index into [`Outline::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TypeId(pub(crate) usize);

/// A member: an index into [`Outline::members`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MemberId(pub(crate) usize);

/// The types and members of a file, each in source order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub(crate) types: Vec<TypeDeclaration>,
    pub(crate) members: Vec<Member>,
}

/// A type that is no local one.
#[derive(Clone, Debug)]
pub(crate) struct TypeDeclaration {
    pub(crate) kind: TypeKind,
    /// Its simple name, as a byte range.
    pub(crate) name: Range<usize>,
    /// The type around it.
    pub(crate) outer: Option<TypeId>,
    /// The tokens between its name and its body: type parameters, components, supertypes.
    pub(crate) header: Range<usize>,
    pub(crate) is_private: bool,
    /// True if classes of other packages inherit it.
    pub(crate) is_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeKind {
    Class,
    Interface,
    Enum,
    Record,
    Annotation,
}

/// A member that is no type.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) kind: MemberKind,
    /// The type that it is a member of.
    pub(crate) owner: Option<TypeId>,
    /// All of it, as a range of bytes.
    pub(crate) range: Range<usize>,
    /// The same as a range of tokens.
    pub(crate) tokens: Range<usize>,
    /// The name of a method or a constant of an enum, as a byte range.
    pub(crate) name: Option<Range<usize>>,
    pub(crate) is_private: bool,
    pub(crate) is_static: bool,
    /// True if classes of other packages inherit it.
    pub(crate) is_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    /// A constant of an enum.
    Constant,
    Field,
    Method,
    Constructor,
    Initializer,
}

impl Outline {
    /// The outline of a file with these tokens, no comments among them; `partners` has for each
    /// opening bracket the index of the one that closes it.
    pub(crate) fn of(text: &[u8], tokens: &[Token], partners: &[u32]) -> Self {
        let mut reader = OutlineReader { text, tokens, partners, outline: Self::default() };
        let mut at = 0;
        while at < tokens.len() {
            at = match reader.word(at) {
                b"import" | b"package" => reader.find(at, tokens.len(), b';') + 1,
                _ => reader.declaration(at, tokens.len(), None, 0),
            };
        }
        reader.outline.add_implicit_class();
        reader.outline
    }

    /// Members that stand in no class are those of a class without a name, which gives them each
    /// other's names.
    fn add_implicit_class(&mut self) {
        let id = TypeId(self.types.len());
        let orphans = self.members.iter_mut().filter(|member| member.owner.is_none());
        let adopted = orphans.map(|member| member.owner = Some(id)).count();
        if adopted > 0 {
            let (kind, name, header) = (TypeKind::Class, 0..0, 0..0);
            let (is_private, is_open) = (false, false);
            self.types.push(TypeDeclaration {
                kind,
                name,
                outer: None,
                header,
                is_private,
                is_open,
            });
        }
    }

    /// The member that holds the byte at `offset`.
    pub(crate) fn member_at(&self, offset: usize) -> Option<MemberId> {
        let after = self.members.partition_point(|member| member.range.start <= offset);
        let index = after.checked_sub(1)?;
        self.members[index].range.contains(&offset).then_some(MemberId(index))
    }

    /// `of` and the types around it, innermost first.
    pub(crate) fn outwards(&self, of: Option<TypeId>) -> impl Iterator<Item = TypeId> {
        std::iter::successors(of, |id| self.types[id.0].outer)
    }

    /// The members of a type.
    pub(crate) fn members_of(&self, of: TypeId) -> impl Iterator<Item = (MemberId, &Member)> {
        let all = self.members.iter().enumerate();
        looks::count(all.len());
        all.filter(move |(_, member)| member.owner == Some(of))
            .map(|(at, member)| (MemberId(at), member))
    }
}

struct OutlineReader<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    partners: &'a [u32],
    outline: Outline,
}

/// The modifiers of a declaration.
#[derive(Clone, Copy, Default)]
struct Modifiers {
    is_private: bool,
    is_static: bool,
    /// True if it is public or protected.
    is_open: bool,
}

impl OutlineReader<'_> {
    /// The text of a word; empty for every other token and beyond the end.
    fn word(&self, at: usize) -> &[u8] {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => &self.text[token.range()],
            _ => b"",
        }
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Punct(punct))
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
    }

    /// The token after this one, or after the bracket that closes it.
    fn next(&self, at: usize) -> usize {
        match self.tokens[at].kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => self.partners[at] as usize + 1,
            _ => at + 1,
        }
    }

    /// The first `punct` from `at` on that is not within brackets; `end` if there is none.
    fn find(&self, mut at: usize, end: usize, punct: u8) -> usize {
        while at < end && !self.is(at, punct) {
            at = self.next(at);
        }
        at.min(end)
    }

    /// Reads the members of `owner` in a range of tokens.
    fn members(&mut self, mut at: usize, end: usize, owner: TypeId, depth: usize) {
        while at < end {
            at = self.declaration(at, end, Some(owner), depth);
        }
    }

    /// Reads the declaration that begins at `at`; where the next one does.
    fn declaration(
        &mut self,
        start: usize,
        end: usize,
        owner: Option<TypeId>,
        depth: usize,
    ) -> usize {
        if self.is(start, b';') || self.is(start, b'}') {
            return start + 1;
        }
        let (at, modifiers) = self.modifiers(start, end);
        if let Some((kind, name)) = self.type_head(at).filter(|_| depth < MAX_DEPTH) {
            return self.type_declaration(kind, name, end, owner, modifiers, depth);
        }
        let (kind, name, after) = self.member(at, end);
        let name = name.map(|name| self.tokens[name].range());
        self.add(kind, name, start..after.clamp(start + 1, end), owner, modifiers)
    }

    fn add(
        &mut self,
        kind: MemberKind,
        name: Option<Range<usize>>,
        tokens: Range<usize>,
        owner: Option<TypeId>,
        Modifiers { is_private, is_static, is_open }: Modifiers,
    ) -> usize {
        let after = tokens.end;
        let range = self.tokens[tokens.start].range().start..self.tokens[after - 1].range().end;
        self.outline.members.push(Member {
            kind,
            owner,
            range,
            tokens,
            name,
            is_private,
            is_static,
            is_open: is_open || kind == MemberKind::Constant || self.is_of_interface(owner),
        });
        after
    }

    /// Returns whether the members of a type are public without a word.
    fn is_of_interface(&self, owner: Option<TypeId>) -> bool {
        let kind = owner.map(|id| self.outline.types[id.0].kind);
        matches!(kind, Some(TypeKind::Interface | TypeKind::Annotation))
    }

    fn modifiers(&self, mut at: usize, end: usize) -> (usize, Modifiers) {
        let mut found = Modifiers::default();
        while at < end {
            match self.word(at) {
                b"private" => found.is_private = true,
                b"static" => found.is_static = true,
                b"public" | b"protected" => found.is_open = true,
                b"abstract" | b"final" | b"native" | b"synchronized" | b"transient"
                | b"volatile" | b"strictfp" | b"default" => {}
                b"sealed" if self.is_word(at + 1) => {}
                b"non" if self.is(at + 1, b'-') => at += 2,
                _ if self.is(at, b'@') && self.word(at + 1) != b"interface" => {
                    at = self.annotation(at);
                    continue;
                }
                _ => break,
            }
            at += 1;
        }
        (at.min(end), found)
    }

    /// The token after the annotation at `at`.
    fn annotation(&self, mut at: usize) -> usize {
        at += 2;
        while self.is(at, b'.') {
            at += 2;
        }
        if self.is(at, b'(') { self.next(at) } else { at }
    }

    /// The kind of the type that is declared at `at`, and the token that is its name.
    fn type_head(&self, at: usize) -> Option<(TypeKind, usize)> {
        let (kind, name) = match self.word(at) {
            b"class" => (TypeKind::Class, at + 1),
            b"interface" => (TypeKind::Interface, at + 1),
            b"enum" => (TypeKind::Enum, at + 1),
            b"record" if self.is(at + 2, b'(') || self.is(at + 2, b'<') => {
                (TypeKind::Record, at + 1)
            }
            _ if self.is(at, b'@') => (TypeKind::Annotation, at + 2),
            _ => return None,
        };
        self.is_word(name).then_some((kind, name))
    }

    fn type_declaration(
        &mut self,
        kind: TypeKind,
        name: usize,
        end: usize,
        outer: Option<TypeId>,
        modifiers: Modifiers,
        depth: usize,
    ) -> usize {
        let body = self.find(name, end, b'{');
        let id = TypeId(self.outline.types.len());
        self.outline.types.push(TypeDeclaration {
            kind,
            name: self.tokens[name].range(),
            outer,
            header: name + 1..body.max(name + 1),
            is_private: modifiers.is_private,
            is_open: modifiers.is_open || self.is_of_interface(outer),
        });
        if body >= end {
            return end;
        }
        let close = self.partners[body] as usize;
        let first =
            if kind == TypeKind::Enum { self.constants(body + 1, close, id) } else { body + 1 };
        self.members(first, close, id, depth + 1);
        close + 1
    }

    /// Reads the constants of an enum; where its other members begin.
    fn constants(&mut self, mut at: usize, end: usize, owner: TypeId) -> usize {
        while at < end {
            if self.is(at, b';') {
                return at + 1;
            }
            if self.is(at, b',') {
                at += 1;
                continue;
            }
            let (name, modifiers) = self.modifiers(at, end);
            let mut after = name;
            while after < end && !self.is(after, b',') && !self.is(after, b';') {
                after = self.next(after);
            }
            let range = (name < end && self.is_word(name)).then(|| self.tokens[name].range());
            at = self.add(
                MemberKind::Constant,
                range,
                at..after.clamp(at + 1, end),
                owner.into(),
                modifiers,
            );
        }
        end
    }

    /// The kind of the member whose modifiers end at `start`, the token that is its name, and the
    /// token after it.
    fn member(&self, start: usize, end: usize) -> (MemberKind, Option<usize>, usize) {
        if self.is(start, b'{') {
            return (MemberKind::Initializer, None, self.next(start));
        }
        let (mut at, mut angles) = (start, 0_usize);
        while at < end {
            match self.tokens[at].kind {
                TokenKind::Punct(b'@') => {
                    at = self.annotation(at);
                    continue;
                }
                TokenKind::Punct(b'<') => angles += 1,
                TokenKind::Punct(b'>') => angles = angles.saturating_sub(1),
                TokenKind::Punct(b'(') if angles == 0 => return self.method(start, at, end),
                TokenKind::Punct(b'{') => return (MemberKind::Constructor, None, self.next(at)),
                TokenKind::Punct(b',') if angles > 0 => {}
                TokenKind::Punct(b'=' | b',' | b';') => {
                    return (MemberKind::Field, None, self.find(at, end, b';') + 1);
                }
                _ => {}
            }
            at = self.next(at);
        }
        (MemberKind::Field, None, end)
    }

    /// A method or constructor whose parameters begin at `parameters`.
    fn method(
        &self,
        start: usize,
        parameters: usize,
        end: usize,
    ) -> (MemberKind, Option<usize>, usize) {
        let name = parameters.checked_sub(1).filter(|name| *name >= start && self.is_word(*name));
        let is_first =
            |name| name == start || name > start && self.is(name - 1, b'>') && self.is(start, b'<');
        let is_constructor =
            name.is_some_and(|name| is_first(name) && !self.returns_generic(start, name));
        let kind = if is_constructor { MemberKind::Constructor } else { MemberKind::Method };
        let mut at = self.next(parameters);
        let mut has_default = false;
        while at < end {
            match self.tokens[at].kind {
                TokenKind::Punct(b'@') => {
                    at = self.annotation(at);
                    continue;
                }
                TokenKind::Punct(b'{') if !has_default => return (kind, name, self.next(at)),
                TokenKind::Punct(b';') => return (kind, name, at + 1),
                TokenKind::Word => has_default |= self.word(at) == b"default",
                _ => {}
            }
            at = self.next(at);
        }
        (kind, name, end)
    }

    /// Returns whether more than type parameters stand between `start`, where a `<` is, and the
    /// name of a method.
    fn returns_generic(&self, start: usize, name: usize) -> bool {
        let mut depth = 0_usize;
        for at in start..name {
            match self.tokens[at].kind {
                TokenKind::Punct(b'<') => depth += 1,
                TokenKind::Punct(b'>') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1 < name;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::java::unit::Unit;

    /// `Type(member kind+name, …)` for each type.
    fn listing(text: &str) -> String {
        let unit = Unit::of(text.as_bytes());
        let name = |range: &Range<usize>| &text[range.clone()];
        let member = |member: &Member| {
            format!("{:?} {}", member.kind, member.name.as_ref().map_or("", name))
                .trim_end()
                .to_owned()
        };
        let outline = &unit.outline;
        let lines = outline.types.iter().enumerate().map(|(id, of)| {
            let members: Vec<String> =
                outline.members_of(TypeId(id)).map(|(_, it)| member(it)).collect();
            format!("{}: {}", name(&of.name), members.join(", "))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn members_of_every_kind() {
        let text = r#"
            package a; import b.C; @interface N { int x() default 1; int[] y() default {1, 2}; }
            @A(x = { 1 }) public final class B<T extends Map<A, B>> extends C<int[]> implements D {
                int a = 1, b[] = {1, 2}; Map<A, B> m; @A("(") Map<A, B[]> f(int x) throws E { }
                private static final Runnable r = new Runnable() { public void run() { class L {} } };
                B() { super(); } <X> B(X x) { } <X> X g() { return null; } <X> Map<X, X> h() { return null; }
                static { } { } int k()[] { return null; } native void n(); record record; ;
                non-sealed class S { } sealed interface I permits S { } record R<T>(int x, T y) { R { } int z() { return 1; } }
            }
            enum E { @A P, Q(1, 2) { void q() { } }, ; final int x; E(int... x) { } }
            enum F { } interface G { int X = 1; default void f() { } static <T> T g() { return null; } }
            void main() { } int top;"#;
        let expected = "\
N: Method x, Method y
B: Field, Field, Method f, Field, Constructor B, Constructor B, Method g, Method h, Initializer, Initializer, Method k, Method n, Field
S: 
I: 
R: Constructor, Method z
E: Constant P, Constant Q, Field, Constructor E
F: 
G: Field, Method f, Method g
: Method main, Field";
        assert_eq!(listing(text), expected);
    }

    #[test]
    fn no_token_belongs_to_two_members() {
        for text in [
            "class A { void f( { x(); } ) int }",
            "class { } enum",
            "@",
            "x ( ) = {",
            "class A { int a void f() {} }",
        ] {
            let unit = Unit::of(text.as_bytes());
            let members = &unit.outline.members;
            assert!(
                members.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start),
                "{text}"
            );
        }
    }
}
