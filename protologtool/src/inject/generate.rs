//! Writing the class: the template with its name changed, its fields filled in, and members added
//! before its last brace.

use super::ImplTemplate;
use super::template::{EnabledMethod, Injected};
use crate::exit::Failure;
use crate::groups::Groups;
use crate::lang::java::emit::quoted;
use crate::lang::jvm::dialect::cache_index;
use crate::lang::jvm::dialect::{Android, Guard};
use crate::pipeline::Processed;
use crate::rewrite::PlanBuilder;
use crate::source::line_ends;
use protolog_core::Level;
use std::fmt::Write;

/// Paths on the device, which fields are filled with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values<'a> {
    /// Of the dictionary.
    pub viewer_config: Option<&'a str>,
    /// Of the dictionary in the older form.
    pub legacy_viewer_config: Option<&'a str>,
    /// Of the log in the older form.
    pub legacy_output: Option<&'a str>,
}

/// A class that was made.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Its full name.
    pub class: String,
    /// Its path in the output: below `gen/`, by its package.
    pub path: String,
    /// Its source.
    pub bytes: Vec<u8>,
}

impl From<Generated> for Processed {
    /// The class as one more file that was rewritten.
    fn from(class: Generated) -> Self {
        let place = class.path.strip_prefix("gen/").unwrap_or(&class.path).to_owned();
        Self { rewritten: Some(class.bytes), ..Self::untouched(class.path, place) }
    }
}

impl ImplTemplate {
    /// The full name of the class with this number.
    pub fn class_name(&self, number: u32) -> String {
        let (name, dot) = (&self.class, if self.package.is_empty() { "" } else { "." });
        format!("{}{dot}{name}_{number}", self.package)
    }

    /// Makes the class with this number, for calls of this form.
    pub fn generate(
        &self,
        number: u32,
        form: &Android,
        values: &Values<'_>,
        groups: &Groups,
    ) -> Result<Generated, Failure> {
        let mut plan = PlanBuilder::default();
        let name = format!("{}_{number}", self.class);
        for declared in &self.names {
            plan.replace(declared.clone(), name.as_str());
        }
        let mut finals = Vec::new();
        for field in &self.fields {
            if !field.is_final && !finals.contains(&field.type_start) {
                finals.push(field.type_start);
                plan.wrap(field.type_start..field.type_start, "final ", "");
            }
            let equals = if field.value.is_empty() { " = " } else { "" };
            let value = initial_value(field.injected, values)?;
            plan.replace(field.value.clone(), format!("{equals}{value}"));
        }
        let end = self.end..self.end;
        plan.replace(end, self.with_line_ends(self.members(form, groups)));
        let plan = plan
            .finish()
            .map_err(|overlap| Failure::new(format!("can't fill in the template: {overlap}")))?;
        let class = self.class_name(number);
        let path = format!("gen/{}.java", class.replace('.', "/"));
        Ok(Generated { class, path, bytes: plan.apply(self.source.bytes()) })
    }

    fn members(&self, form: &Android, groups: &Groups) -> String {
        let mut text = String::new();
        if self.fields.iter().any(|field| field.injected == Injected::LogGroups) {
            text.push_str(&self.groups_method(groups));
        }
        if self.updates_cache() || form.guard == Guard::Cache {
            let updater = self.enabled_method.as_ref().filter(|_| self.updates_cache());
            text.push_str(&cache(groups, updater));
        }
        text
    }

    fn groups_method(&self, groups: &Groups) -> String {
        let map = format!("java.util.TreeMap<String, {}>", self.log_method.group);
        let mut text = format!(
            "\n    private static final {map} createLogGroupsMap() {{\n        {map} result = new {map}();\n"
        );
        for group in groups.list() {
            let (name, class, own) = (&group.name, groups.class(), quoted(&group.own_name));
            let _ = writeln!(text, "        result.put({own}, {class}.{name});");
        }
        text + "        return result;\n    }\n"
    }

    /// The text with line ends as the template has them.
    fn with_line_ends(&self, text: String) -> String {
        let bytes = self.source.bytes();
        match line_ends(bytes).next().and_then(|end| std::str::from_utf8(&bytes[end]).ok()) {
            Some(end) if end != "\n" => text.replace('\n', end),
            _ => text,
        }
    }
}

fn initial_value(injected: Injected, values: &Values<'_>) -> Result<String, Failure> {
    let or_null = |path: Option<&str>| Ok(path.map_or("null".to_owned(), quoted));
    match injected {
        Injected::ViewerConfigPath => values.viewer_config.map(quoted).ok_or_else(|| {
            Failure::new("the template needs the dictionary's path on the device")
                .help("set `--viewer-config-file-path`")
        }),
        Injected::LegacyViewerConfigPath => or_null(values.legacy_viewer_config),
        Injected::LegacyOutputPath => or_null(values.legacy_output),
        Injected::LogGroups => Ok("createLogGroupsMap()".to_owned()),
        Injected::CacheUpdater => Ok("Cache::update".to_owned()),
    }
}

/// The nested class `Cache`: for each group a field with the state of each level, and the method
/// that sets them.
fn cache(groups: &Groups, updater: Option<&EnabledMethod>) -> String {
    let mut text = "\n    public static class Cache {\n".to_owned();
    for group in groups.list() {
        let on = group.log_to_text || group.enabled;
        let states = vec![on.to_string(); Level::ALL.len()].join(", ");
        let _ = writeln!(
            text,
            "        public static boolean[] {}_enabled = new boolean[] {{ {states} }};",
            group.name
        );
    }
    if let Some(EnabledMethod { instance, level }) = updater {
        let parameter =
            instance.as_ref().map_or(String::new(), |kind| format!("{kind} protoLogInstance"));
        let _ = writeln!(text, "\n        private static void update({parameter}) {{");
        let first = if instance.is_some() { "protoLogInstance, " } else { "" };
        for group in groups.list() {
            for each in Level::ALL {
                let (name, class, index) = (&group.name, groups.class(), cache_index(each));
                let _ = writeln!(
                    text,
                    "            {name}_enabled[{index}] = isEnabled({first}{class}.{name}, {level}.{each});"
                );
            }
        }
        text.push_str("        }\n");
    }
    text + "    }\n"
}
