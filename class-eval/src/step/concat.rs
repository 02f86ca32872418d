//! `invokedynamic`: string concatenation as javac has compiled it since Java 9. Lambdas are
//! refused.

use crate::fault::Fault;
use crate::machine::Machine;
use crate::op::CallSite;
use crate::pool::{Bootstrap, Constant};
use crate::text;
use crate::value::Value;

/// In a recipe: the next argument.
const ARGUMENT: u16 = 1;
/// In a recipe: the next constant.
const CONSTANT: u16 = 2;

impl Machine<'_> {
    pub(super) fn invoke_dynamic(&mut self, site: &CallSite) -> Result<(), Fault> {
        let recipe = match (&*site.bootstrap.class, &*site.bootstrap.name) {
            ("java/lang/invoke/StringConcatFactory", "makeConcatWithConstants") => {
                match site.bootstrap.arguments.first() {
                    Some(Some(Constant::String(recipe))) => recipe.to_vec(),
                    _ => return Err(Fault::malformed("a concatenation without a recipe")),
                }
            }
            ("java/lang/invoke/StringConcatFactory", "makeConcat") => {
                let arguments = site.member.signature.as_ref().map(|it| it.parameters.len());
                vec![ARGUMENT; arguments.unwrap_or_default()]
            }
            ("java/lang/invoke/LambdaMetafactory", _) => {
                return Err(Fault::unsupported("a lambda or method reference can't be evaluated"));
            }
            (class, name) => {
                let class = class.replace('/', ".");
                return Err(Fault::unsupported(format!("`{class}.{name}` can't be evaluated")));
            }
        };
        let Some(signature) = &site.member.signature else {
            return Err(Fault::malformed("a call site without a method's type"));
        };
        let arguments = self.frame()?.pop_many(signature.parameters.len())?;
        if let Some(fault) = arguments.iter().find_map(|value| value.known().err()) {
            let unknown = self.leave_out(fault, &site.member, &arguments)?;
            return unknown.map_or(Ok(()), |unknown| self.frame()?.push(unknown));
        }
        let arguments = arguments.into_iter().zip(signature.parameters.iter().map(AsRef::as_ref));
        let text = self.concat(&recipe, arguments, &site.bootstrap)?;
        let string = self.heap.string(text)?;
        self.frame()?.push(string)
    }

    fn concat<'a>(
        &mut self,
        recipe: &[u16],
        mut arguments: impl Iterator<Item = (Value, &'a str)>,
        bootstrap: &Bootstrap,
    ) -> Result<Vec<u16>, Fault> {
        let mut constants = bootstrap.arguments.iter().skip(1);
        let mut out = Vec::new();
        self.spend(recipe.len() / 4)?;
        for unit in recipe {
            match *unit {
                ARGUMENT => {
                    let Some((value, descriptor)) = arguments.next() else {
                        return Err(Fault::malformed("a recipe with too many arguments"));
                    };
                    self.append(&mut out, value, descriptor)?;
                }
                CONSTANT => match constants.next() {
                    Some(Some(Constant::String(constant))) => {
                        self.heap.charge(constant.len() * 2)?;
                        out.extend_from_slice(constant);
                    }
                    Some(Some(Constant::Number(Value::Int(number)))) => {
                        out.extend(text::from_str(&number.to_string()).iter());
                    }
                    _ => return Err(Fault::unsupported("a constant that can't be evaluated")),
                },
                unit => out.push(unit),
            }
        }
        Ok(out)
    }

    /// Appends a value as text. Text held before it becomes an object counts as used too.
    pub(crate) fn append(
        &mut self,
        out: &mut Vec<u16>,
        value: Value,
        descriptor: &str,
    ) -> Result<(), Fault> {
        let text = self.text_of(value, descriptor)?;
        self.heap.charge(text.len() * 2)?;
        self.spend(text.len() / 16)?;
        out.extend_from_slice(&text);
        Ok(())
    }
}
