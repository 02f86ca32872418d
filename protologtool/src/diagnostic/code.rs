//! The kinds of problems.

/// Declares [`Code`] with the name and the description of each kind.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// The kinds of problems. Their names are for tools and for searching; they do not change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// All kinds, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name, in lower case with hyphens.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// A sentence that describes all problems of this kind.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+).trim_start(),)+
                }
            }
        }
    };
}

codes! {
    /// The group argument is no group that the tool knows.
    UnknownGroup = "unknown-group",
    /// The level argument is no constant of the enum of levels.
    UnknownLevel = "unknown-level",
    /// It is not known, or not only one, which module of which crate a source is.
    UnknownModule = "unknown-module",
    /// More or fewer arguments than the template takes, or no template at all.
    ArgumentCount = "argument-count",
    /// An argument is of a type that its conversion does not take.
    ArgumentType = "argument-type",
    /// The template is not of the grammar.
    BadTemplate = "bad-template",
    /// The template is not a constant.
    NonConstantTemplate = "non-constant-template",
    /// One array in the place of the arguments.
    ArrayArguments = "array-arguments",
    /// An argument is passed by its name.
    NamedArgument = "named-argument",
    /// An argument is a literal, which belongs into the template.
    LiteralArgument = "literal-argument",
    /// The template is nothing but conversions, so that its text says nothing.
    NoContext = "no-context",
    /// An argument changes something, which rewritten code does only if the call is enabled.
    SideEffect = "side-effect",
    /// The call stands where no statement can.
    NoStatement = "no-statement",
    /// The name that rewritten code must use means something else where the call stands.
    HiddenName = "hidden-name",
    /// The declaration that holds a call can't be parsed.
    Syntax = "syntax",
    /// Two different messages have one id.
    IdClash = "id-clash",
    /// A group's definition can't be evaluated.
    Groups = "groups",
    /// The template of the class that rewritten code calls can't be filled in.
    ImplTemplate = "impl-template",
    /// A source in a language that is copied unchanged.
    NotRewritten = "not-rewritten",
    /// A call of another library stays as it is.
    NotMoved = "not-moved",
    /// A dictionary is not that of the sources.
    StaleDictionary = "stale-dictionary",
    /// The directories that are given hold no source.
    NoSources = "no-sources",
    /// No source names the class whose calls are to be rewritten.
    UnusedClass = "unused-class",
    /// A dictionary's name stands for another format than it is written in.
    MisleadingName = "misleading-name",
}

#[cfg(test)]
mod tests {
    use super::Code;
    use std::collections::BTreeSet;

    #[test]
    fn names_and_descriptions() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(code.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            let description = code.description();
            assert!(description.ends_with('.') && !description.starts_with(' '), "{description}");
        }
    }
}
