//! Reads a script command by command (POSIX.1-2017, Shell Command Language, 2.10), with `[[`, `((` and `function` of
//! bash. Only as much of it is read ahead as one command takes.

use super::lex::{Lexer, Redirection, Token};
use super::script::{AndOr, Command, List, Pipeline, What};
use super::{DEEPEST, Read, is_name};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Option<Token<'a>>,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Reads `text`, whose first line has this number.
    pub(super) fn new(text: &'a str, line: usize) -> Self {
        Self { lexer: Lexer::new(text, line), next: None, depth: 0 }
    }

    /// Returns the next commands of the script up to the end of their line or a `;`. `None`: the end.
    pub(super) fn and_or(&mut self) -> Read<Option<AndOr<'a>>> {
        loop {
            match self.peek()? {
                Token::End => return Ok(None),
                Token::Operator(";" | "&" | "\n") => _ = self.take()?,
                _ => return self.whole_and_or().map(Some),
            }
        }
    }

    /// Returns the line of the last token that was looked at.
    fn token_line(&self) -> usize {
        self.lexer.token_line
    }

    fn peek(&mut self) -> Read<Token<'a>> {
        let token = match self.next {
            Some(token) => token,
            None => self.lexer.next()?,
        };
        self.next = Some(token);
        Ok(token)
    }

    fn take(&mut self) -> Read<Token<'a>> {
        let token = self.peek()?;
        self.next = None;
        Ok(token)
    }

    fn take_if(&mut self, token: Token<'_>) -> Read<bool> {
        let is = self.peek()? == token;
        if is {
            self.next = None;
        }
        Ok(is)
    }

    fn refuse<T>(&mut self, accepted: &str) -> Read<T> {
        let found = match self.peek()? {
            Token::Word(word) => format!("{:?}", super::shortened(word)),
            Token::Operator("\n") => "the end of the line".to_string(),
            Token::Operator(operator) => format!("{operator:?}"),
            Token::Redirection(_) => "a redirection".to_string(),
            Token::End => "the end of the script".to_string(),
        };
        Err((self.token_line(), format!("found {found}; accepted: {accepted}")))
    }

    fn expect(&mut self, word: &str) -> Read<()> {
        if self.take_if(Token::Word(word))? { Ok(()) } else { self.refuse(&format!("{word:?}")) }
    }

    fn skip_newlines(&mut self) -> Read<()> {
        while self.take_if(Token::Operator("\n"))? {}
        Ok(())
    }

    fn whole_and_or(&mut self) -> Read<AndOr<'a>> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        while let Token::Operator(operator @ ("&&" | "||")) = self.peek()? {
            self.take()?;
            self.skip_newlines()?;
            rest.push((operator == "&&", self.pipeline()?));
        }
        Ok(AndOr { first, rest })
    }

    fn pipeline(&mut self) -> Read<Pipeline<'a>> {
        let mut is_negated = false;
        while self.take_if(Token::Word("!"))? {
            is_negated = !is_negated;
        }
        let mut commands = alloc::vec![self.command()?];
        while let Token::Operator("|" | "|&") = self.peek()? {
            self.take()?;
            self.skip_newlines()?;
            commands.push(self.command()?);
        }
        Ok(Pipeline { is_negated, commands })
    }

    fn command(&mut self) -> Read<Command<'a>> {
        self.peek()?;
        let line = self.token_line();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((line, format!("found commands {} deep; accepted: {DEEPEST}", self.depth)));
        }
        let mut command =
            Command { line, what: What::Simple(Vec::new()), redirects: [false; 2], lines: None };
        command.what = self.what(&mut command)?;
        while self.redirection(&mut command)? {}
        self.depth -= 1;
        Ok(command)
    }

    /// Takes a redirection, if it is next.
    fn redirection(&mut self, command: &mut Command<'a>) -> Read<bool> {
        let Token::Redirection(redirection) = self.peek()? else { return Ok(false) };
        self.take()?;
        match redirection {
            Redirection::Output => command.redirects = [true; 2],
            Redirection::Other => command.redirects[1] = true,
            Redirection::Input => {}
            Redirection::Lines(lines) => command.lines = Some(lines),
        }
        Ok(true)
    }

    fn what(&mut self, command: &mut Command<'a>) -> Read<What<'a>> {
        match self.peek()? {
            Token::Operator("(") => {
                self.take()?;
                let list = self.list(&[])?;
                if !self.take_if(Token::Operator(")"))? {
                    return self.refuse("\")\"");
                }
                return Ok(What::Subshell(list));
            }
            Token::Operator("((") => {
                self.next = None;
                return Ok(What::Arithmetic(self.lexer.arithmetic()?));
            }
            Token::Word("if") => return self.condition(),
            Token::Word("for") => return self.for_loop(),
            Token::Word(word @ ("while" | "until")) => {
                self.take()?;
                let condition = self.list(&["do"])?;
                return Ok(What::While { is_until: word == "until", condition, body: self.body()? });
            }
            Token::Word("case") => return self.case(),
            Token::Word("{") => {
                self.take()?;
                let list = self.list(&["}"])?;
                self.expect("}")?;
                return Ok(What::Group(list));
            }
            Token::Word("[[") => return self.test(),
            Token::Word("function") => {
                self.take()?;
                let Token::Word(name) = self.take()? else { return self.refuse("the name of a function") };
                if self.take_if(Token::Operator("("))? && !self.take_if(Token::Operator(")"))? {
                    return self.refuse("\")\"");
                }
                return self.function(name);
            }
            Token::Word(
                word @ ("then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "select" | "coproc"),
            ) => {
                return Err((self.token_line(), format!("found {word:?}; accepted: a command")));
            }
            _ => {}
        }
        let mut words = Vec::new();
        loop {
            match self.peek()? {
                Token::Word(word) => {
                    self.take()?;
                    words.push(word);
                }
                Token::Redirection(_) => _ = self.redirection(command)?,
                Token::Operator("(") if words.len() == 1 && is_function_name(words[0]) => {
                    self.take()?;
                    if !self.take_if(Token::Operator(")"))? {
                        return self.refuse("\")\"");
                    }
                    return self.function(words[0]);
                }
                _ if words.is_empty() && !(command.redirects[1] || command.lines.is_some()) => {
                    return self.refuse("a command");
                }
                Token::Operator("(" | "((") => return self.refuse("quotes around it"),
                _ => return Ok(What::Simple(words)),
            }
        }
    }

    /// Reads commands up to one of the words `ends`, or up to `)` or `;;`.
    fn list(&mut self, ends: &[&str]) -> Read<List<'a>> {
        let mut list = Vec::new();
        loop {
            match self.peek()? {
                Token::Operator(";" | "&" | "\n") => _ = self.take()?,
                Token::Operator(")" | ";;") | Token::End => return Ok(list),
                Token::Word(word) if ends.contains(&word) => return Ok(list),
                _ => list.push(self.whole_and_or()?),
            }
        }
    }

    fn body(&mut self) -> Read<List<'a>> {
        self.expect("do")?;
        let body = self.list(&["done"])?;
        self.expect("done")?;
        Ok(body)
    }

    fn condition(&mut self) -> Read<What<'a>> {
        let (mut arms, mut otherwise) = (Vec::new(), Vec::new());
        self.expect("if")?;
        loop {
            let condition = self.list(&["then"])?;
            self.expect("then")?;
            arms.push((condition, self.list(&["elif", "else", "fi"])?));
            if self.take_if(Token::Word("elif"))? {
                continue;
            }
            if self.take_if(Token::Word("else"))? {
                otherwise = self.list(&["fi"])?;
            }
            self.expect("fi")?;
            return Ok(What::If(arms, otherwise));
        }
    }

    fn for_loop(&mut self) -> Read<What<'a>> {
        self.expect("for")?;
        if self.peek()? == Token::Operator("((") {
            self.next = None;
            let text = self.lexer.arithmetic()?;
            let parts: Vec<&str> = text.split(';').collect();
            let Ok(parts) = <[&str; 3]>::try_from(parts) else {
                return self.refuse("for ((first; condition; step))");
            };
            while let Token::Operator(";" | "\n") = self.peek()? {
                self.take()?;
            }
            return Ok(What::Count(parts, self.body()?));
        }
        let name = match self.peek()? {
            Token::Word(name) if is_name(name) => name,
            _ => return self.refuse("for NAME in WORDS; do …; done"),
        };
        self.take()?;
        self.skip_newlines()?;
        let mut words = None;
        if self.take_if(Token::Word("in"))? {
            let mut listed = Vec::new();
            while let Token::Word(word) = self.peek()? {
                self.take()?;
                listed.push(word);
            }
            words = Some(listed);
        }
        while let Token::Operator(";" | "\n") = self.peek()? {
            self.take()?;
        }
        Ok(What::For(name, words, self.body()?))
    }

    fn case(&mut self) -> Read<What<'a>> {
        self.expect("case")?;
        let Token::Word(word) = self.peek()? else { return self.refuse("case WORD in") };
        self.take()?;
        self.skip_newlines()?;
        self.expect("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take_if(Token::Word("esac"))? {
                return Ok(What::Case(word, arms));
            }
            self.take_if(Token::Operator("("))?;
            let mut patterns = Vec::new();
            loop {
                let Token::Word(pattern) = self.peek()? else { return self.refuse("a pattern") };
                self.take()?;
                patterns.push(pattern);
                match self.take()? {
                    Token::Operator("|") => {}
                    Token::Operator(")") => break,
                    _ => return self.refuse("\")\" after a pattern"),
                }
            }
            arms.push((patterns, self.list(&["esac"])?));
            self.take_if(Token::Operator(";;"))?;
        }
    }

    /// Reads `[[ … ]]`, in which operators are words.
    fn test(&mut self) -> Read<What<'a>> {
        self.expect("[[")?;
        let mut words = Vec::new();
        loop {
            match self.peek()? {
                Token::Word("]]") => {
                    self.take()?;
                    return Ok(What::Test(words));
                }
                Token::Word(word) => words.push(word),
                Token::Operator(operator @ ("&&" | "||" | "(" | ")")) => words.push(operator),
                Token::Operator("\n") => {}
                _ => return self.refuse("]]"),
            }
            self.take()?;
        }
    }

    fn function(&mut self, name: &'a str) -> Read<What<'a>> {
        self.skip_newlines()?;
        Ok(What::Function(name, Rc::new(self.command()?)))
    }
}

fn is_function_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte))
}

/// Returns the text of a word, if it is the same as the word: without quotes and expansions.
pub(super) fn plain(word: &str) -> Option<String> {
    (!word.contains(['$', '`', '"', '\'', '\\'])).then(|| word.to_string())
}
