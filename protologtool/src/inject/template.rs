//! Reading a template: its fields that are to be filled in, and the methods that set the form of
//! calls.

use crate::diagnostic::{Code, Diagnostic};
use crate::lang::java::lexer;
use crate::lang::java::syntax::{
    children, descendants, field_text, has_modifier, is_type_declaration, parse, text,
};
use crate::lang::jvm::dialect::{Android, Guard, MaskType, StaticMethod};
use crate::source::Source;
use memchr::memmem;
use protolog_core::Level;
use std::ops::Range;
use std::path::Path;
use tree_sitter::Node;

const ANNOTATION: &str = "ProtoLogToolInjected";

/// A class with fields that are to be filled in.
#[derive(Clone, Debug)]
pub struct ImplTemplate {
    pub(super) source: Source,
    pub(super) package: String,
    /// Its simple name.
    pub(super) class: String,
    /// Where the class's name is declared: by the class and by its constructors.
    pub(super) names: Vec<Range<usize>>,
    /// The offset of its last brace.
    pub(super) end: usize,
    pub(super) fields: Vec<InjectedField>,
    pub(super) log_method: LogMethod,
    pub(super) enabled_method: Option<EnabledMethod>,
    /// True if there is a static `isEnabled(group)`.
    asks_group: bool,
    /// Those that other classes can call.
    static_methods: Vec<StaticMethod>,
}

/// A field that is to be filled in.
#[derive(Clone, Debug)]
pub(super) struct InjectedField {
    pub(super) injected: Injected,
    /// Where its type begins.
    pub(super) type_start: usize,
    pub(super) is_final: bool,
    /// Where its initial value is, or an empty range where one goes.
    pub(super) value: Range<usize>,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Injected {
    ViewerConfigPath,
    LegacyViewerConfigPath,
    LegacyOutputPath,
    LogGroups,
    CacheUpdater,
}

/// The signature of the log methods, as types are written.
#[derive(Clone, Debug)]
pub(super) struct LogMethod {
    pub(super) group: String,
    mask: MaskType,
    passes_text: bool,
}

/// `isEnabled(instance, group, level)` or `isEnabled(group, level)`, which a cache is filled from.
#[derive(Clone, Debug)]
pub(super) struct EnabledMethod {
    pub(super) instance: Option<String>,
    pub(super) level: String,
}

struct Method {
    name: String,
    is_static: bool,
    is_private: bool,
    types: Vec<String>,
}

impl ImplTemplate {
    /// Returns whether a source looks like a template: by its file name and the names in it.
    pub fn is_template(path: &Path, bytes: &[u8]) -> bool {
        path.file_name().is_some_and(|name| name == "ProtoLogImpl.java")
            && memmem::find(bytes, ANNOTATION.as_bytes()).is_some()
    }

    /// Reads a template, or says what is wrong with it.
    pub fn read(source: &Source) -> Result<Self, Vec<Diagnostic>> {
        let one = |range: Range<usize>, message: &str, help: &str| {
            vec![Diagnostic::error(Code::ImplTemplate, range, message).help(help)]
        };
        let Some(tree) = parse(source.bytes()) else {
            return Err(one(0..0, "can't parse the file", "correct the syntax"));
        };
        let root = tree.root_node();
        if let Some(fault) = descendants(root).find(|node| node.is_error() || node.is_missing()) {
            return Err(one(fault.byte_range(), "can't parse the template", "correct the syntax"));
        }
        let types: Vec<_> = children(root).filter(|node| is_type_declaration(*node)).collect();
        let [class] = types[..] else {
            let second = types.get(1).map_or(0..0, |node| name_range(*node));
            let help = "declare the class to generate from, and nothing else, in the file";
            return Err(one(second, "a template has exactly one class", help));
        };
        Self::of_class(source, class)
    }

    fn of_class(source: &Source, class: Node<'_>) -> Result<Self, Vec<Diagnostic>> {
        let body = class.child_by_field_name("body");
        let members = || body.into_iter().flat_map(children);
        let methods: Vec<Method> = members()
            .filter(|node| node.kind() == "method_declaration")
            .map(|node| Method::of(node, source))
            .collect();
        let constructors = members().filter(|node| node.kind() == "constructor_declaration");
        let names = std::iter::once(class).chain(constructors).map(name_range).collect();
        let mut problems = Vec::new();
        let (mut fields, mut updater) = (Vec::new(), None);
        for node in members().filter(|node| node.kind() == "field_declaration") {
            match fields_of(node, source) {
                Ok(found) => {
                    let updates = found.iter().any(|it| it.injected == Injected::CacheUpdater);
                    updater = updater.or(updates.then(|| node.byte_range()));
                    fields.extend(found);
                }
                Err(problem) => problems.push(problem),
            }
        }
        let log_method = log_method(&methods, name_range(class));
        let enabled_method = enabled_method(&methods);
        if let (Some(range), None) = (updater, &enabled_method) {
            let message = "a cache needs a static method `isEnabled(instance, group, level)`";
            problems.push(
                Diagnostic::error(Code::ImplTemplate, range, message)
                    .help("add the method, or remove the field"),
            );
        }
        let log_method = match log_method {
            Ok(method) if problems.is_empty() => method,
            Ok(_) => return Err(problems),
            Err(problem) => {
                problems.push(problem);
                return Err(problems);
            }
        };
        let asks_group =
            methods.iter().any(|it| it.is_static && it.name == "isEnabled" && it.types.len() == 1);
        let callable = methods.into_iter().filter(|it| it.is_static && !it.is_private);
        let static_methods = callable.map(|method| StaticMethod {
            parameters: method.types.len(),
            variadic: method.types.last().is_some_and(|last| last.ends_with("...")),
            name: method.name,
        });
        Ok(Self {
            source: source.clone(),
            package: lexer::package(source.bytes()),
            class: field_text(class, "name", source).to_owned(),
            names,
            end: body.unwrap_or(class).end_byte() - 1,
            fields,
            log_method,
            enabled_method,
            asks_group,
            static_methods: static_methods.collect(),
        })
    }

    /// The file.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The form that calls must have: a text after the mask where the methods take one, and a mask
    /// of the type that they take. The guard is the cache, if there is one to fill, or else
    /// `isEnabled(group)`, if there is such.
    pub fn form(&self) -> Android {
        let guard = if self.updates_cache() {
            Guard::Cache
        } else if self.asks_group {
            Guard::IsEnabled
        } else {
            Guard::None
        };
        let LogMethod { mask, passes_text, .. } = self.log_method;
        self.completed(&Android { guard, passes_text, mask, methods: None })
    }

    /// A form with the methods that this class has.
    pub fn completed(&self, form: &Android) -> Android {
        Android { methods: Some(self.static_methods.clone()), ..*form }
    }

    pub(super) fn updates_cache(&self) -> bool {
        self.fields.iter().any(|field| field.injected == Injected::CacheUpdater)
    }
}

impl Method {
    fn of(node: Node<'_>, source: &Source) -> Self {
        let parameters = node.child_by_field_name("parameters").into_iter().flat_map(children);
        Self {
            name: field_text(node, "name", source).to_owned(),
            is_static: has_modifier(node, "static"),
            is_private: has_modifier(node, "private"),
            types: parameters.filter_map(|parameter| parameter_type(parameter, source)).collect(),
        }
    }
}

/// The type of a parameter as it is written; of `Object... args` with its dots.
fn parameter_type(parameter: Node<'_>, source: &Source) -> Option<String> {
    match parameter.kind() {
        "formal_parameter" => Some(field_text(parameter, "type", source).to_owned()),
        "spread_parameter" => {
            let of = children(parameter).find(|node| node.kind() != "modifiers")?;
            Some(format!("{}...", text(of, source)))
        }
        _ => None,
    }
}

/// The signature of the first log method.
fn log_method(methods: &[Method], class: Range<usize>) -> Result<LogMethod, Diagnostic> {
    let error = |message: String| {
        let help =
            "use the template of Android 15 or later: `d(group, long id, int or long mask, …)`";
        Err(Diagnostic::error(Code::ImplTemplate, class.clone(), message).help(help))
    };
    let is_log = |it: &&Method| it.is_static && Level::from_method(&it.name).is_some();
    let Some(method) = methods.iter().find(is_log) else {
        return error("the template has no static log methods".to_owned());
    };
    let types: Vec<&str> = method.types.iter().map(String::as_str).collect();
    let [group, "long", mask @ ("int" | "long"), rest @ ..] = &types[..] else {
        return error(format!("`{}({})` is no log method", method.name, types.join(", ")));
    };
    let mask = if *mask == "int" { MaskType::Int } else { MaskType::Long };
    let passes_text =
        rest.first().is_some_and(|next| matches!(*next, "String" | "java.lang.String"));
    Ok(LogMethod { group: (*group).to_owned(), mask, passes_text })
}

/// The method that says whether a level of a group is on, the one for an instance first.
fn enabled_method(methods: &[Method]) -> Option<EnabledMethod> {
    let named = || methods.iter().filter(|it| it.is_static && it.name == "isEnabled");
    let of_instance = named().find_map(|method| match &method.types[..] {
        [instance, _, level] => Some((Some(instance.clone()), level.clone())),
        _ => None,
    });
    let of_process = || {
        named().find_map(|method| match &method.types[..] {
            [_, level] => Some((None, level.clone())),
            _ => None,
        })
    };
    let (instance, level) = of_instance.or_else(of_process)?;
    Some(EnabledMethod { instance, level })
}

/// The fields that a declaration declares, if it is annotated.
fn fields_of(declaration: Node<'_>, source: &Source) -> Result<Vec<InjectedField>, Diagnostic> {
    let Some(annotation) = annotation(declaration, source) else { return Ok(Vec::new()) };
    let value = children(annotation)
        .filter(|child| child.kind() == "annotation_argument_list")
        .flat_map(children)
        .last()
        .unwrap_or(annotation);
    let written = lexer::compact(source.slice(value.byte_range()));
    let injected = match written.rsplit(['.', '=']).next().unwrap_or_default() {
        "VIEWER_CONFIG_PATH" => Injected::ViewerConfigPath,
        "LEGACY_VIEWER_CONFIG_PATH" => Injected::LegacyViewerConfigPath,
        "LEGACY_OUTPUT_FILE_PATH" => Injected::LegacyOutputPath,
        "LOG_GROUPS" => Injected::LogGroups,
        "CACHE_UPDATER" => Injected::CacheUpdater,
        _ => {
            let message = format!("unknown value `{written}` of `@{ANNOTATION}`");
            let help = "use `VIEWER_CONFIG_PATH`, `LOG_GROUPS`, `CACHE_UPDATER`, `LEGACY_VIEWER_CONFIG_PATH` or `LEGACY_OUTPUT_FILE_PATH`";
            let range = value.byte_range();
            return Err(Diagnostic::error(Code::ImplTemplate, range, message).help(help));
        }
    };
    let type_start = declaration.child_by_field_name("type").unwrap_or(declaration).start_byte();
    let is_final = has_modifier(declaration, "final");
    let declarators = children(declaration).filter(|node| node.kind() == "variable_declarator");
    let field = |node: Node<'_>| {
        let end = node.end_byte();
        let value = node.child_by_field_name("value").map_or(end..end, |value| value.byte_range());
        InjectedField { injected, type_start, is_final, value }
    };
    Ok(declarators.map(field).collect())
}

fn annotation<'t>(declaration: Node<'t>, source: &Source) -> Option<Node<'t>> {
    let modifiers = children(declaration).filter(|node| node.kind() == "modifiers");
    modifiers.flat_map(children).find(|node| {
        matches!(node.kind(), "annotation" | "marker_annotation")
            && field_text(*node, "name", source).rsplit('.').next() == Some(ANNOTATION)
    })
}

fn name_range(declaration: Node<'_>) -> Range<usize> {
    declaration.child_by_field_name("name").unwrap_or(declaration).byte_range()
}
