//! The class file evaluator on any bytes, as the class file of `G`. It must come back: with a value
//! or with a fault. Covers classes that are no groups, which the target `jar` leaves early: static
//! fields of any type and their initialisers.
#![no_main]

use class_eval::{ClassSource, Machine};
use libfuzzer_sys::fuzz_target;

struct OneClass<'a>(&'a [u8]);

impl ClassSource for OneClass<'_> {
    fn class(&self, name: &str) -> Result<Option<&[u8]>, String> {
        Ok((name == "G").then_some(self.0))
    }
}

fuzz_target!(|data: &[u8]| {
    let source = OneClass(data);
    let mut machine = Machine::new(&source);
    for field in machine.statics("G").unwrap_or_default() {
        if let Ok(object) = machine.require(field.value).and_then(|value| value.object()) {
            let _ = machine.elements(object);
            let _ = machine.text(object);
            let _ = machine.call_method(object, "toString", "()Ljava/lang/String;", &[]);
        }
    }
    let _ = machine.call_static("G", "values", "()[LG;");
    if let Ok(Some(class)) = machine.class("G") {
        let _ = machine.canonical_name(&class);
    }
});
