//! Descriptors: the types of fields and methods as class files write them,
//! `(ILjava/lang/String;)Z`.

/// The types of a method's parameters and of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// One descriptor per parameter.
    pub(crate) parameters: Vec<Box<str>>,
    /// False for `V`.
    pub(crate) returns: bool,
}

/// The machine's own limit on parameters, by the class file format.
const MAX_PARAMETERS: usize = 255;

impl Signature {
    /// Parses a method's descriptor.
    pub(crate) fn parse(descriptor: &str) -> Option<Self> {
        let mut rest = descriptor.strip_prefix('(')?;
        let mut parameters = Vec::new();
        while !rest.starts_with(')') {
            let end = type_end(rest)?;
            parameters.push(rest[..end].into());
            if parameters.len() > MAX_PARAMETERS {
                return None;
            }
            rest = &rest[end..];
        }
        let result = &rest[1..];
        let returns = result != "V";
        (!returns || is_type(result)).then_some(Self { parameters, returns })
    }
}

/// Returns true for the descriptor of a field.
pub(crate) fn is_type(descriptor: &str) -> bool {
    type_end(descriptor) == Some(descriptor.len())
}

/// The name that instructions use for the type with this descriptor: a class's internal name, an
/// array's descriptor.
pub(crate) fn class_of(descriptor: &str) -> &str {
    descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(descriptor)
}

/// The element type's descriptor of the array type with this name, `None` if it is no array.
pub(crate) fn element(name: &str) -> Option<&str> {
    name.strip_prefix('[')
}

/// The descriptor of the type with this name, [`class_of`] turned round.
pub(crate) fn descriptor_of(name: &str) -> String {
    if name.starts_with('[') { name.to_owned() } else { format!("L{name};") }
}

/// Where the first type of `text` ends.
fn type_end(text: &str) -> Option<usize> {
    let dimensions = text.bytes().take_while(|byte| *byte == b'[').count();
    let base = &text[dimensions..];
    let length = match base.bytes().next()? {
        b'Z' | b'B' | b'C' | b'S' | b'I' | b'J' | b'F' | b'D' => 1,
        b'L' => base.find(';').filter(|end| *end > 1)? + 1,
        _ => return None,
    };
    (dimensions <= MAX_PARAMETERS).then_some(dimensions + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_taken_apart() {
        let signature = Signature::parse("(I[[JLjava/lang/String;Z)V").unwrap();
        let parameters: Vec<&str> = signature.parameters.iter().map(AsRef::as_ref).collect();
        assert_eq!(parameters, ["I", "[[J", "Ljava/lang/String;", "Z"]);
        assert!(!signature.returns);
        assert!(Signature::parse("()[I").unwrap().returns);
        for wrong in ["", "(", "()", "(V)V", "(L;)V", "(I)VV", "(I)LA", "([)V", "I"] {
            assert_eq!(Signature::parse(wrong), None, "{wrong}");
        }
        assert!(is_type("[Lé;") && !is_type("II") && !is_type("["));
    }
}
