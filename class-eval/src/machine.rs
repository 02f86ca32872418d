//! The machine: classes, heap, the methods under way, and the remaining budget.

use crate::class::{Class, Nesting};
use crate::fault::{Fault, Location};
use crate::frame::Frame;
use crate::heap::Heap;
use crate::op::Code;
use crate::value::{Ref, Value};
use crate::{ClassSource, MAX_DEPTH, MAX_LOCALS, MAX_NESTING, MAX_STEPS};
use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The machine's knowledge of a class name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    Absent,
    /// Its superclass is being loaded.
    Loading,
    At(usize),
}

/// A class that was loaded.
pub(crate) struct Loaded<'j> {
    pub(crate) class: Rc<Class<'j>>,
    /// The superclass, if the source has it.
    pub(crate) superclass: Option<usize>,
    /// For each field of the class file its place among the static values, or among an instance's
    /// fields.
    pub(crate) slots: Vec<usize>,
    pub(crate) statics: Vec<Value>,
    /// The fields of a new instance, those of superclasses first.
    pub(crate) instance: Vec<Value>,
    pub(crate) initialized: bool,
}

/// A method that can be called.
#[derive(Clone, Copy)]
pub(crate) enum Callee {
    /// Class and position in it.
    Code(usize, usize),
    Platform(Native),
}

/// A field: the class that declares it, and its position there.
#[derive(Clone, Copy)]
pub(crate) struct FieldAt {
    pub(crate) class: usize,
    pub(crate) field: usize,
}

/// A method of the platform.
pub(crate) type Native = for<'a> fn(&mut Machine<'_>, Args<'a>) -> Answer;

/// The result of a method; `None` for `void`.
pub(crate) type Answer = Result<Option<Value>, Fault>;

/// The arguments of a call, the receiver first.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a>(pub(crate) &'a [Value]);

/// Where the machine goes on after an instruction.
pub(crate) enum Flow {
    /// At the next one.
    Next,
    /// At the instruction with this index.
    Jump(usize),
    /// In the method that the instruction called.
    Entered,
    /// In the caller.
    Return(Option<Value>),
}

/// A machine over the class files of one source.
pub struct Machine<'j> {
    pub(crate) source: &'j dyn ClassSource,
    pub(crate) loaded: Vec<Loaded<'j>>,
    pub(crate) by_name: HashMap<Rc<str>, Known>,
    /// Superclasses that wait for the class that is being loaded.
    pub(crate) loading: usize,
    pub(crate) heap: Heap,
    /// Why values are unknown, by the number in [`Value::Unknown`].
    pub(crate) unknowns: Vec<Fault>,
    frames: Vec<Frame>,
    /// Local variables of all frames.
    locals: usize,
    /// The remaining steps.
    steps: usize,
    /// Calls of [`Machine::run`] within each other.
    nesting: usize,
}

/// A static field of a class, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticField {
    /// The field's name.
    pub name: Rc<str>,
    /// True for fields that are declared `final`.
    pub is_final: bool,
    /// The value.
    pub value: Value,
}

impl fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl<'j> Machine<'j> {
    /// A machine that has loaded nothing yet.
    pub fn new(source: &'j dyn ClassSource) -> Self {
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

    /// The elements of an array or a list.
    pub fn elements(&self, object: Ref) -> Result<&[Value], Fault> {
        self.heap.elements(object)
    }

    /// The UTF-16 content of a string.
    pub fn text(&self, string: Ref) -> Result<Rc<[u16]>, Fault> {
        self.heap.text(string)
    }

    /// Returns the value, or the fault that says why it is not known.
    pub fn require(&self, value: Value) -> Result<Value, Fault> {
        value.known().map_err(|fault| self.explained(fault))
    }

    /// The class with this internal name; `None` if the source has none.
    pub fn class(&mut self, name: &str) -> Result<Option<Rc<Class<'j>>>, Fault> {
        Ok(self.load(&name.into())?.map(|class| Rc::clone(&self.loaded[class].class)))
    }

    /// Calls a static method without parameters of a class of the source. `None` if there is no
    /// such method.
    pub fn call_static(
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
    pub fn class_of(&self, object: Ref) -> Option<&Rc<Class<'j>>> {
        self.instance_class(object).map(|class| &self.loaded[class].class)
    }

    /// Checks that `object` has a method that [`Machine::call_method`] can call.
    pub fn has_method(&mut self, object: Ref, name: &str, descriptor: &str) -> Result<bool, Fault> {
        Ok(self.select(object, &name.into(), &descriptor.into())?.is_some())
    }

    /// Calls a method of `object`, as its own class defines it.
    pub fn call_method(
        &mut self,
        object: Ref,
        name: &str,
        descriptor: &str,
        arguments: &[Value],
    ) -> Result<Option<Value>, Fault> {
        let method = self.select(object, &name.into(), &descriptor.into())?;
        let arguments: Vec<Value> = [Value::Ref(object)].iter().chain(arguments).copied().collect();
        let result = match method {
            Some(Callee::Code(class, method)) => self.call(class, method, &arguments),
            Some(Callee::Platform(native)) => native(self, Args(&arguments)),
            None => Err(Fault::unsupported(format!(
                "`{}` has no method `{name}{descriptor}` in the jar",
                self.object_class_name(object).replace('/', ".")
            ))),
        };
        self.known(result?)
    }

    /// The static fields of a class, in order, after its initialiser has run.
    pub fn statics(&mut self, class: &str) -> Result<Vec<StaticField>, Fault> {
        let Some(class) = self.load(&class.into())? else { return Ok(Vec::new()) };
        self.initialize(class)?;
        Ok(self.static_values(class))
    }

    /// `Class.getCanonicalName()` of a class; `None` for one that is local or anonymous.
    pub fn canonical_name(&mut self, class: &Class<'j>) -> Result<Option<String>, Fault> {
        let mut inner_names = Vec::new();
        let mut nesting = class.nesting()?;
        let mut outermost = Rc::clone(&class.name);
        while let Some(Nesting { outer, name }) = nesting {
            let (Some(outer), Some(name)) = (outer, name) else { return Ok(None) };
            inner_names.push(name);
            if inner_names.len() > MAX_NESTING {
                return Err(Fault::limit("classes nested more than 48 deep"));
            }
            nesting = match self.class(&outer)? {
                Some(class) => class.nesting()?,
                None => None,
            };
            outermost = outer;
        }
        let mut canonical = outermost.replace('/', ".");
        for name in inner_names.iter().rev() {
            canonical.push('.');
            canonical.push_str(name);
        }
        Ok(Some(canonical))
    }

    /// Takes `count` steps, or as many as bring the machine to its end.
    pub(crate) fn spend(&mut self, count: usize) -> Result<(), Fault> {
        self.steps = self.steps.saturating_sub(count);
        if self.steps == 0 {
            return Err(Fault::limit("more than 2000000 steps"));
        }
        Ok(())
    }

    /// Calls a method and waits for its end.
    pub(crate) fn call(
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
    pub(crate) fn enter(
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
    pub(crate) fn frame(&mut self) -> Result<&mut Frame, Fault> {
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
                    let fault = self.explained(fault).at(|| self.location());
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
    pub(crate) fn location(&self) -> Option<Location> {
        let frame = self.frames.last()?;
        let mut place = self.beginning(frame.class, frame.method);
        if let Some(op) = frame.code.ops.get(frame.next) {
            place.instruction = op.to_string();
            place.line = frame.code.lines[frame.next];
        }
        Some(place)
    }

    fn beginning(&self, class: usize, method: usize) -> Location {
        let class = &self.loaded[class].class;
        let method = &class.methods[method];
        Location {
            class: class.name.replace('/', "."),
            method: format!("{}{}", method.name, method.descriptor),
            line: 0,
            instruction: "code".to_owned(),
        }
    }
}
