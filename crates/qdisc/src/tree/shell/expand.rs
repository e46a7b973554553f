//! What a word becomes: parameters, arithmetic, the output of commands, fields, and quotes (POSIX.1-2017, Shell Command
//! Language, 2.6). File names are not looked up, so `*` stays as it is.

use super::arithmetic;
use super::lex;
use super::parse::plain;
use super::pattern;
use super::value::Value;
use super::{Refusal, Shell, is_name, shortened};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Why a word has no value.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It depends on what these words say.
    Unknown(Rc<str>),
    Refused(Refusal),
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

pub(super) type Expanded<T> = Result<T, Trouble>;

pub(super) fn unknown(what: String) -> Trouble {
    Trouble::Unknown(what.into())
}

/// The fields that a word becomes.
struct Fields {
    done: Vec<String>,
    open: Option<String>,
    splits: bool,
    /// Whether quoted characters are marked, for a pattern.
    marks: bool,
}

impl Fields {
    fn push(&mut self, text: &str, is_quoted: bool) {
        let open = self.open.get_or_insert_default();
        if !(self.marks && is_quoted) {
            open.push_str(text);
            return;
        }
        for letter in text.chars() {
            open.extend(matches!(letter, '*' | '?' | '[' | '\\').then_some('\\'));
            open.push(letter);
        }
    }

    /// Adds what an expansion without quotes gives, which blanks split.
    fn push_split(&mut self, text: &str) {
        if !self.splits {
            return self.push(text, false);
        }
        let is_blank = |letter: char| matches!(letter, ' ' | '\t' | '\n');
        for (at, part) in text.split(is_blank).enumerate() {
            if at > 0 {
                self.done.extend(self.open.take());
            }
            if !part.is_empty() {
                self.push(part, false);
            }
        }
    }
}

impl<'a> Shell<'a, '_> {
    /// Adds the fields of `word` to `fields`.
    pub(super) fn fields(&mut self, word: &'a str, line: usize, fields: &mut Vec<String>) -> Expanded<()> {
        if let Some(text) = plain(word) {
            self.spend(text.len(), line)?;
            fields.push(text);
            return Ok(());
        }
        if matches!(word, "\"$@\"" | "$@" | "$*" | "\"${@}\"") {
            for argument in self.arguments.clone() {
                match self.text(&argument)? {
                    text if word.starts_with('"') => fields.push(text),
                    text => fields.extend(text.split_whitespace().map(str::to_string)),
                }
            }
            return Ok(());
        }
        if let Some(name) = word
            .strip_prefix("\"${")
            .and_then(|word| word.strip_suffix("[@]}\""))
            .filter(|name| is_name(name))
        {
            for value in self.elements(name) {
                fields.push(self.text(&value)?);
            }
            return Ok(());
        }
        let (mut done, open) = self.expanded(word, line, true, false)?;
        done.extend(open);
        self.spend(done.iter().map(String::len).sum(), line)?;
        fields.append(&mut done);
        Ok(())
    }

    /// Returns the text of `word`, which is not split.
    pub(super) fn single(&mut self, word: &'a str, line: usize) -> Expanded<String> {
        let text = match plain(word) {
            Some(text) => text,
            None => self.expanded(word, line, false, false)?.1.unwrap_or_default(),
        };
        self.spend(text.len(), line)?;
        Ok(text)
    }

    /// Returns the pattern that `word` is, with a backslash before each character that is quoted.
    pub(super) fn pattern(&mut self, word: &'a str, line: usize) -> Expanded<String> {
        let text = self.expanded(word, line, false, true)?.1.unwrap_or_default();
        self.spend(text.len(), line)?;
        Ok(text)
    }

    /// Returns the finished fields of a word, and the last one.
    fn expanded(
        &mut self,
        word: &'a str,
        line: usize,
        splits: bool,
        marks: bool,
    ) -> Expanded<(Vec<String>, Option<String>)> {
        let fields = Fields { done: Vec::new(), open: None, splits, marks };
        self.deeper(line, |shell| shell.expand_into(fields, word, line))
    }

    fn expand_into(
        &mut self,
        mut fields: Fields,
        word: &'a str,
        line: usize,
    ) -> Expanded<(Vec<String>, Option<String>)> {
        let refused = |why: &str| Trouble::Refused((line, why.to_string()));
        let (mut at, mut is_double) = (0, false);
        while let Some(letter) = word[at..].chars().next() {
            let rest = &word[at..];
            match letter {
                '\'' if !is_double => {
                    let end = rest[1..]
                        .find('\'')
                        .ok_or_else(|| refused("found ' without a second one; accepted: both"))?;
                    fields.push(&rest[1..=end], true);
                    at += end + 2;
                }
                '"' => {
                    is_double = !is_double;
                    fields.open.get_or_insert_default();
                    at += 1;
                }
                '\\' => {
                    let next = rest[1..].chars().next();
                    match next {
                        Some('\n') => {}
                        Some(next) if !is_double || matches!(next, '$' | '`' | '"' | '\\') => {
                            fields.push(next.encode_utf8(&mut [0; 4]), true);
                        }
                        Some(next) => fields.push(&rest[..1 + next.len_utf8()], true),
                        None => fields.push("\\", true),
                    }
                    at += 1 + next.map_or(0, char::len_utf8);
                }
                '$' | '`' => {
                    let (value, length) = self.expansion(rest, line)?;
                    at += length;
                    match value {
                        None => fields.push("$", is_double),
                        Some(value) if is_double => fields.push(&value, true),
                        Some(value) => fields.push_split(&value),
                    }
                    let open = fields.open.as_ref().map_or(0, String::len);
                    self.check_length(open, line)?;
                }
                _ => {
                    // In double quotes, ' is a character as others are.
                    let first = letter.len_utf8();
                    let end = rest[first..].find(['\'', '"', '\\', '$', '`']);
                    let end = end.map_or(rest.len(), |end| first + end);
                    fields.push(&rest[..end], is_double);
                    at += end;
                }
            }
        }
        Ok((fields.done, fields.open))
    }

    /// Returns the value of the expansion at the beginning of `text`, and its length. `None`: it is no expansion.
    fn expansion(&mut self, text: &'a str, line: usize) -> Expanded<(Option<String>, usize)> {
        let end = |from: usize, open: u8| {
            let length = lex::length(&text[from..], Some(open));
            length.map(|length| from + length).map_err(|why| Trouble::Refused((line, why.to_string())))
        };
        if text.starts_with('`') {
            let end = end(1, b'`')?;
            return Ok((Some(self.output(&text[1..end - 1], true, line)?), end));
        }
        let rest = &text[1..];
        if rest.starts_with("((") {
            let end = end(2, b')')?;
            if let Some(inner) = text[3..end - 1].strip_suffix(')') {
                let written = self.single(inner, line)?;
                return Ok((Some(arithmetic::compute(self, &written, line)?.to_string()), end));
            }
        }
        if rest.starts_with('(') {
            let end = end(2, b')')?;
            return Ok((Some(self.output(&text[2..end - 1], false, line)?), end));
        }
        if rest.starts_with('{') {
            let end = end(2, b'}')?;
            return Ok((Some(self.parameter(&text[2..end - 1], line)?), end));
        }
        if rest.starts_with('\'') {
            return Err(Trouble::Refused((line, "found $'…'; accepted: text in quotes".to_string())));
        }
        let length = match rest.as_bytes().first() {
            Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' | b'0'..=b'9') => 1,
            _ => rest
                .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
                .unwrap_or(rest.len()),
        };
        match length {
            0 => Ok((None, 1)),
            length => Ok((Some(self.text_of(&rest[..length])?), 1 + length)),
        }
    }

    /// Returns the value of `${…}`, of which `text` is the inside.
    fn parameter(&mut self, text: &'a str, line: usize) -> Expanded<String> {
        if let Some(name) = text.strip_prefix('#').filter(|name| is_name(name)) {
            let value = self.text_of(name)?;
            // dash counts bytes, and bash characters.
            return if value.is_ascii() {
                Ok(value.len().to_string())
            } else {
                Err(self.no_parameter(text, line))
            };
        }
        if let Some(name) =
            text.strip_prefix('#').and_then(|text| text.strip_suffix("[@]")).filter(|name| is_name(name))
        {
            return Ok(self.elements(name).len().to_string());
        }
        let special = text.starts_with(['@', '*', '#', '?', '$', '!', '-']);
        let length = match special {
            true => 1,
            false => text
                .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
                .unwrap_or(text.len()),
        };
        let (name, operator) = text.split_at(length);
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        if name.is_empty() || !(special || is_name(name) || is_number) {
            return Err(self.no_parameter(text, line));
        }
        let key;
        let (name, operator) = match super::array::element(text) {
            None => (name, operator),
            Some((_, "@" | "*", "")) => return self.joined(name),
            Some((_, "@" | "*", _)) => return Err(self.no_parameter(text, line)),
            Some((_, number, rest)) => {
                key = self.element_key(name, number, line)?;
                (key.as_str(), rest)
            }
        };
        if operator.is_empty() {
            return self.text_of(name);
        }
        let (also_empty, rest) = match operator.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, operator),
        };
        let mut letters = rest.chars();
        let (sign, word) = (letters.next().unwrap_or(' '), letters.as_str());
        match sign {
            '-' | '=' | '+' | '?' => {
                let is_there = match self.value_of(name) {
                    None => false,
                    Some(Value::Known(text, _)) => !(also_empty && text.is_empty()),
                    Some(Value::Unknown(what)) => return Err(Trouble::Unknown(what)),
                };
                match (sign, is_there) {
                    ('+', true) | ('-', false) => self.single(word, line),
                    ('+', false) => Ok(String::new()),
                    ('=', false) => {
                        let text = self.single(word, line)?;
                        self.assign(name, Value::known(text.clone()))?;
                        Ok(text)
                    }
                    ('?', false) => {
                        let why = format!(
                            "found ${name}, which no line before sets; accepted: a variable with a value, as DEV=eth0"
                        );
                        Err(Trouble::Refused((line, why)))
                    }
                    _ => self.text_of(name),
                }
            }
            '#' | '%' if !also_empty => {
                let value = self.text_of(name)?;
                let (longest, word) = match word.strip_prefix(sign) {
                    Some(word) => (true, word),
                    None => (false, word),
                };
                let pattern = self.pattern(word, line)?;
                let cut = if sign == '#' { pattern::without_prefix } else { pattern::without_suffix };
                cut(&value, &pattern, longest)
                    .map(ToString::to_string)
                    .ok_or_else(|| self.no_parameter(text, line))
            }
            _ => Err(self.no_parameter(text, line)),
        }
    }

    /// Returns all elements of an array, with blanks between them.
    fn joined(&mut self, name: &str) -> Expanded<String> {
        let mut texts = Vec::new();
        for value in self.elements(name) {
            texts.push(self.text(&value)?);
        }
        Ok(texts.join(" "))
    }

    fn no_parameter(&self, text: &str, line: usize) -> Trouble {
        unknown(format!("${{{}}} (line {line})", shortened(text)))
    }

    /// Returns the value of a parameter, if it is set.
    pub(super) fn value_of(&self, name: &str) -> Option<Value> {
        let whole = |text: String| Some(Value::known(text));
        match name {
            "#" => whole(self.arguments.len().to_string()),
            "?" => Some(self.last.clone()),
            "0" => whole("sh".to_string()),
            "@" | "*" => {
                let mut joined = String::new();
                for (at, argument) in self.arguments.iter().enumerate() {
                    let Value::Known(text, _) = argument else { return Some(argument.clone()) };
                    joined = joined + if at > 0 { " " } else { "" } + text;
                }
                whole(joined)
            }
            "$" | "!" | "-" => Some(Value::Unknown(format!("${name}").into())),
            _ => match name.parse::<usize>() {
                Ok(number) => self.arguments.get(number.wrapping_sub(1)).cloned(),
                Err(_) => {
                    self.variables.get(name).or_else(|| self.variables.get(&format!("{name}[0]"))).cloned()
                }
            },
        }
    }

    /// Returns the text of a parameter. One that no line sets is empty, and noted.
    pub(super) fn text_of(&mut self, name: &str) -> Expanded<String> {
        match self.value_of(name) {
            Some(value) => self.text(&value),
            None => {
                self.missing.get_or_insert_with(|| name.into());
                Ok(String::new())
            }
        }
    }

    pub(super) fn text(&mut self, value: &Value) -> Expanded<String> {
        match value {
            Value::Known(text, missing) => {
                if self.missing.is_none() {
                    self.missing.clone_from(missing);
                }
                Ok(text.clone())
            }
            Value::Unknown(what) => Err(Trouble::Unknown(what.clone())),
        }
    }
}
