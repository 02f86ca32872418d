//! Finds the declarations of a file by its tokens.
//!
//! Where Kotlin's grammar would have to be known to say where a scope ends (a function whose body
//! is an expression), it ends with the line or the lines that continue it.

mod class;

use super::file::KotlinFile;
use super::lexer::LexemeKind;
use super::scopes::{DeclaredKind, DeclaredName};
use std::ops::Range;

/// All declarations of a file, in the order of their keywords.
pub(crate) fn declarations(file: &KotlinFile<'_>) -> Vec<DeclaredName> {
    let mut reader = DeclarationReader { file, found: Vec::new(), open: Vec::new() };
    reader.read();
    reader.found
}

/// A pair of braces that is open.
struct Body {
    close: usize,
    kind: BodyKind,
    /// The class or object around these declarations.
    owner: Option<String>,
    /// The bytes in which a companion's members are known without its name: the class that has it.
    outer: Option<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyKind {
    Class,
    Code,
}

struct DeclarationReader<'f, 's> {
    file: &'f KotlinFile<'s>,
    found: Vec<DeclaredName>,
    open: Vec<Body>,
}

impl DeclarationReader<'_, '_> {
    fn read(&mut self) {
        let file = self.file;
        // Bodies of classes, with the owner of their members and the bytes that a companion's
        // members are known in.
        let mut classes: Vec<(usize, Option<String>, Option<Range<usize>>)> = Vec::new();
        // The parentheses of classes' headers.
        let mut headers: Vec<Range<usize>> = Vec::new();
        for at in 0..file.tokens.len() {
            while self.open.pop_if(|body| at > body.close).is_some() {}
            if file.is_punct(at, b'{') || file.kind(at) == Some(LexemeKind::ExpressionOpen) {
                let class = classes.iter().position(|(body, ..)| *body == at);
                let close = file.partner(at);
                let body = match class.map(|index| classes.swap_remove(index)) {
                    Some((_, owner, outer)) => Body { close, kind: BodyKind::Class, owner, outer },
                    None => {
                        let owner = self.open.last().and_then(|body| body.owner.clone());
                        Body { close, kind: BodyKind::Code, owner, outer: None }
                    }
                };
                self.open.push(body);
                self.lambda(at);
                continue;
            }
            if !file.is_word(at) || self.is_part_of_name(at) {
                continue;
            }
            match file.raw(at) {
                // Of a class's header, its declaration knows.
                "val" | "var" if headers.iter().any(|header| header.contains(&at)) => {}
                "val" | "var" => self.variable(at),
                "fun" => self.function(at),
                "constructor" => self.parameters_and_body(at + 1),
                "set" if file.is_punct(at + 1, b'(') => self.parameters_and_body(at + 1),
                "catch" | "for" if file.is_punct(at + 1, b'(') => self.head(at),
                "class" | "interface" | "object" => {
                    while headers.pop_if(|header| header.end < at).is_some() {}
                    let (class, header) = self.class(at);
                    classes.extend(class);
                    headers.extend(header);
                }
                "typealias" if file.is_word(at + 1) => {
                    let end = self.end_of_expression(at + 2, file.tokens.len());
                    let target = (file.is_punct(at + 2, b'=') && at + 3 < end).then(|| at + 3..end);
                    let scope = self.around();
                    self.declare(at + 1, DeclaredKind::Type, scope, target, None);
                }
                _ => {}
            }
        }
    }

    /// Returns whether the word at `at` is a name behind a dot or in a reference to a class, rather
    /// than a keyword.
    fn is_part_of_name(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        match self.file.kind(before) {
            Some(LexemeKind::Punct(b'.') | LexemeKind::Reference) => true,
            Some(LexemeKind::Punct(b':')) => before > 0 && self.file.is_punct(before - 1, b':'),
            _ => false,
        }
    }

    /// The bytes of the innermost braces that are open; of the file if none are.
    fn around(&self) -> Range<usize> {
        let Some(body) = self.open.last() else { return 0..self.file.text.len() };
        if let Some(outer) = &body.outer {
            return outer.clone();
        }
        let open = self.file.partner(body.close);
        self.file.bytes_of(&(open..body.close + 1))
    }

    fn declare(
        &mut self,
        name: usize,
        kind: DeclaredKind,
        scope: Range<usize>,
        written_type: Option<Range<usize>>,
        value: Option<Range<usize>>,
    ) {
        let owner = self.open.last().and_then(|body| body.owner.clone());
        let offset = self.file.bytes_of(&(name..name)).start;
        let name = self.file.word(name).into_owned();
        let written_type = written_type.map(|tokens| tokens.map(|at| self.file.raw(at)).collect());
        self.found.push(DeclaredName {
            name,
            kind,
            offset,
            scope,
            written_type,
            value,
            owner,
            body: None,
            supertypes: Vec::new(),
            is_companion: false,
        });
    }

    /// `val`, `var`, `const val` at `at`.
    fn variable(&mut self, at: usize) {
        let file = self.file;
        let is_const = at > 0 && file.raw(at - 1) == "const";
        let at = self.type_parameters(at + 1);
        let is_member = self.open.last().is_none_or(|body| body.kind == BodyKind::Class);
        let mut scope = self.around();
        if !is_member {
            scope.start = file.bytes_of(&(at..at)).start;
        }
        let kind = if is_member { DeclaredKind::Property } else { DeclaredKind::Local };
        if file.is_punct(at, b'(') {
            for element in file.elements(at) {
                let name = element.start;
                let colon = (element.start..element.end).find(|at| file.is_punct(*at, b':'));
                let written = colon.map(|colon| colon + 1..element.end);
                self.declare(name, kind, scope.clone(), written, None);
            }
            return;
        }
        let Some((name, end)) = self.name(at) else { return };
        let limit = self.open.last().map_or(file.tokens.len(), |body| body.close);
        let (written, mut at) = self.written_type(end, limit);
        let mut value = None;
        if file.is_punct(at, b'=') {
            let from = at + 1;
            at = self.end_of_expression(from, limit);
            value = Some(from..at);
        }
        let kind = if is_const { DeclaredKind::Constant } else { kind };
        self.declare(name, kind, scope, written, value);
    }

    /// Declares the type parameters `<A, reified B : C>` at `at`, if there are some there; and the
    /// position behind them. Where their declaration ends is not looked for: their names are those
    /// of types around it, too.
    fn type_parameters(&mut self, at: usize) -> usize {
        let file = self.file;
        let end = file.is_punct(at, b'<').then(|| file.after_type_arguments(at)).flatten();
        let Some(end) = end else { return at };
        let scope = self.around();
        let (mut depth, mut at, mut is_first) = (0_usize, at, false);
        while at < end {
            match file.kind(at) {
                Some(LexemeKind::Punct(b'<')) => (depth, is_first) = (depth + 1, depth == 0),
                Some(LexemeKind::Punct(b'>')) if !file.is_punct(at - 1, b'-') => depth -= 1,
                Some(LexemeKind::Punct(b',')) => is_first = depth == 1,
                Some(LexemeKind::Punct(b'@')) => {
                    at = file.after_annotation(at).min(end);
                    continue;
                }
                // `in`, `out` and `reified` come before a name.
                Some(LexemeKind::Word) if is_first && !file.is_word(at + 1) => {
                    self.declare(at, DeclaredKind::TypeParameter, scope.clone(), None, None);
                    is_first = false;
                }
                _ => {}
            }
            at = file.partner(at).max(at) + 1;
        }
        end
    }

    /// The name that a declaration begins with at `at`, behind the type of a receiver if there is
    /// one; and what follows.
    fn name(&self, at: usize) -> Option<(usize, usize)> {
        let file = self.file;
        let (mut at, mut name) = (at, None);
        loop {
            match file.kind(at)? {
                LexemeKind::Word => {
                    name = Some(at);
                    at += 1;
                }
                LexemeKind::Punct(b'<') => at = file.after_type_arguments(at)?,
                LexemeKind::Punct(b'@') => {
                    at = file.after_annotation(at);
                    continue;
                }
                LexemeKind::Punct(b'(')
                    if name.is_none() || file.is_punct(file.partner(at) + 1, b'.') =>
                {
                    at = file.partner(at) + 1;
                }
                _ => break,
            }
            if file.is_punct(at, b'<') {
                at = file.after_type_arguments(at)?;
            }
            if file.is_punct(at, b'?') {
                at += 1;
            }
            if !file.is_punct(at, b'.') {
                break;
            }
            at += 1;
        }
        name.map(|name| (name, at))
    }

    /// The type after a colon at `at`, up to the first token beyond it; and its position.
    fn written_type(&self, at: usize, limit: usize) -> (Option<Range<usize>>, usize) {
        let file = self.file;
        if !file.is_punct(at, b':') {
            return (None, at);
        }
        let from = at + 1;
        let mut at = from;
        while at < limit {
            at = match file.kind(at) {
                Some(LexemeKind::Punct(b'-')) if file.is_punct(at + 1, b'>') => at + 2,
                Some(LexemeKind::Punct(b'<')) => file.after_type_arguments(at).unwrap_or(limit),
                Some(LexemeKind::Punct(b'(')) => file.partner(at) + 1,
                Some(LexemeKind::Punct(b'@')) => file.after_annotation(at),
                Some(LexemeKind::Punct(b'.' | b'?' | b'*' | b'&')) => at + 1,
                Some(LexemeKind::Word)
                    if !(at > from && file.begins_line(at) && !file.is_punct(at - 1, b'.')) =>
                {
                    if file.raw(at) == "where" || file.raw(at) == "by" {
                        break;
                    }
                    at + 1
                }
                _ => break,
            };
        }
        (Some(from..at), at)
    }

    /// `fun` at `at`, with a name or without.
    fn function(&mut self, at: usize) {
        let file = self.file;
        let from = self.type_parameters(at + 1);
        if let Some((name, parameters)) = self.name(from) {
            if file.is_punct(parameters, b'(') {
                let scope = self.around();
                let end = self.end_of_body(file.partner(parameters) + 1);
                self.declare(name, DeclaredKind::Function, scope, None, Some(name..end));
                self.parameters_and_body(parameters);
            }
        } else if file.is_punct(from, b'(') {
            self.parameters_and_body(from);
        }
    }

    /// Declares the parameters in the parentheses at `open`, for the body that follows.
    fn parameters_and_body(&mut self, open: usize) {
        let file = self.file;
        if !file.is_punct(open, b'(') {
            return;
        }
        let end = self.end_of_body(file.partner(open) + 1);
        self.parameters(open, file.bytes_of(&(open..end)));
    }

    /// Declares the parameters in the parentheses at `open`.
    fn parameters(&mut self, open: usize, scope: Range<usize>) {
        let file = self.file;
        for element in file.elements(open) {
            let mut at = element.start;
            let mut is_vararg = false;
            while at < element.end {
                if file.is_punct(at, b'@') {
                    at = file.after_annotation(at);
                } else if file.is_word(at) && file.is_word(at + 1) {
                    is_vararg |= file.raw(at) == "vararg";
                    at += 1;
                } else {
                    break;
                }
            }
            if at >= element.end || !file.is_word(at) {
                continue;
            }
            let (written, _) = self.written_type(at + 1, element.end);
            let kind = if is_vararg { DeclaredKind::Vararg } else { DeclaredKind::Parameter };
            self.declare(at, kind, scope.clone(), written, None);
        }
    }

    /// The end of the body of a function whose parameters end before `at`, as the position behind
    /// it.
    fn end_of_body(&self, at: usize) -> usize {
        let file = self.file;
        let limit = self.open.last().map_or(file.tokens.len(), |body| body.close);
        let (_, mut at) = self.written_type(at, limit);
        // Conditions on type parameters; the call of another constructor.
        while at < limit
            && !file.is_punct(at, b'{')
            && !file.is_punct(at, b'=')
            && (matches!(file.raw(at), "where" | "this" | "super") || !file.begins_line(at))
            && !file.is_punct(at, b';')
        {
            at = file.next(at, limit);
        }
        if file.is_punct(at, b'{') {
            file.partner(at) + 1
        } else if file.is_punct(at, b'=') {
            self.end_of_expression(at + 1, limit)
        } else {
            at
        }
    }

    /// The position behind the expression that begins at `from`.
    fn end_of_expression(&self, from: usize, limit: usize) -> usize {
        let file = self.file;
        let mut at = from;
        while at < limit {
            let is_end = match file.kind(at) {
                Some(LexemeKind::Punct(b';' | b',' | b')' | b']' | b'}')) => true,
                _ => at > from && file.begins_line(at) && !self.continues(at),
            };
            if is_end {
                break;
            }
            at = file.next(at, limit);
        }
        at.min(limit)
    }

    /// Returns whether the line that begins with the token at `at` continues the one before.
    fn continues(&self, at: usize) -> bool {
        let file = self.file;
        let is_next = match file.kind(at) {
            Some(LexemeKind::Punct(b'.' | b'?' | b'{')) => true,
            Some(LexemeKind::Punct(byte @ (b'&' | b'|'))) => file.is_punct(at + 1, byte),
            Some(LexemeKind::Word) => {
                matches!(file.raw(at), "else" | "catch" | "finally" | "as" | "is" | "in")
            }
            _ => false,
        };
        let is_head = |close: usize| {
            let open = file.partner(close);
            open > 0 && matches!(file.raw(open - 1), "if" | "while" | "for" | "when")
        };
        let is_after = match file.kind(at - 1) {
            Some(LexemeKind::Punct(b')')) => is_head(at - 1),
            Some(LexemeKind::Punct(byte)) => b"+-*/%=<>&|,:?.".contains(&byte),
            Some(LexemeKind::Word) => {
                matches!(file.raw(at - 1), "else" | "return" | "throw" | "in" | "is" | "as")
            }
            _ => false,
        };
        is_next || is_after
    }

    /// `catch (e: E) {` and `for (x in xs)` at `at`.
    fn head(&mut self, at: usize) {
        let file = self.file;
        let (open, close) = (at + 1, file.partner(at + 1));
        let limit = self.open.last().map_or(file.tokens.len(), |body| body.close);
        let end = if file.is_punct(close + 1, b'{') {
            file.partner(close + 1) + 1
        } else {
            self.end_of_expression(close + 1, limit)
        };
        let scope = file.bytes_of(&(open..end));
        let mut first = open + 1;
        while file.is_punct(first, b'@') {
            first = file.after_annotation(first);
        }
        if file.is_punct(first, b'(') {
            for element in file.elements(first) {
                self.declare(element.start, DeclaredKind::Local, scope.clone(), None, None);
            }
        } else if file.is_word(first) {
            let (written, _) = self.written_type(first + 1, close);
            let is_loop = file.raw(at) == "for";
            let written = written.filter(|_| !is_loop);
            self.declare(first, DeclaredKind::Local, scope, written, None);
        }
    }

    /// Declares the parameters of the lambda whose brace is at `open`, if it is one.
    fn lambda(&mut self, open: usize) {
        let file = self.file;
        let is_when = open > 0
            && (file.raw(open - 1) == "when"
                || file.is_punct(open - 1, b')')
                    && file
                        .partner(open - 1)
                        .checked_sub(1)
                        .is_some_and(|at| file.raw(at) == "when"));
        if is_when || file.kind(open) == Some(LexemeKind::ExpressionOpen) {
            return;
        }
        let close = file.partner(open);
        let mut at = open + 1;
        while at < close && !(file.is_punct(at, b'-') && file.is_punct(at + 1, b'>')) {
            at = match file.kind(at) {
                Some(LexemeKind::Word | LexemeKind::Punct(b',' | b':' | b'.' | b'?' | b'*')) => {
                    at + 1
                }
                Some(LexemeKind::Punct(b'(')) => file.partner(at) + 1,
                Some(LexemeKind::Punct(b'<')) => file.after_type_arguments(at).unwrap_or(close),
                _ => return,
            };
        }
        if at >= close {
            return;
        }
        let scope = file.bytes_of(&(open..close + 1));
        let mut name = open + 1;
        while name < at {
            if file.is_punct(name, b'(') {
                for element in file.elements(name) {
                    self.declare(element.start, DeclaredKind::Parameter, scope.clone(), None, None);
                }
            } else if file.is_word(name) {
                let (written, _) = self.written_type(name + 1, at);
                self.declare(name, DeclaredKind::Parameter, scope.clone(), written, None);
            }
            while name < at && !file.is_punct(name, b',') {
                name = file.next(name, at);
            }
            name += 1;
        }
    }
}
