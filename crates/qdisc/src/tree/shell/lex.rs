//! The words and operators of a script (POSIX.1-2017, Shell Command Language, 2.3).
//!
//! A word is a piece of the script as it stands there, with its quotes. Its expansions are read when it is used, so
//! that nothing here follows the depth of what is written.

use super::Read;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The most quotes and brackets inside each other.
const DEEPEST: usize = 32;
/// In the order in which they are tried.
const OPERATORS: [&str; 11] = [";;", ";", "&&", "&", "||", "|&", "|", "((", "(", ")", "\n"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Operator(&'static str),
    Redirection(Redirection<'a>),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redirection<'a> {
    /// Of standard output, or of both outputs.
    Output,
    /// Of standard error, or of another number.
    Other,
    Input,
    /// The lines of a here-document.
    Lines(&'a str),
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The line of `at`. In a text of one line it is the number of the command.
    line: usize,
    /// The line on which the last token begins.
    pub(super) token_line: usize,
    is_single: bool,
    /// Where the here-documents of this line end, or 0.
    documents_end: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, line: usize) -> Self {
        let is_single = !text.trim_end().contains('\n');
        Self { text, at: 0, line, token_line: line, is_single, documents_end: 0 }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Moves on by `count` bytes, and counts lines.
    fn skip(&mut self, count: usize) -> &'a str {
        let end = (self.at + count).min(self.text.len());
        let passed = &self.text[self.at..end];
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.at = end;
        passed
    }

    fn skip_blanks(&mut self) {
        loop {
            match (self.byte(0), self.byte(1)) {
                (b' ' | b'\t' | b'\r', _) => self.at += 1,
                (b'\\', b'\n') => _ = self.skip(2),
                (b'\\', b'\r') if self.byte(2) == b'\n' => _ = self.skip(3),
                (b'#', _) => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Takes the next word or operator.
    pub(super) fn next(&mut self) -> Read<Token<'a>> {
        self.skip_blanks();
        self.token_line = self.line;
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return Ok(Token::End);
        }
        if let Some(redirection) = self.redirection()? {
            return Ok(Token::Redirection(redirection));
        }
        if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            if *operator == "\n" {
                self.skip(1.max(self.documents_end.saturating_sub(self.at)));
                self.documents_end = 0;
            } else {
                self.at += operator.len();
                self.line += usize::from(self.is_single && *operator == ";");
            }
            return Ok(Token::Operator(operator));
        }
        let length = self.length(None)?;
        Ok(Token::Word(self.skip(length)))
    }

    /// Takes the text of `((…))` behind its beginning.
    pub(super) fn arithmetic(&mut self) -> Read<&'a str> {
        let text = self.bracketed()?;
        match self.byte(0) {
            b')' => self.at += 1,
            _ => return Err((self.line, "found (( without )); accepted: both".to_string())),
        }
        Ok(text)
    }

    /// Takes all up to the bracket that closes, and that bracket.
    fn bracketed(&mut self) -> Read<&'a str> {
        let length = self.length(Some(b')'))?;
        let text = self.skip(length);
        Ok(&text[..text.len() - 1])
    }

    /// Takes a redirection, if there is one: an operator behind an optional number, and a word.
    fn redirection(&mut self) -> Read<Option<Redirection<'a>>> {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at(digits);
        let operators = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"];
        let Some(operator) = operators.into_iter().find(|operator| rest.starts_with(*operator)) else {
            return Ok(None);
        };
        if operator.starts_with('<') && rest[1..].starts_with('(')
            || operator == ">" && rest[1..].starts_with('(')
        {
            return Err((self.line, "found <(…) or >(…); accepted: commands in a row".to_string()));
        }
        self.at += digits + operator.len();
        self.skip_blanks();
        let length = self.length(None)?;
        let word = self.skip(length);
        if word.is_empty() {
            return Err((self.line, format!("found nothing after {operator}; accepted: a file")));
        }
        Ok(Some(match operator {
            "<<" | "<<-" => Redirection::Lines(self.document(word, operator == "<<-")),
            _ if operator.starts_with('<') => Redirection::Input,
            ">&" | ">" | ">>" | ">|" if !matches!(number, "" | "1") => Redirection::Other,
            _ => Redirection::Output,
        }))
    }

    /// Returns the lines of a here-document, which begin after this line.
    fn document(&mut self, word: &str, tabs: bool) -> &'a str {
        let delimiter: alloc::string::String =
            word.chars().filter(|letter| !"'\"\\".contains(*letter)).collect();
        let from = match self.documents_end {
            0 => self.at + self.text[self.at..].find('\n').map_or(self.text.len() - self.at, |at| at + 1),
            end => end,
        };
        let mut to = from;
        for line in self.text[from..].split_inclusive('\n') {
            let own = line.trim_end_matches(['\n', '\r']);
            if delimiter == if tabs { own.trim_start_matches('\t') } else { own } {
                self.documents_end = to + line.len();
                return &self.text[from..to];
            }
            to += line.len();
        }
        self.documents_end = to;
        &self.text[from..to]
    }

    /// Returns the length of the text up to where the bracket `open` closes, with it, or without one of the word.
    fn length(&self, open: Option<u8>) -> Read<usize> {
        let text = &self.text[self.at..];
        length(text, open).map_err(|why| (self.line, why.to_string()))
    }
}

/// Returns the length of the word at the beginning of `text`. With the bracket or quote `open`, returns the length of
/// the text up to where it closes, including that.
pub(super) fn length(text: &str, open: Option<u8>) -> Result<usize, &'static str> {
    let bytes = text.as_bytes();
    let mut closers: Vec<u8> = open.into_iter().collect();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let closer = closers.last().copied();
        let after = bytes.get(at + 1).copied();
        let is_quoted = matches!(closer, Some(b'"' | b'`'));
        if closers.len() > DEEPEST {
            return Err("found more than 32 quotes and brackets inside each other; accepted: 32");
        }
        match (byte, after) {
            _ if Some(byte) == closer => {
                closers.pop();
                if closers.is_empty() && open.is_some() {
                    return Ok(at + 1);
                }
            }
            (b'\\', _) => at += 1,
            (b'$', Some(b'(' | b'{')) if closer != Some(b'`') => {
                closers.push(if after == Some(b'(') { b')' } else { b'}' });
                at += 1;
            }
            (b'"' | b'`', _) if closer != Some(b'`') => closers.push(byte),
            (b'\'', _) if !is_quoted => {
                let end = bytes[at + 1..].iter().position(|byte| *byte == b'\'');
                at += 1 + end.ok_or("found ' without a second one; accepted: both")?;
            }
            (b'(', _) if closer == Some(b')') => closers.push(b')'),
            // An array: NAME=(…).
            (b'(', _) if closer.is_none() && text[..at].ends_with('=') => closers.push(b')'),
            (b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')', _)
                if closer.is_none() =>
            {
                return Ok(at);
            }
            _ => {}
        }
        at += 1;
    }
    match closers.last() {
        None => Ok(bytes.len()),
        Some(_) => Err("found a quote or a bracket that does not close; accepted: one that does"),
    }
}
