//! The answer to which dialect a run has and what form its output: dialect, ids, and the class that
//! rewritten code calls.
//!
//! [`release`] decides on the dialect; the dialects themselves are in
//! [`crate::lang::jvm::dialect`]. A template tells Android's releases apart, where there is one:
//! the file that is named, one among the sources, or, for Android's own class, the one at the path
//! that AOSP's tool knows.

mod release;

pub(crate) use release::{AndroidFlags, advice};

use crate::args::{DialectChoice, IdChoice};
use crate::diagnostic::Report;
use crate::exit::Failure;
use crate::groups::{GroupClash, Groups};
use crate::ids::MessageIds;
use crate::inject::{AOSP_TEMPLATE, ImplTemplate, Values, class_number};
use crate::lang::java::Java;
use crate::lang::jvm::dialect::Dialect;
use crate::output::cant_read;
use crate::pipeline::Processed;
use crate::source::Source;
use crate::system::System;
use release::{AndroidDictionary, Evidence, Release};
use std::path::{Path, PathBuf};

/// The command line's choices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetRequest<'a> {
    /// The class whose calls are meant.
    pub(crate) protolog_class: &'a str,
    /// The files that are processed.
    pub(crate) sources: &'a [PathBuf],
    /// These, and the file that the groups were read from.
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) dialect: DialectChoice,
    pub(crate) ids: Option<IdChoice>,
    /// Flags that only Android's rules pass.
    pub(crate) flags: AndroidFlags,
    /// None if no code is written.
    pub(crate) code: Option<CodeRequest<'a>>,
}

/// The command line's choices for rewritten code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeRequest<'a> {
    /// The class that it calls, if that exists.
    pub(crate) implementation: Option<&'a str>,
    /// The template of that class, if it is to be made.
    pub(crate) template: Option<&'a Path>,
    /// The values of the class's fields.
    pub(crate) values: Values<'a>,
}

/// The form of the output.
#[derive(Debug)]
pub(crate) struct JavaTarget {
    pub(crate) java: Java,
    pub(crate) groups: Groups,
    pub(crate) ids: MessageIds,
    /// The form of a dictionary for Android.
    pub(crate) dictionary: Option<AndroidDictionary>,
    /// The class that rewritten code calls, as one more file, and the file that it was made from.
    pub(crate) generated: Option<(Processed, PathBuf)>,
}

/// Why nothing can come out.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The command line is wrong, or a file can't be read.
    Failure(Failure),
    /// The template is wrong.
    Report(Box<Report>),
    /// Two groups have one id in Android's dictionaries.
    Clash(GroupClash),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl TargetRequest<'_> {
    /// Decides.
    pub(crate) fn target(
        &self,
        groups: Groups,
        system: &dyn System,
    ) -> Result<JavaTarget, Refusal> {
        let template = self.template(system)?;
        let Release { dialect, dictionary } = self.evidence(template.as_ref()).release()?;
        let ids = match (self.ids, &dialect) {
            (Some(IdChoice::Xxh3), _) | (None, Dialect::Protolog) => MessageIds::Xxh3,
            (Some(IdChoice::Aosp), _) | (None, Dialect::Android(_)) => MessageIds::Aosp,
        };
        let (Dialect::Android(form), Some(release)) = (&dialect, dictionary) else {
            let implementation = self.implementation();
            return Ok(JavaTarget {
                java: Java::new(self.protolog_class, &implementation),
                groups,
                ids,
                dictionary,
                generated: None,
            });
        };
        let groups = groups.for_android(release.numbers).map_err(Refusal::Clash)?;
        let (mut implementation, mut generated) = (self.implementation(), None);
        if let Some(code) = self.code.filter(|code| code.implementation.is_none()) {
            let Some(template) = &template else { return Err(no_template().into()) };
            let number = class_number(self.inputs);
            let class = template.generate(number, form, &code.values, &groups)?;
            implementation.clone_from(&class.class);
            generated = Some((class.into(), template.source().path().to_path_buf()));
        }
        let java = Java::new(self.protolog_class, &implementation).with_dialect(dialect);
        Ok(JavaTarget { java, groups, ids, dictionary, generated })
    }

    /// The class that rewritten code calls, unless it is made.
    fn implementation(&self) -> String {
        let named = self.code.and_then(|code| code.implementation);
        named.map_or_else(|| format!("{}Impl", self.protolog_class), str::to_owned)
    }

    fn evidence<'t>(&'t self, template: Option<&'t ImplTemplate>) -> Evidence<'t> {
        let (class, dialect, flags) = (self.protolog_class, self.dialect, self.flags);
        Evidence { class, dialect, template, flags }
    }

    /// The template, if there is one and the dialect has use for it.
    fn template(&self, system: &dyn System) -> Result<Option<ImplTemplate>, Refusal> {
        let Some(source) = self.template_source(system)? else { return Ok(None) };
        match ImplTemplate::read(&source) {
            Ok(template) => Ok(Some(template)),
            Err(diagnostics) => Err(Refusal::Report(Box::new(Report { source, diagnostics }))),
        }
    }

    fn template_source(&self, system: &dyn System) -> Result<Option<Source>, Failure> {
        if self.dialect == DialectChoice::Protolog {
            return Ok(None);
        }
        if let Some(path) = self.code.and_then(|code| code.template) {
            let bytes = system.read(path).map_err(|error| cant_read(path, &error))?;
            return Ok(Some(Source::new(path, bytes)));
        }
        let mut found: Option<Source> = None;
        let named = |path: &&PathBuf| path.ends_with("ProtoLogImpl.java");
        for path in self.sources.iter().filter(named) {
            // The reader of the sources reports those that can't be read.
            let Ok(bytes) = system.read(path) else { continue };
            if !ImplTemplate::is_template(path, &bytes) {
                continue;
            }
            if let Some(other) = found {
                let (first, second) = (other.path().display(), path.display());
                let message = format!("`{first}` and `{second}` are both templates");
                return Err(Failure::new(message).help("name one by `--protolog-impl-template`"));
            }
            found = Some(Source::new(path, bytes));
        }
        let at_fixed_path = || {
            let may_be =
                self.evidence(None).is_android_class() || self.dialect != DialectChoice::Auto;
            let path = Path::new(AOSP_TEMPLATE);
            may_be.then(|| system.read(path).ok()).flatten().map(|bytes| Source::new(path, bytes))
        };
        Ok(found.or_else(at_fixed_path))
    }
}

fn no_template() -> Failure {
    let message = format!(
        "no template of the class that rewritten code calls: neither among the sources nor at `{AOSP_TEMPLATE}`"
    );
    Failure::new(message).help(
        "add `ProtoLogImpl.java` to the sources, or set `--protolog-impl-template`; or name a class that exists by `--protolog-impl-class`",
    )
}
