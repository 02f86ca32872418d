//! Values that come from outside: a field or method of a class that is neither in the jar nor in
//! [`platform`].
//!
//! ```java
//! static final class Consts {
//!     static final boolean DEBUG = true;
//!     static final boolean IS_ENG = Build.IS_ENG;   // not in the jar, and no group asks for it
//! }
//! ```
//!
//! The evaluation goes on, so that values that no group depends on do no harm, and a branch or a
//! group that needs such a value gets the fault that says where it came from.
//!
//! Invariant: no known value is wrong for it. So code from outside must not change known values: a
//! call is left out only if all that it is given can't change. Collections of `java.util` may be
//! given enum constants too: of those they only ask for `equals`, `hashCode` and the like. The text
//! of a `StringBuilder` becomes unknown with an unknown part.
//!
//! [`platform`]: crate::platform

use crate::descriptor::class_of;
use crate::fault::{Cause, Fault};
use crate::heap::Object;
use crate::machine::Machine;
use crate::pool::Member;
use crate::value::Value;

/// The rough size of the record of an unknown value, besides names.
const UNKNOWN: usize = 512;

impl Machine<'_> {
    /// A value with this descriptor, unknown because of `fault`.
    pub(crate) fn unknown(&mut self, fault: Fault, descriptor: &str) -> Result<Value, Fault> {
        let kind = Value::default_of(descriptor).kind();
        if let Cause::Unknown(origin) = fault.cause() {
            return Ok(Value::Unknown(kind, origin));
        }
        let fault = fault.at(|| self.location());
        self.heap.charge(UNKNOWN + 2 * fault.to_string().len())?;
        self.unknowns.push(fault);
        Ok(Value::Unknown(kind, (self.unknowns.len() - 1) as u32))
    }

    /// Leaves out a call that can't be made because of `fault`, if nothing that is known can depend
    /// on it. Gives its result, if it has one.
    pub(crate) fn leave_out(
        &mut self,
        fault: Fault,
        member: &Member,
        arguments: &[Value],
    ) -> Result<Option<Value>, Fault> {
        let may_change = |value: &Value| !self.is_inert(*value, member);
        // A fault with a place ended code that had begun.
        let begun = fault.cause() == Cause::Final || fault.location().is_some();
        if begun || arguments.iter().any(may_change) {
            return Err(fault);
        }
        match member.descriptor.rsplit_once(')') {
            Some((_, "V")) | None => Ok(None),
            Some((_, result)) => self.unknown(fault, result).map(Some),
        }
    }

    /// The result of a call with arguments, or contents of arguments, that `fault` says are not
    /// known.
    pub(crate) fn call_with_unknown(
        &mut self,
        fault: Fault,
        member: &Member,
        arguments: &[Value],
    ) -> Result<Option<Value>, Fault> {
        let Some(Value::Ref(receiver)) = arguments.first().copied() else {
            return self.leave_out(fault, member, arguments);
        };
        match (self.heap.get_mut(receiver), fault.cause()) {
            (Object::Builder { unknown, .. }, Cause::Unknown(origin)) => {
                *unknown = Some(origin);
                match member.descriptor.rsplit_once(')') {
                    Some((_, "V")) | None => Ok(None),
                    Some((_, result)) if class_of(result) == &*member.class => {
                        Ok(Some(Value::Ref(receiver)))
                    }
                    Some((_, result)) => self.unknown(fault, result).map(Some),
                }
            }
            _ => self.leave_out(fault, member, arguments),
        }
    }

    /// Returns whether nobody can change the value or the object that it refers to.
    fn is_inert(&self, value: Value, member: &Member) -> bool {
        let Value::Ref(object) = value else { return true };
        let collection = member.class.starts_with("java/util/");
        let formatting =
            &*member.class == "java/lang/String" && matches!(&*member.name, "format" | "join");
        match self.heap.get(object) {
            Object::String(_)
            | Object::Class(_)
            | Object::Boxed(..)
            | Object::Uuid(..)
            | Object::Charset(_)
            | Object::Token(_) => true,
            Object::Instance { class, .. } => {
                collection && &*self.platform_superclass(*class) == "java/lang/Enum"
            }
            Object::List { .. } => collection,
            // The variable arguments of the call.
            Object::Array { values, .. } if formatting => values.iter().all(|value| match value {
                Value::Ref(object) => {
                    matches!(self.heap.get(*object), Object::String(_) | Object::Boxed(..))
                }
                _ => true,
            }),
            Object::Array { .. }
            | Object::Builder { .. }
            | Object::Throwable { .. }
            | Object::Iterator { .. } => false,
        }
    }

    /// The fault that says why a value is unknown, in place of the one that says that it was
    /// needed.
    pub(crate) fn explained(&self, fault: Fault) -> Fault {
        match fault.cause() {
            Cause::Unknown(origin) => self.unknowns.get(origin as usize).cloned().unwrap_or(fault),
            Cause::Missing | Cause::Final => fault,
        }
    }

    /// A result for a caller that needs to know it.
    pub(crate) fn known(&self, result: Option<Value>) -> Result<Option<Value>, Fault> {
        match result {
            Some(Value::Unknown(_, origin)) => Err(self.explained(Fault::unknown(origin))),
            _ => Ok(result),
        }
    }
}
