//! The syntax of the descriptions.

/// One element of a packet.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// The arguments of `name=value` or `name(value, key=value)`.
    pub(super) args: Vec<(Option<String>, Atom)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    Int(i128),
    Float(f64),
    Text(Vec<u8>),
    Word(String),
    /// `$1`
    Iid(u64),
}

impl Element {
    pub(super) fn at(&self, index: usize) -> &Atom {
        let arg = self.args.get(index);
        &arg.unwrap_or_else(|| panic!("`{}` lacks argument {index}", self.name)).1
    }

    pub(super) fn number(&self, index: usize) -> u64 {
        self.at(index).number()
    }

    pub(super) fn text(&self, index: usize) -> &[u8] {
        match self.at(index) {
            Atom::Text(text) => text,
            other => panic!("`{}`: {other:?} is no text", self.name),
        }
    }

    pub(super) fn word(&self, index: usize) -> &str {
        match self.at(index) {
            Atom::Word(word) => word,
            other => panic!("`{}`: {other:?} is no word", self.name),
        }
    }
}

impl Atom {
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Int(number) => *number as u64,
            other => panic!("{other:?} is no number"),
        }
    }
}

/// Parses the elements of a line.
pub(super) fn elements(line: &str) -> Vec<Element> {
    let mut scanner = Scanner { rest: line };
    let mut elements = Vec::new();
    while !scanner.at_end() {
        elements.push(scanner.element());
    }
    elements
}

struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    fn at_end(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty()
    }

    fn eat(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn element(&mut self) -> Element {
        if self.eat('@') {
            return Element { name: "@".into(), args: vec![(None, self.atom())] };
        }
        let name = self.word();
        let mut args = Vec::new();
        if self.eat('=') {
            args.push((None, self.atom()));
        } else if self.eat('(') {
            while !self.eat(')') {
                args.push(self.arg());
                self.eat(',');
            }
        }
        Element { name, args }
    }

    fn arg(&mut self) -> (Option<String>, Atom) {
        let atom = self.atom();
        if !self.eat('=') {
            return (None, atom);
        }
        let key = match atom {
            Atom::Word(word) => word,
            Atom::Int(number) => number.to_string(),
            other => panic!("{other:?} is no key"),
        };
        (Some(key), self.atom())
    }

    fn atom(&mut self) -> Atom {
        if self.eat('"') {
            return Atom::Text(self.quoted());
        }
        if self.eat('$') {
            return Atom::Iid(self.word().parse().expect("a number after `$`"));
        }
        let word = self.word();
        let digits = word.strip_prefix('-').unwrap_or(&word);
        if let Some(hex) = digits.strip_prefix("0x") {
            return Atom::Int(i128::from(u64::from_str_radix(hex, 16).expect("hexadecimal")));
        }
        if digits.starts_with(|char: char| char.is_ascii_digit()) {
            return match word.parse() {
                Ok(number) => Atom::Int(number),
                Err(_) => Atom::Float(word.parse().expect("a number")),
            };
        }
        Atom::Word(word)
    }

    fn word(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let is_part = |char: char| char.is_alphanumeric() || "_-+.{}".contains(char);
        let end = self.rest.find(|char| !is_part(char)).unwrap_or(self.rest.len());
        assert!(end > 0, "can't read `{}`", self.rest);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    /// The text up to the closing quote. Escapes: `\n \t \\ \" \xNN`.
    fn quoted(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = self.rest.bytes();
        loop {
            match rest.next().expect("a closing quote") {
                b'"' => break,
                b'\\' => bytes.push(match rest.next() {
                    Some(b'n') => b'\n',
                    Some(b't') => b'\t',
                    Some(b'x') => {
                        let mut digit = || rest.next().and_then(|byte| (byte as char).to_digit(16));
                        let (high, low) = (digit(), digit());
                        (high.expect("hexadecimal") * 16 + low.expect("hexadecimal")) as u8
                    }
                    Some(byte @ (b'\\' | b'"')) => byte,
                    other => panic!("unknown escape {other:?}"),
                }),
                byte => bytes.push(byte),
            }
        }
        self.rest = &self.rest[self.rest.len() - rest.len()..];
        bytes
    }
}
