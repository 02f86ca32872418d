//! The machine: classes, heap, the methods under way, and what may still be spent.

use super::class::Class;
use super::decode::Code;
use super::fault::{Fault, Place};
use super::frame::Frame;
use super::heap::Heap;
use super::link::{Known, Loaded, Method};
use super::platform::Args;
use super::step::Flow;
use super::value::{Ref, Value};
use super::{Classes, MAX_DEPTH, MAX_LOCALS, MAX_NESTING, MAX_STEPS};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

/// A machine over the class files of one source.
pub(crate) struct Machine<'j> {
    pub(super) source: &'j dyn Classes,
    pub(super) loaded: Vec<Loaded<'j>>,
    pub(super) by_name: HashMap<Rc<str>, Known>,
    /// Superclasses that wait for the class that is being loaded.
    pub(super) loading: usize,
    pub(super) heap: Heap,
    /// Why values are unknown: what [`Value::Unknown`] counts.
    pub(super) unknowns: Vec<Fault>,
    frames: Vec<Frame>,
    /// Local variables of all frames.
    locals: usize,
    /// What is left of the steps.
    steps: usize,
    /// Calls of [`Machine::run`] within each other.
    nesting: usize,
}

impl<'j> Machine<'j> {
    pub(crate) fn new(source: &'j dyn Classes) -> Self {
        Self {
            source,
            loaded: Vec::new(),
            by_name: HashMap::new(),
            loading: 0,
            heap: Heap::default(),
            unknowns: Vec::new(),
            frames: Vec::new(),
            locals: 0,
            steps: MAX_STEPS,
            nesting: 0,
        }
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The class with this internal name; `None` if the source has none.
    pub(crate) fn class(&mut self, name: &str) -> Result<Option<Rc<Class<'j>>>, Fault> {
        Ok(self.load(&name.into())?.map(|class| Rc::clone(&self.loaded[class].class)))
    }

    /// Calls a static method without parameters of a class of the source. `None` if there is no such method.
    pub(crate) fn call_static(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<Option<Value>, Fault> {
        let Some(class) = self.load(&class.into())? else { return Ok(None) };
        let Some((class, method)) = self.find_method(class, &name.into(), &descriptor.into())?
        else {
            return Ok(None);
        };
        self.initialize(class)?;
        let result = self.call(class, method, &[])?;
        self.known(result)
    }

    /// The class of an instance of a class of the source.
    pub(crate) fn class_of(&self, object: Ref) -> Option<&Rc<Class<'j>>> {
        self.instance_class(object).map(|class| &self.loaded[class].class)
    }

    /// Whether `object` has a method that can be called with [`Machine::call_method`].
    pub(crate) fn has_method(
        &mut self,
        object: Ref,
        name: &str,
        descriptor: &str,
    ) -> Result<bool, Fault> {
        Ok(self.select(object, &name.into(), &descriptor.into())?.is_some())
    }

    /// Calls a method of `object`, as its own class defines it.
    pub(crate) fn call_method(
        &mut self,
        object: Ref,
        name: &str,
        descriptor: &str,
        arguments: &[Value],
    ) -> Result<Option<Value>, Fault> {
        let method = self.select(object, &name.into(), &descriptor.into())?;
        let arguments: Vec<Value> = [Value::Ref(object)].iter().chain(arguments).copied().collect();
        let result = match method {
            Some(Method::Code(class, method)) => self.call(class, method, &arguments),
            Some(Method::Platform(native)) => native(self, Args(&arguments)),
            None => Err(Fault::unsupported(format!(
                "`{}` has no method `{name}{descriptor}` in the jar",
                self.object_class_name(object).replace('/', ".")
            ))),
        };
        self.known(result?)
    }

    /// The values of the static fields of a class, which is initialised if it was not: position, value.
    pub(crate) fn statics(&mut self, class: &str) -> Result<Vec<(usize, Value)>, Fault> {
        let Some(class) = self.load(&class.into())? else { return Ok(Vec::new()) };
        self.initialize(class)?;
        Ok(self.static_values(class))
    }

    /// Takes `count` steps, or as many as bring the machine to its end.
    pub(super) fn spend(&mut self, count: usize) -> Result<(), Fault> {
        self.steps = self.steps.saturating_sub(count);
        if self.steps == 0 {
            return Err(Fault::limit("more than 2000000 steps"));
        }
        Ok(())
    }

    /// Calls a method and waits for its end.
    pub(super) fn call(
        &mut self,
        class: usize,
        method: usize,
        arguments: &[Value],
    ) -> Result<Option<Value>, Fault> {
        if self.nesting >= MAX_NESTING {
            return Err(Fault::limit(
                "more than 48 initialisers or conversions to text within each other",
            ));
        }
        let floor = self.frames.len();
        self.enter(class, method, arguments)?;
        self.nesting += 1;
        let result = self.run(floor);
        self.nesting -= 1;
        result
    }

    /// Puts a call of a method on the stack of those under way; [`Machine::run`] goes on there.
    pub(super) fn enter(
        &mut self,
        class: usize,
        method: usize,
        arguments: &[Value],
    ) -> Result<(), Fault> {
        let code = self.code(class, method)?;
        if self.frames.len() >= MAX_DEPTH {
            return Err(Fault::limit("more than 1024 calls within each other"));
        }
        self.spend(1 + code.max_locals / 16)?;
        if self.locals + code.max_locals > MAX_LOCALS {
            return Err(Fault::limit("more than 262144 local variables"));
        }
        let frame = Frame::new(class, method, code, arguments)?;
        self.locals += frame.code.max_locals;
        self.frames.push(frame);
        Ok(())
    }

    /// The frame of the method that runs.
    pub(super) fn frame(&mut self) -> Result<&mut Frame, Fault> {
        self.frames.last_mut().ok_or_else(|| Fault::malformed("no method is under way"))
    }

    fn code(&self, class: usize, method: usize) -> Result<Rc<Code>, Fault> {
        let file = Rc::clone(&self.loaded[class].class);
        let beginning = || Some(self.beginning(class, method));
        let code = file.code(method).map_err(|fault| fault.at(beginning))?;
        code.ok_or_else(|| {
            let method = &file.methods[method];
            let class = file.name.replace('/', ".");
            Fault::unsupported(format!("`{class}.{}` is abstract or native", method.name))
        })
    }

    /// Runs until the method at position `floor` of those under way returns.
    fn run(&mut self, floor: usize) -> Result<Option<Value>, Fault> {
        loop {
            match self.advance(floor) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(result)) => return Ok(result),
                Err(fault) => {
                    let fault = self.explained(fault).at(|| self.place());
                    while self.frames.len() > floor {
                        self.leave();
                    }
                    return Err(fault);
                }
            }
        }
    }

    /// One instruction. Breaks with the result if it ended the method at position `floor`.
    fn advance(&mut self, floor: usize) -> Result<ControlFlow<Option<Value>>, Fault> {
        self.spend(1)?;
        let frame = self.frame()?;
        let (code, at) = (Rc::clone(&frame.code), frame.next);
        let op = code.ops.get(at).ok_or_else(|| Fault::malformed("code that runs past its end"))?;
        match self.step(op)? {
            Flow::Next => self.frame()?.next = at + 1,
            Flow::Jump(target) => self.frame()?.next = target,
            // The caller stays at its call until the method that was entered returns.
            Flow::Entered => {}
            Flow::Return(value) => {
                self.leave();
                if self.frames.len() == floor {
                    return Ok(ControlFlow::Break(value));
                }
                let caller = self.frame()?;
                if let Some(value) = value {
                    caller.push(value)?;
                }
                caller.next += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.locals -= frame.code.max_locals;
        }
    }

    /// The instruction that runs.
    pub(super) fn place(&self) -> Option<Place> {
        let frame = self.frames.last()?;
        let mut place = self.beginning(frame.class, frame.method);
        if let Some(op) = frame.code.ops.get(frame.next) {
            place.instruction = op.to_string();
            place.line = frame.code.lines[frame.next];
        }
        Some(place)
    }

    fn beginning(&self, class: usize, method: usize) -> Place {
        let class = &self.loaded[class].class;
        let method = &class.methods[method];
        Place {
            class: class.name.replace('/', "."),
            method: format!("{}{}", method.name, method.descriptor),
            line: 0,
            instruction: "code".to_owned(),
        }
    }
}
