//! The declarations of a file, each with the bytes in which its name has its meaning.
//!
//! Members of receivers (`with(x) { … }`) are not known.

use std::ops::Range;

/// One declaration.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredName {
    pub(crate) name: String,
    pub(crate) kind: DeclaredKind,
    /// The first byte of the name.
    pub(crate) offset: usize,
    /// The bytes in which the name means this.
    pub(crate) scope: Range<usize>,
    /// The type as it is written, without white space.
    pub(crate) written_type: Option<String>,
    /// The tokens of its initial value; of a function those from its name to its end.
    pub(crate) value: Option<Range<usize>>,
    /// The class or object around it; of a companion the class that has it.
    pub(crate) owner: Option<String>,
    /// The bytes of the body of a class.
    pub(crate) body: Option<Range<usize>>,
    /// The simple names of the classes and interfaces that a class with a body extends.
    pub(crate) supertypes: Vec<String>,
    /// True for the companion of a class.
    pub(crate) is_companion: bool,
}

/// The kinds of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclaredKind {
    /// A parameter of a function or a lambda.
    Parameter,
    /// The last parameter of a function, which takes any number of values.
    Vararg,
    /// A variable within a function.
    Local,
    /// A variable of a class or of the file.
    Property,
    Constant,
    Type,
    Function,
}

/// All declarations of a file.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    all: Vec<DeclaredName>,
}

impl Scopes {
    /// With these declarations, outer ones before those within them.
    pub(crate) fn new(all: Vec<DeclaredName>) -> Self {
        Self { all }
    }

    /// The innermost variable called `name` at `offset`.
    pub(crate) fn variable(&self, name: &str, offset: usize) -> Option<&DeclaredName> {
        let is_variable =
            |it: &&DeclaredName| !matches!(it.kind, DeclaredKind::Type | DeclaredKind::Function);
        self.innermost(name, offset, is_variable)
    }

    /// The innermost class, interface, object or other name of a type called `name` at `offset`.
    pub(crate) fn type_named(&self, name: &str, offset: usize) -> Option<&DeclaredName> {
        self.innermost(name, offset, |it| it.kind == DeclaredKind::Type)
    }

    /// The innermost function called `name` at `offset`.
    pub(crate) fn function(&self, name: &str, offset: usize) -> Option<&DeclaredName> {
        self.innermost(name, offset, |it| it.kind == DeclaredKind::Function)
    }

    /// The innermost function around the token at `at`.
    pub(crate) fn function_around(&self, at: usize) -> Option<&DeclaredName> {
        let functions = self.all.iter().filter(|it| it.kind == DeclaredKind::Function);
        let around = functions.filter(|it| it.value.as_ref().is_some_and(|it| it.contains(&at)));
        around.min_by_key(|it| it.value.as_ref().map(Range::len))
    }

    /// Returns whether the file declares more than one function called `name`.
    pub(crate) fn is_overloaded(&self, name: &str) -> bool {
        let is_one = |it: &&DeclaredName| it.kind == DeclaredKind::Function && it.name == name;
        self.all.iter().filter(is_one).count() > 1
    }

    /// Returns whether the class around the function `declared` has another one of its name.
    pub(crate) fn is_overloaded_in_class(&self, declared: &DeclaredName) -> bool {
        let class = |offset| self.types_around(offset).next().map(|it| it.offset);
        let is_one = |it: &&DeclaredName| {
            it.kind == DeclaredKind::Function
                && it.name == declared.name
                && class(it.offset) == class(declared.offset)
        };
        self.all.iter().filter(is_one).count() > 1
    }

    /// The constant `name` of the class or object `owner`.
    pub(crate) fn constant_of(&self, owner: &str, name: &str) -> Option<&DeclaredName> {
        self.all.iter().find(|it| {
            it.kind == DeclaredKind::Constant
                && it.name == name
                && it.owner.as_deref() == Some(owner)
        })
    }

    /// The names of the classes and objects around `offset`, the innermost first.
    pub(crate) fn owners(&self, offset: usize) -> impl Iterator<Item = &str> {
        self.types_around(offset).map(|it| &*it.name)
    }

    /// The classes and objects around `offset`, the innermost first.
    pub(crate) fn types_around(&self, offset: usize) -> impl Iterator<Item = &DeclaredName> {
        let around = move |it: &&DeclaredName| {
            it.kind == DeclaredKind::Type
                && it.body.as_ref().is_some_and(|body| body.contains(&offset))
        };
        self.all.iter().rev().filter(around)
    }

    /// All declarations, in the order of their keywords.
    pub(crate) fn all(&self) -> &[DeclaredName] {
        &self.all
    }

    fn innermost(
        &self,
        name: &str,
        offset: usize,
        is_wanted: impl Fn(&&DeclaredName) -> bool,
    ) -> Option<&DeclaredName> {
        let visible = self.all.iter().filter(|it| it.name == name && it.scope.contains(&offset));
        visible.filter(is_wanted).min_by_key(|it| it.scope.len())
    }
}
