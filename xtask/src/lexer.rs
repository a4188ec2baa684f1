//! Rust source cut into words and marks, without comments and string contents: just enough to find a forbidden name.

/// Words (identifiers, numbers) and single marks, each with its line number.
pub(crate) fn tokens(source: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest, first);
        let (token, tail) = rest.split_at(length);
        let is_code = !first.is_whitespace() && first != '"' && !token.starts_with("//") && !token.starts_with("/*");
        if is_code {
            found.push((line, token));
        }
        line += token.matches('\n').count();
        rest = tail;
    }
    found
}

fn token_length(rest: &str, first: char) -> usize {
    let until = |end: Option<usize>| end.unwrap_or(rest.len());
    if rest.starts_with("//") {
        until(rest.find('\n'))
    } else if rest.starts_with("/*") {
        until(rest.find("*/").map(|at| at + 2))
    } else if rest.starts_with("'\"'") {
        3
    } else if first == '"' {
        string_length(rest)
    } else if first.is_alphanumeric() || first == '_' {
        until(rest.find(|c: char| !c.is_alphanumeric() && c != '_'))
    } else {
        first.len_utf8()
    }
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn comments_and_strings_are_left_out() {
        let source = "// a b\nlet x = \"c \\\" d\"; /* e\nf */ g('\"', h)";
        let words: Vec<_> =
            tokens(source).into_iter().filter(|(_, t)| t.len() == 1 && t.as_bytes()[0].is_ascii_alphabetic()).collect();
        assert_eq!(words, [(2, "x"), (3, "g"), (3, "h")]);
    }
}
