//! The methods and constructors of a file, by its outline. A call in a lambda, or in a class within
//! a method, is in the method.

use super::outline::{MemberKind, TypeId};
use super::unit::Unit;
use crate::lang::functions::Function;
use std::ops::Range;

/// Returns the methods and constructors of a file.
pub(crate) fn java_functions(bytes: &[u8]) -> Vec<Function> {
    let unit = Unit::of(bytes);
    let text = unit.text();
    let name_at = |range: &Range<usize>| {
        let name = text.get(range.clone()).unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    };
    let types_of = |owner: Option<TypeId>| {
        let mut names = Vec::new();
        let mut next = owner;
        while let Some(declared) = next.and_then(|id| unit.outline.types.get(id.0)) {
            names.push(name_at(&declared.name));
            next = declared.outer;
        }
        names.reverse();
        names
    };
    let function = |member: &super::outline::Member| {
        let mut name = types_of(member.owner);
        let own = match member.kind {
            MemberKind::Method => member.name.as_ref().map(name_at),
            MemberKind::Constructor => name.last().cloned(),
            _ => None,
        };
        name.push(own?);
        name.retain(|part| !part.is_empty());
        Some(Function::of(name, text, member.range.clone()))
    };
    unit.outline.members.iter().filter_map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        java_functions(text.as_bytes()).iter().map(Function::shown).collect()
    }

    #[test]
    fn functions_of_java() {
        let text = "package com.foo;\nclass Client {\n    int x = f();\n    Client() {\n    }\n    @Override\n    \
                    public void send(int a) {\n        run(() -> {\n        });\n    }\n    \
                    static class Retry { void send() {} }\n    abstract void none();\n}\n";
        let expected = ["Client::Client 4-5", "Client::send 6-10", "Client::Retry::send 11-11"];
        let found = shown(text);
        let found: Vec<_> = found.iter().filter(|it| !it.contains("none")).collect();
        assert_eq!(found, expected.iter().collect::<Vec<_>>());
        for (open, close) in [("(", ")"), ("{", "}"), ("class A {", "}"), ("A<", ">"), ("@A(", ")")]
        {
            let (open, close) = (open.repeat(50_000), close.repeat(50_000));
            shown(&format!(
                "class B {{ void f() {{ {open}{close} }} int x = {open}1{close}; {open}{close} }}"
            ));
        }
    }
}
