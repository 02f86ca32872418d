//! The stretches of a member in which declarations are in scope, in an order in which the innermost
//! one around an offset is found without looking at all. Members that a program has written may
//! have thousands of one name, or classes nested hundreds deep.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Something and where it is in scope.
#[derive(Clone, Debug)]
pub(crate) struct Scoped<T> {
    pub(crate) scope: Range<usize>,
    pub(crate) what: T,
}

/// The declarations of one name. Of two that hold an offset the one that begins later is the inner
/// one, since each is around the other or beside it.
#[derive(Debug)]
pub(crate) struct ScopesOfName<T> {
    /// By start, the outer ones first.
    all: Vec<Scoped<T>>,
    /// For each the position of the one around it.
    around: Vec<Option<usize>>,
}

impl<T> Default for ScopesOfName<T> {
    fn default() -> Self {
        Self { all: Vec::new(), around: Vec::new() }
    }
}

impl<T> ScopesOfName<T> {
    pub(crate) fn add(&mut self, scope: Range<usize>, what: T) {
        self.all.push(Scoped { scope, what });
    }

    /// Makes all that were added known to [`Self::innermost`].
    pub(crate) fn sort(&mut self) {
        self.all.sort_by_key(|it| (it.scope.start, Reverse(it.scope.end)));
        let mut open: Vec<usize> = Vec::new();
        self.around.clear();
        for (at, it) in self.all.iter().enumerate() {
            while open.last().is_some_and(|last| self.all[*last].scope.end <= it.scope.start) {
                open.pop();
            }
            self.around.push(open.last().copied());
            open.push(at);
        }
    }

    /// The innermost that is in scope at `offset`, and the number of those that were looked at.
    fn search(&self, offset: usize) -> (Option<&Scoped<T>>, usize) {
        let before = self.all.partition_point(|it| it.scope.start <= offset).checked_sub(1);
        let mut looked_at = 0;
        let found = std::iter::successors(before, |at| self.around[*at]).find(|at| {
            looked_at += 1;
            self.all[*at].scope.end > offset
        });
        (found.map(|at| &self.all[at]), looked_at)
    }

    /// The innermost that is in scope at `offset`.
    pub(crate) fn innermost(&self, offset: usize) -> Option<&Scoped<T>> {
        self.search(offset).0
    }
}

/// The kind of member that a class may inherit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Inherited {
    Variable,
    Type,
    Method,
}

/// The bodies of local and anonymous classes, and of each the names of the types that it extends.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    /// In source order.
    all: Vec<Scoped<Vec<String>>>,
    /// For each the one around it.
    outer: Vec<Option<usize>>,
    /// By kind and name of a member: for each body the nearest one, itself or around it, that
    /// inherits such a member.
    nearest: RefCell<HashMap<(Inherited, String), Nearest>>,
}

/// The nearest body that has a property, for each body.
type Nearest = Rc<Vec<Option<usize>>>;

impl Bodies {
    /// Adds a body that begins after those before it.
    pub(crate) fn add(&mut self, scope: Range<usize>, extended: Vec<String>) {
        let mut outer = self.all.len().checked_sub(1);
        while let Some(at) = outer
            && self.all[at].scope.end <= scope.start
        {
            outer = self.outer[at];
        }
        self.outer.push(outer);
        self.all.push(Scoped { scope, what: extended });
    }

    /// The innermost body around `offset` that inherits a member, as far as its supertypes say so:
    /// `inherits` is asked once for each body and member.
    pub(crate) fn inheriting(
        &self,
        offset: usize,
        (kind, name): (Inherited, &str),
        inherits: impl Fn(&[String]) -> bool,
    ) -> Option<&Scoped<Vec<String>>> {
        let last = self.all.partition_point(|body| body.scope.start <= offset);
        let mut at = last.checked_sub(1)?;
        while self.all[at].scope.end <= offset {
            at = self.outer[at]?;
        }
        let nearest = self.nearest(kind, name, inherits);
        nearest[at].map(|at| &self.all[at])
    }

    fn nearest(
        &self,
        kind: Inherited,
        name: &str,
        inherits: impl Fn(&[String]) -> bool,
    ) -> Nearest {
        let key = (kind, name.to_owned());
        if let Some(known) = self.nearest.borrow().get(&key) {
            return known.clone();
        }
        let mut nearest: Vec<Option<usize>> = Vec::with_capacity(self.all.len());
        for (at, body) in self.all.iter().enumerate() {
            let of_outer = self.outer[at].and_then(|outer| nearest[outer]);
            nearest.push(if inherits(&body.what) { Some(at) } else { of_outer });
        }
        let nearest = Rc::new(nearest);
        self.nearest.borrow_mut().insert(key, nearest.clone());
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// So many scopes, each within the one before or after it.
    fn scopes(count: usize, nested: bool) -> ScopesOfName<usize> {
        let mut scopes = ScopesOfName::default();
        for at in 0..count {
            let scope = if nested { at..2 * count - at } else { 2 * at..2 * at + 1 };
            scopes.add(scope, at);
        }
        scopes.sort();
        scopes
    }

    #[test]
    fn the_innermost_of_all_that_hold_an_offset() {
        let mut scopes = ScopesOfName::default();
        for scope in [10..20, 0..30, 12..15, 12..18, 40..usize::MAX, 16..17] {
            scopes.add(scope.clone(), scope);
        }
        scopes.sort();
        let at = |offset| scopes.innermost(offset).map(|it| it.what.clone());
        assert_eq!([at(0), at(9), at(29)], [Some(0..30), Some(0..30), Some(0..30)]);
        assert_eq!([at(12), at(15), at(16)], [Some(12..15), Some(12..18), Some(16..17)]);
        assert_eq!([at(18), at(30), at(41)], [Some(10..20), None, Some(40..usize::MAX)]);
    }

    #[test]
    fn one_look_finds_it_among_many() {
        for nested in [false, true] {
            let scopes = scopes(1000, nested);
            let looks = (0..1000).map(|at| scopes.search(if nested { at } else { 2 * at }).1);
            assert_eq!(looks.sum::<usize>(), 1000);
            assert_eq!(self::scopes(1000, false).search(5000).1, 1, "none holds it");
        }
    }

    #[test]
    fn those_beside_an_offset_are_passed_over() {
        let mut scopes = ScopesOfName::default();
        scopes.add(0..10_000, "field");
        (0..1000).for_each(|at| scopes.add(2 * at..2 * at + 1, "parameter"));
        scopes.sort();
        let (found, looks) = scopes.search(9000);
        assert_eq!((found.map(|it| it.what), looks), (Some("field"), 2));
    }

    #[test]
    fn bodies_within_and_beside_each_other() {
        let mut bodies = Bodies::default();
        for (scope, extended) in [(0..100, "A"), (10..50, "B"), (20..30, "C"), (60..70, "C")] {
            bodies.add(scope, vec![extended.to_owned()]);
        }
        let asked = Cell::new(0);
        let at = |offset, wanted: &str| {
            let inherits = |names: &[String]| {
                asked.set(asked.get() + 1);
                names[0] == wanted
            };
            let found = bodies.inheriting(offset, (Inherited::Type, wanted), inherits);
            found.map(|body| body.scope.clone())
        };
        assert_eq!([at(25, "A"), at(65, "A"), at(100, "A")], [Some(0..100), Some(0..100), None]);
        assert_eq!([at(25, "B"), at(35, "B"), at(65, "B")], [Some(10..50), Some(10..50), None]);
        assert_eq!([at(25, "C"), at(35, "C"), at(65, "C")], [Some(20..30), None, Some(60..70)]);
        assert_eq!(asked.get(), 3 * 4, "each body is asked once for each name");
    }
}
