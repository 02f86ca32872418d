//! Expressions of licences, as SPDX writes them and as crates wrote them before: is there a choice
//! that the project allows?

/// Returns true if `expression` can be satisfied with the licences of `allowed` alone.
pub(super) fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    // A slash was the word for a choice.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, allowed };
    parser.any() && parser.words.is_empty()
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl Parser<'_> {
    /// One of several, of which each may be several together.
    fn any(&mut self) -> bool {
        let mut result = self.all();
        while self.take("OR") {
            result |= self.all();
        }
        result
    }

    fn all(&mut self) -> bool {
        let mut result = self.one();
        while self.take("AND") {
            result &= self.one();
        }
        result
    }

    /// A licence, perhaps with an exception, or an expression in parentheses.
    fn one(&mut self) -> bool {
        if self.take("(") {
            return self.any() & self.take(")");
        }
        let Some((name, rest)) = self.words.split_first() else { return false };
        self.words = rest;
        let mut name = (*name).to_owned();
        if self.take("WITH")
            && let Some((exception, rest)) = self.words.split_first()
        {
            self.words = rest;
            name = format!("{name} WITH {exception}");
        }
        self.allowed.contains(&name.as_str())
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.first() == Some(&word);
        self.words = &self.words[usize::from(is_next)..];
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn a_choice_needs_one_and_a_sum_all() {
        let allowed = ["MIT", "Unicode-3.0", "A WITH x"];
        let yes =
            ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT", "(MIT OR B) AND Unicode-3.0", "A WITH x"];
        for expression in yes {
            assert!(is_allowed(expression, &allowed), "{expression}");
        }
        let no = [
            "",
            "GPL-3.0",
            "MIT AND B",
            "(MIT OR B) AND C",
            "A",
            "MIT WITH x",
            "(MIT",
            "MIT)",
            "MIT B",
        ];
        for expression in no {
            assert!(!is_allowed(expression, &allowed), "{expression}");
        }
    }
}
