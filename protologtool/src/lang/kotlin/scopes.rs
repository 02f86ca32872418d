//! The declarations of a file, each with the bytes in which its name has its meaning.
//!
//! Members of receivers (`with(x) { … }`) are not known.

use crate::lang::jvm::looks;
use std::collections::HashMap;
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
    /// A constant of an enum.
    EnumEntry,
    Type,
    /// A type parameter of a class, a function or a property.
    TypeParameter,
    Function,
}

impl DeclaredKind {
    fn is_variable(self) -> bool {
        !matches!(self, Self::Type | Self::TypeParameter | Self::Function)
    }
}

/// All declarations of a file.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    all: Vec<DeclaredName>,
    by_name: HashMap<String, Namesakes>,
    types: Nest,
    functions: Nest,
}

/// The declarations of one name.
#[derive(Debug, Default)]
struct Namesakes {
    /// Their positions, in the order of their keywords.
    positions: Vec<usize>,
    scopes: Nest,
}

/// Ranges of declarations, scopes or brackets, mostly within one another or apart.
#[derive(Debug, Default)]
pub(crate) struct Nest {
    /// By their starts; with the position of the declaration, and the index here of the range
    /// around it.
    ranges: Vec<(Range<usize>, usize, Option<usize>)>,
}

impl Nest {
    /// Those of `ranges`, with the positions of their owners.
    pub(crate) fn new(ranges: impl Iterator<Item = (Range<usize>, usize)>) -> Self {
        let mut ranges: Vec<_> = ranges.map(|(range, position)| (range, position, None)).collect();
        ranges.sort_by_key(|(range, ..)| (range.start, std::cmp::Reverse(range.end)));
        let mut open: Vec<usize> = Vec::new();
        for index in 0..ranges.len() {
            let start = ranges[index].0.start;
            while open.last().is_some_and(|last| ranges[*last].0.end <= start) {
                open.pop();
            }
            ranges[index].2 = open.last().copied();
            open.push(index);
        }
        Self { ranges }
    }

    /// The positions of those around `at`, the innermost first where they lie within one another.
    pub(crate) fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        let before = self.ranges.partition_point(|(range, ..)| range.start <= at);
        let outwards = std::iter::successors(before.checked_sub(1), |index| self.ranges[*index].2);
        let holding = outwards
            .inspect(|_| looks::count(1))
            .filter(move |index| self.ranges[*index].0.contains(&at));
        holding.map(|index| self.ranges[index].1)
    }
}

impl Scopes {
    /// With these declarations, outer ones before those within them.
    pub(crate) fn new(all: Vec<DeclaredName>) -> Self {
        let mut by_name: HashMap<String, Namesakes> = HashMap::new();
        for (position, declared) in all.iter().enumerate() {
            by_name.entry(declared.name.clone()).or_default().positions.push(position);
        }
        for namesakes in by_name.values_mut() {
            let positions = namesakes.positions.iter();
            namesakes.scopes = Nest::new(positions.map(|at| (all[*at].scope.clone(), *at)));
        }
        let of_kind = |kind: DeclaredKind| {
            let all = all.iter().enumerate();
            all.filter(move |(_, declared)| declared.kind == kind)
        };
        let types = of_kind(DeclaredKind::Type);
        let types = Nest::new(types.filter_map(|(at, it)| Some((it.body.clone()?, at))));
        let functions = of_kind(DeclaredKind::Function);
        let functions = Nest::new(functions.filter_map(|(at, it)| Some((it.value.clone()?, at))));
        Self { all, by_name, types, functions }
    }

    /// The innermost variable called `name` at `offset`.
    pub(crate) fn variable(&self, name: &str, offset: usize) -> Option<&DeclaredName> {
        self.innermost(name, offset, |it| it.kind.is_variable())
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
        self.functions_around(at).next()
    }

    /// The functions around the token at `at`, the innermost first.
    pub(crate) fn functions_around(&self, at: usize) -> impl Iterator<Item = &DeclaredName> {
        self.functions.around(at).map(|position| &self.all[position])
    }

    /// The declarations called `name`, in the order of their keywords.
    pub(crate) fn named<'n>(&'n self, name: &str) -> impl Iterator<Item = &'n DeclaredName> {
        let namesakes = self.by_name.get(name).into_iter();
        let positions = namesakes.flat_map(|it| &it.positions).inspect(|_| looks::count(1));
        positions.map(|position| &self.all[*position])
    }

    /// Returns whether the file declares more than one function called `name`.
    pub(crate) fn is_overloaded(&self, name: &str) -> bool {
        self.named(name).filter(|it| it.kind == DeclaredKind::Function).nth(1).is_some()
    }

    /// Returns whether the class around the function `declared` has another one of its name.
    pub(crate) fn is_overloaded_in_class(&self, declared: &DeclaredName) -> bool {
        let class = |offset| self.types_around(offset).next().map(|it| it.offset);
        let of_class = class(declared.offset);
        // Functions of one class have their meaning in the same stretch of the file.
        let namesakes = self.by_name.get(&declared.name).into_iter();
        let around = namesakes.flat_map(|it| it.scopes.around(declared.offset));
        let around = around.map(|position| &self.all[position]);
        let functions = around.filter(|it| it.kind == DeclaredKind::Function);
        functions.filter(|it| class(it.offset) == of_class).nth(1).is_some()
    }

    /// The constant `name` of the class or object `owner`.
    pub(crate) fn constant_of(&self, owner: &str, name: &str) -> Option<&DeclaredName> {
        let is_of = |it: &&DeclaredName| {
            it.kind == DeclaredKind::Constant && it.owner.as_deref() == Some(owner)
        };
        self.named(name).find(is_of)
    }

    /// The names of the classes and objects around `offset`, the innermost first.
    pub(crate) fn owners(&self, offset: usize) -> impl Iterator<Item = &str> {
        self.types_around(offset).map(|it| &*it.name)
    }

    /// The classes and objects around `offset`, the innermost first.
    pub(crate) fn types_around(&self, offset: usize) -> impl Iterator<Item = &DeclaredName> {
        self.types.around(offset).map(|position| &self.all[position])
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
        let around = self.by_name.get(name)?.scopes.around(offset);
        let wanted = around.filter(|position| is_wanted(&&self.all[*position]));
        let innermost = wanted.min_by_key(|position| (self.all[*position].scope.len(), *position));
        innermost.map(|position| &self.all[position])
    }
}
