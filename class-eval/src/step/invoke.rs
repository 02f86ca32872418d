//! Calls: of code in the jar, which is entered, and of the platform's methods, which run at once.

use super::member::outside;
use crate::fault::{Cause, Fault};
use crate::heap::Object;
use crate::machine::{Args, Callee, Flow, Machine};
use crate::op::Dispatch;
use crate::platform;
use crate::pool::Member;
use crate::value::{Ref, Value};
use noak::AccessFlags;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn invoke(&mut self, dispatch: Dispatch, member: &Member) -> Result<Flow, Fault> {
        let length = member.class.len() + member.name.len() + member.descriptor.len();
        self.spend(length / 16)?;
        let arguments = self.arguments(dispatch, member)?;
        let method = match self.method(dispatch, member, &arguments) {
            Ok(method) => method,
            Err(fault) => return self.without(fault, member, &arguments),
        };
        match method {
            Callee::Code(class, method) => {
                let fixed = self.loaded[class].class.methods[method].flags;
                if fixed.contains(AccessFlags::STATIC) != (dispatch == Dispatch::Static) {
                    return Err(Fault::malformed(
                        "a static call of a method that is not, or vice versa",
                    ));
                }
                self.enter(class, method, &arguments)?;
                Ok(Flow::Entered)
            }
            Callee::Platform(native) => {
                let unknown = arguments.iter().find_map(|value| value.known().err());
                let result = unknown.map_or_else(|| native(self, Args(&arguments)), Err);
                let result = match result {
                    Err(fault) if matches!(fault.cause(), Cause::Unknown(_)) => {
                        self.call_with_unknown(fault, member, &arguments)?
                    }
                    result => result?,
                };
                if let Some(result) = result {
                    self.frame()?.push(result)?;
                }
                Ok(Flow::Next)
            }
        }
    }

    fn method(
        &mut self,
        dispatch: Dispatch,
        member: &Member,
        arguments: &[Value],
    ) -> Result<Callee, Fault> {
        match dispatch {
            Dispatch::Static => self.static_method(member),
            Dispatch::Special => self.special_method(member, arguments),
            Dispatch::Virtual | Dispatch::Interface => {
                let receiver = arguments[0].object()?;
                match self.private_method(member)? {
                    Some(method) => Ok(method),
                    None => self.virtual_method(member, receiver),
                }
            }
        }
    }

    /// Goes on without a call, if that is possible.
    fn without(
        &mut self,
        fault: Fault,
        member: &Member,
        arguments: &[Value],
    ) -> Result<Flow, Fault> {
        if let Some(result) = self.leave_out(fault, member, arguments)? {
            self.frame()?.push(result)?;
        }
        Ok(Flow::Next)
    }

    /// Takes the arguments from the operands, the receiver first.
    fn arguments(&mut self, dispatch: Dispatch, member: &Member) -> Result<Vec<Value>, Fault> {
        let Some(signature) = &member.signature else {
            return Err(Fault::malformed("a call of a field"));
        };
        let receiver = usize::from(dispatch != Dispatch::Static);
        let mut arguments = self.frame()?.pop_many(signature.parameters.len() + receiver)?;
        for (argument, descriptor) in arguments[receiver..].iter_mut().zip(&signature.parameters) {
            *argument = argument.fit(descriptor)?;
        }
        Ok(arguments)
    }

    fn static_method(&mut self, member: &Member) -> Result<Callee, Fault> {
        if let Some(native) = platform::exact(&member.class, &member.name, &member.descriptor) {
            return Ok(Callee::Platform(native));
        }
        let class = self.load(&member.class)?.ok_or_else(|| not_here(member))?;
        let found = self.find_method(class, &member.name, &member.descriptor)?;
        let (class, method) = found.ok_or_else(|| not_here(member))?;
        self.initialize(class)?;
        Ok(Callee::Code(class, method))
    }

    /// A constructor, a superclass's method, or a private one.
    fn special_method(&mut self, member: &Member, arguments: &[Value]) -> Result<Callee, Fault> {
        let receiver = arguments[0].object()?;
        if let Some(class) = self.load(&member.class)? {
            let found = self.find_method(class, &member.name, &member.descriptor)?;
            if let Some((class, method)) = found {
                return Ok(Callee::Code(class, method));
            }
            let outer = self.platform_superclass(class);
            let native = platform::method(&outer, &member.name, &member.descriptor);
            return native.map(Callee::Platform).ok_or_else(|| not_here(member));
        }
        if &*member.name == "<init>" && platform::is_throwable(&member.class) {
            self.set_message(receiver, arguments);
            return Ok(Callee::Platform(|_, _| Ok(None)));
        }
        platform::method(&member.class, &member.name, &member.descriptor)
            .map(Callee::Platform)
            .ok_or_else(|| not_here(member))
    }

    /// Keeps the message of an exception of the platform; exceptions of the jar have none that is
    /// told.
    fn set_message(&mut self, exception: Ref, arguments: &[Value]) {
        let text = match arguments.get(1) {
            Some(Value::Ref(object)) => match self.heap.get(*object) {
                Object::String(text) => Some(Rc::clone(text)),
                _ => None,
            },
            _ => None,
        };
        if let Object::Throwable { message, .. } = self.heap.get_mut(exception) {
            *message = text;
        }
    }

    /// A private method, which no subclass overrides, however it is called.
    fn private_method(&mut self, member: &Member) -> Result<Option<Callee>, Fault> {
        let Some(class) = self.load(&member.class)? else { return Ok(None) };
        let file = &self.loaded[class].class;
        let found = file.method(&member.name, &member.descriptor);
        let private = |at: &usize| file.methods[*at].flags.contains(AccessFlags::PRIVATE);
        Ok(found.filter(private).map(|method| Callee::Code(class, method)))
    }

    fn virtual_method(&mut self, member: &Member, receiver: Ref) -> Result<Callee, Fault> {
        if let Some(method) = self.select(receiver, &member.name, &member.descriptor)? {
            return Ok(method);
        }
        if matches!(self.heap.get(receiver), Object::Instance { .. })
            && self.load(&member.class)?.is_none()
            && !member.class.starts_with("java/")
        {
            return Err(outside(&member.class));
        }
        Err(not_here(member))
    }
}

fn not_here(member: &Member) -> Fault {
    let class = member.class.replace('/', ".");
    if class.starts_with("java.") || class.starts_with("kotlin.") {
        return Fault::missing(format!("`{class}.{}` can't be evaluated", member.name));
    }
    Fault::missing(format!("`{class}.{}` is not in the jar", member.name))
}
