//! The meaning of a simple name at an offset of a file: a local declaration, a member of a type
//! around it, one that such a type inherits, or an import.
//!
//! Inherited members are known where the supertype is declared in the same file or in another
//! input. Of other supertypes nothing is known, and nothing is assumed to be hidden.

use super::fields;
use super::header::{has_component, has_type_parameter, supertype_names};
use super::library::Classes;
use super::locals::{LocalType, field_of};
use super::meaning::{Declared, Handle, MethodOwner, Site, Type, TypeRef, Variable};
use super::outline::{MemberKind, TypeId, TypeKind};
use super::scopes::Inherited;
use super::syntax::field_text;
use crate::lang::jvm::constants::ConstantEffort;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use tree_sitter::Node;

/// The limits on supertypes that need other supertypes to be found, and on types whose supertypes
/// are looked for at once.
const MAX_SUPERTYPES: (usize, usize) = (8, 100);

/// Looks names up in one file.
pub(crate) struct Resolver<'u> {
    pub(crate) unit: Handle<'u>,
    pub(crate) library: Option<&'u dyn Classes>,
    /// The package of the type that inherits the members looked for here.
    heir: Option<String>,
    memo: Memo<'u>,
    effort: Rc<Effort>,
}

/// The meanings of names in a type, and so in all its members.
#[derive(Default)]
struct Memo<'u> {
    variables: AnswersByName<Option<FieldResult<'u>>>,
    types: AnswersByName<Option<TypeOutside<'u>>>,
    methods: AnswersByName<bool>,
    /// The types that local classes extend, with their supertypes.
    extended: AnswersByName<Rc<Vec<TypeRef<'u>>>>,
    ancestry: RefCell<HashMap<TypeId, Rc<Vec<TypeRef<'u>>>>>,
}

type AnswersByName<T> = RefCell<HashMap<(Option<TypeId>, String), T>>;

/// The type that has a field, and its declaration.
type FieldResult<'u> = (TypeRef<'u>, Declared);

/// The meaning of a type's name outside of members.
#[derive(Clone)]
enum TypeOutside<'u> {
    Parameter,
    Declared(TypeRef<'u>),
}

/// The effort for the constants of the file that asks; the depth to which names of supertypes need
/// supertypes, and their number: classes may extend each other in circles.
struct Effort {
    constants: ConstantEffort,
    depth: Cell<usize>,
    steps: Cell<usize>,
}

impl<'u> Resolver<'u> {
    pub(crate) fn new(unit: Handle<'u>, library: Option<&'u dyn Classes>) -> Self {
        let constants = ConstantEffort::of_file(unit.text().len());
        let effort = Rc::new(Effort { constants, depth: Cell::new(0), steps: Cell::new(0) });
        Self { unit, library, heir: None, memo: Memo::default(), effort }
    }

    pub(crate) fn constants(&self) -> &ConstantEffort {
        &self.effort.constants
    }

    /// The variable, parameter, field or constant that `name` means.
    pub(crate) fn variable<'t>(&self, name: &str, site: Site<'_, 't>) -> Option<Variable<'u, 't>> {
        let local = site.locals.and_then(|locals| locals.variable(name, site.offset));
        let within = local.map_or(usize::MAX, |local| local.scope.len());
        // A field that the body of a local class inherits hides declarations around that body.
        let inherited = self.inherited_by_bodies(site, within, (Inherited::Variable, name), |of| {
            self.above(of).member_variable(of.id, name, true)
        });
        if let Some((of, member)) = inherited {
            return Some(Variable::Member(of, member));
        }
        if let Some(local) = local {
            return Some(Variable::Local(local.what));
        }
        let (of, member) = remember(&self.memo.variables, site.owner, name, || {
            let mut around = self.unit.outline.outwards(site.owner);
            around.find_map(|id| self.member_variable(id, name, false))
        })?;
        Some(Variable::Member(of, member))
    }

    /// The type or type parameter that the simple name `name` means, if it is declared in this file
    /// or inherited.
    pub(crate) fn declared_type<'t>(&self, name: &str, site: Site<'_, 't>) -> Option<Type<'u, 't>> {
        let local = site.locals.and_then(|locals| locals.declared_type(name, site.offset));
        let within = local.map_or(usize::MAX, |local| local.scope.len());
        let inherited = self.inherited_by_bodies(site, within, (Inherited::Type, name), |of| {
            self.above(of).member_type(of.id, name, true)
        });
        if let Some(found) = inherited {
            return Some(Type::Declared(found));
        }
        if let Some(local) = local {
            return Some(Type::Local(local.what));
        }
        let found =
            remember(&self.memo.types, site.owner, name, || self.type_outside(name, site.owner));
        found.map(|found| match found {
            TypeOutside::Parameter => Type::Parameter,
            TypeOutside::Declared(of) => Type::Declared(of),
        })
    }

    fn type_outside(&self, name: &str, owner: Option<TypeId>) -> Option<TypeOutside<'u>> {
        let mut around = self.unit.outline.outwards(owner);
        let found = around.find_map(|id| {
            if has_type_parameter(&self.unit, id, name) {
                return Some(TypeOutside::Parameter);
            }
            let own = (self.unit.name(id) == name).then(|| self.own(id));
            own.or_else(|| self.member_type(id, name, false)).map(TypeOutside::Declared)
        });
        let in_file =
            || self.unit.type_in(None, name).map(|id| TypeOutside::Declared(self.own(id)));
        found.or_else(in_file)
    }

    /// Returns whether a type around the site declares or inherits a method called `name`, which
    /// hides a static import.
    pub(crate) fn hides_method(&self, name: &str, site: Site<'_, '_>) -> bool {
        site.locals.is_some_and(|locals| locals.has_method(name, site.offset))
            || self.bodies_inherit_method(name, site)
            || remember(&self.memo.methods, site.owner, name, || {
                self.unit.outline.outwards(site.owner).any(|id| self.has_method(id, name, false))
            })
    }

    /// The type around the site whose method a call of `name` means.
    pub(crate) fn method_owner(&self, name: &str, site: Site<'_, '_>) -> MethodOwner {
        let is_local = site.locals.is_some_and(|locals| locals.has_method(name, site.offset))
            || self.bodies_inherit_method(name, site);
        if is_local {
            return MethodOwner::Other;
        }
        let outline = &self.unit.outline;
        let mut around = outline.outwards(site.owner);
        let Some(of) = around.find(|id| self.has_method(*id, name, false)) else {
            return MethodOwner::Nobody;
        };
        let is_own = outline.members_of(of).any(|(_, member)| {
            member.kind == MemberKind::Method
                && member.name.as_ref().is_some_and(|of| self.unit.str(of) == name)
        });
        if is_own { MethodOwner::Type(of) } else { MethodOwner::Other }
    }

    /// Returns whether another input declares a type of this name in this file's package.
    pub(crate) fn is_in_package(&self, name: &str) -> bool {
        self.library.is_some_and(|library| {
            let names = &self.unit.names;
            library.class(&names.canonical(name)).is_some()
                || library.secondary(&names.package, name).is_some()
        })
    }

    /// Returns whether a class of the inputs declares or inherits a method of this name.
    pub(crate) fn may_have_method(&self, canonical: &str, name: &str) -> bool {
        let Some(Type::Declared(of)) = self.class(canonical) else { return false };
        self.beside(&of).has_method(of.id, name, false)
    }

    /// A file of Kotlin that declares a method of this name, if a type around the site extends one
    /// that no Java file declares.
    pub(crate) fn method_of_kotlin(&self, owner: Option<TypeId>, name: &str) -> Option<PathBuf> {
        let mut around = self.unit.outline.outwards(owner);
        let extends = around.any(|id| {
            let known = self.supertypes(id).len();
            supertype_names(&self.unit, id).len() > known
                || self.ancestry(id).iter().any(|of| {
                    supertype_names(&of.unit, of.id).len() > self.beside(of).supertypes(of.id).len()
                })
        });
        extends.then(|| self.library?.method_of_kotlin(name))?
    }

    /// The type that `written`, simple or qualified, means, as far as it is declared in an input.
    pub(crate) fn type_named<'t>(&self, written: &str, site: Site<'_, 't>) -> Option<Type<'u, 't>> {
        let (first, rest) = written.split_once('.').map_or((written, None), |(a, b)| (a, Some(b)));
        let found = match self.declared_type(first, site) {
            Some(found) => found,
            None => match self.imported_type(first) {
                Some(found) => Type::Declared(found),
                None => return self.other_class(written).map(Type::Declared),
            },
        };
        rest.into_iter().flat_map(|rest| rest.split('.')).try_fold(found, |outer, name| match outer
        {
            Type::Declared(outer) => {
                let inner = self.beside(&outer).member_type(outer.id, name, false)?;
                Some(Type::Declared(inner))
            }
            Type::Local(LocalType::Declared(outer)) => {
                let inner = member_type(outer, name, self.unit.text())?;
                Some(Type::Local(LocalType::Declared(inner)))
            }
            _ => None,
        })
    }

    /// The field or constant called `name` of a type, inherited ones included.
    pub(crate) fn field<'t>(&self, of: Type<'u, 't>, name: &str) -> Option<Variable<'u, 't>> {
        match of {
            Type::Declared(of) => {
                let found = self.beside(&of).member_variable(of.id, name, false)?;
                Some(Variable::Member(found.0, found.1))
            }
            Type::Local(LocalType::Declared(of)) => {
                field_of(of, name, self.unit.text()).map(Variable::Local)
            }
            _ => None,
        }
    }

    /// The class of another input, or of this file, with this canonical name.
    pub(crate) fn class<'t>(&self, canonical: &str) -> Option<Type<'u, 't>> {
        let mut types = (0..self.unit.outline.types.len()).map(TypeId);
        let own = types.find(|id| self.unit.canonical(*id) == canonical).map(|id| self.own(id));
        own.or_else(|| self.other_class(canonical)).map(Type::Declared)
    }

    /// A resolver for the file of `of`.
    pub(crate) fn beside(&self, of: &TypeRef<'u>) -> Self {
        Self { effort: self.effort.clone(), ..Self::new(of.unit.clone(), self.library) }
    }

    /// A resolver for the file of a supertype, which knows only what this file's types inherit.
    fn above(&self, of: &TypeRef<'u>) -> Self {
        Self { heir: Some(self.unit.names.package.clone()), ..self.beside(of) }
    }

    /// Returns whether a type of the heir's package inherits what is declared like this.
    fn reaches(&self, is_private: bool, is_open: bool) -> bool {
        let is_near = self.heir.as_ref().is_none_or(|heir| *heir == self.unit.names.package);
        !is_private && (is_open || is_near)
    }

    fn own(&self, id: TypeId) -> TypeRef<'u> {
        TypeRef { unit: self.unit.clone(), id }
    }

    fn bodies_inherit_method(&self, name: &str, site: Site<'_, '_>) -> bool {
        let has = |of: &TypeRef<'u>| self.above(of).has_method(of.id, name, true).then_some(());
        self.inherited_by_bodies(site, usize::MAX, (Inherited::Method, name), has).is_some()
    }

    /// The first that `find` gives for a type that the body of a local class extends, directly or
    /// not; of the innermost body around the site that has one, if it is smaller than `within`.
    fn inherited_by_bodies<T>(
        &self,
        site: Site<'_, '_>,
        within: usize,
        member: (Inherited, &str),
        find: impl Fn(&TypeRef<'u>) -> Option<T>,
    ) -> Option<T> {
        let of = |names: &[String]| {
            let extended = names.iter().map(|name| self.extended(name, site));
            extended.collect::<Vec<_>>().iter().flat_map(|all| all.iter()).find_map(&find)
        };
        let body =
            site.locals?.bodies().inheriting(site.offset, member, |names| of(names).is_some());
        of(&body.filter(|body| body.scope.len() < within)?.what)
    }

    /// The type `name` with all its supertypes, as far as they are known, for a local class that
    /// extends it.
    fn extended(&self, name: &str, site: Site<'_, '_>) -> Rc<Vec<TypeRef<'u>>> {
        remember(&self.memo.extended, site.owner, name, || {
            let Some(Type::Declared(of)) = self.type_named(name, Site { locals: None, ..site })
            else {
                return Rc::default();
            };
            let ancestry = self.beside(&of).ancestry(of.id);
            Rc::new(std::iter::once(of).chain(ancestry.iter().cloned()).collect())
        })
    }

    fn imported_type(&self, name: &str) -> Option<TypeRef<'u>> {
        let names = &self.unit.names;
        if let Some(import) = names.imported(name) {
            return self.other_class(import);
        }
        if let Some(found) = self.other_class(&names.canonical(name)) {
            return Some(found);
        }
        if let Some((unit, id)) = self.library?.secondary(&names.package, name) {
            return Some(TypeRef { unit: Handle::Other(unit), id });
        }
        let outer = names.wildcard.iter().chain(&names.static_wildcard);
        outer.into_iter().find_map(|outer| self.other_class(&format!("{outer}.{name}")))
    }

    fn other_class(&self, canonical: &str) -> Option<TypeRef<'u>> {
        let (unit, id) = self.library?.class(canonical)?;
        Some(TypeRef { unit: Handle::Other(unit), id })
    }

    /// The types that a type extends and implements, where they are known.
    fn supertypes(&self, id: TypeId) -> Vec<TypeRef<'u>> {
        let steps = &self.effort.steps;
        if steps.get() >= MAX_SUPERTYPES.1 {
            return Vec::new();
        }
        steps.set(steps.get() + 1);
        let unit = &self.unit;
        let site = Site {
            offset: unit.outline.types[id.0].name.start,
            owner: unit.outline.types[id.0].outer,
            locals: None,
        };
        let names = supertype_names(unit, id);
        let types = names.iter().filter_map(|name| match self.type_named(name, site)? {
            Type::Declared(found) => Some(found),
            _ => None,
        });
        types.collect()
    }

    /// The first that `find` gives for a supertype of `id`.
    fn inherited<T>(&self, id: TypeId, find: impl Fn(&Self, TypeId) -> Option<T>) -> Option<T> {
        self.ancestry(id).iter().find_map(|of| find(&self.above(of), of.id))
    }

    /// All supertypes of a type that are known, the near ones first.
    fn ancestry(&self, id: TypeId) -> Rc<Vec<TypeRef<'u>>> {
        if let Some(known) = self.memo.ancestry.borrow().get(&id) {
            return known.clone();
        }
        // A question within the search gets an empty answer: a type is no supertype of its own.
        self.memo.ancestry.borrow_mut().insert(id, Rc::default());
        let depth = &self.effort.depth;
        if depth.get() >= MAX_SUPERTYPES.0 {
            return Rc::default();
        }
        if depth.get() == 0 {
            self.effort.steps.set(0);
        }
        depth.set(depth.get() + 1);
        let mut found = self.supertypes(id);
        let mut next = 0;
        while next < found.len() {
            let of = found[next].clone();
            let more = self.beside(&of).supertypes(of.id);
            let is_new = |other: &TypeRef<'u>| !found.iter().any(|known| known.is(other));
            let more: Vec<_> = more.into_iter().filter(is_new).collect();
            found.extend(more);
            next += 1;
        }
        depth.set(depth.get() - 1);
        let found = Rc::new(found);
        self.memo.ancestry.borrow_mut().insert(id, found.clone());
        found
    }

    fn member_variable(
        &self,
        id: TypeId,
        name: &str,
        is_inherited: bool,
    ) -> Option<FieldResult<'u>> {
        let declared = self.own_variable(id, name).filter(|declared| match declared {
            Declared::Member(id) => {
                let member = &self.unit.outline.members[id.0];
                !is_inherited || self.reaches(member.is_private, member.is_open)
            }
            Declared::Component => !is_inherited,
        });
        if let Some(declared) = declared {
            return Some((self.own(id), declared));
        }
        if is_inherited {
            return None;
        }
        self.inherited(id, |resolver, id| resolver.member_variable(id, name, true))
    }

    /// The field, constant or component called `name` that the type itself declares.
    fn own_variable(&self, id: TypeId, name: &str) -> Option<Declared> {
        let unit = &*self.unit;
        let found = unit.fields_with(id, name).iter().find(|at| {
            let member = &unit.outline.members[at.0];
            match member.kind {
                MemberKind::Constant => member.name.as_ref().is_some_and(|of| unit.str(of) == name),
                // A type or a value may have that name, too: only the parser knows.
                _ => fields::declares(unit, **at, name),
            }
        });
        let member = found.map(|at| Declared::Member(*at));
        member.or_else(|| has_component(unit, id, name).then_some(Declared::Component))
    }

    fn member_type(&self, id: TypeId, name: &str, is_inherited: bool) -> Option<TypeRef<'u>> {
        let own = self.unit.type_in(Some(id), name);
        let is_visible = |id: &TypeId| {
            let declared = &self.unit.outline.types[id.0];
            !is_inherited || self.reaches(declared.is_private, declared.is_open)
        };
        if let Some(own) = own.filter(is_visible) {
            return Some(self.own(own));
        }
        if is_inherited {
            return None;
        }
        self.inherited(id, |resolver, id| resolver.member_type(id, name, true))
    }

    fn has_method(&self, id: TypeId, name: &str, is_inherited: bool) -> bool {
        let outline = &self.unit.outline;
        let is_interface = outline.types[id.0].kind == TypeKind::Interface;
        let own = outline.members_of(id).any(|(_, member)| {
            member.kind == MemberKind::Method
                && member.name.as_ref().is_some_and(|of| self.unit.str(of) == name)
                && (!is_inherited
                    || self.reaches(member.is_private, member.is_open)
                        && !(is_interface && member.is_static))
        });
        let has = |resolver: &Self, id| resolver.has_method(id, name, true).then_some(());
        own || !is_inherited && self.inherited(id, has).is_some()
    }
}

fn remember<T: Clone>(
    known: &AnswersByName<T>,
    owner: Option<TypeId>,
    name: &str,
    find: impl FnOnce() -> T,
) -> T {
    let key = (owner, name.to_owned());
    if let Some(known) = known.borrow().get(&key) {
        return known.clone();
    }
    let found = find();
    known.borrow_mut().insert(key, found.clone());
    found
}

fn member_type<'t>(outer: Node<'t>, name: &str, text: &[u8]) -> Option<Node<'t>> {
    let body = outer.child_by_field_name("body")?;
    super::syntax::members(body).find(|node| {
        super::syntax::is_type_declaration(*node) && field_text(*node, "name", text) == name
    })
}
