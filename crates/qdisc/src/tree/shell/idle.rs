//! What commands would do if they were carried out: whether a branch matters whose condition is unknown.

use super::lex;
use super::parse::plain;
use super::script::{AndOr, Command, List, Pipeline, What};
use super::simple::{NAMING, assignment, is_tc, shows};
use super::value::Value;
use super::{DEEPEST, Read, Shell, is_name};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// None on queues. Variables may have other values.
    None,
    /// It ends the script, or its function, with an error.
    Guard,
    /// It changes queues, or what comes next.
    Some,
}

impl Effect {
    /// Returns the effect of both, of which either may be left out.
    fn or(self, other: Self) -> Self {
        let alone = |effect| if effect == Self::Guard { Self::None } else { effect };
        if alone(self) == Self::Some { self } else { alone(other) }
    }
}

/// Looks through commands for their effect, and for the variables that they set.
struct Search<'s, 'a, 'd> {
    shell: &'s Shell<'a, 'd>,
    names: Vec<String>,
    depth: usize,
    /// How many commands it may still look at.
    left: usize,
}

impl<'a> Shell<'a, '_> {
    /// Returns the effect of commands that may be carried out or not. If it is none, what they set is unknown now.
    pub(super) fn effect(&mut self, list: &List<'a>, line: usize) -> Read<Effect> {
        self.effect_of(line, |search| search.list(list))
    }

    pub(super) fn effect_of_pipeline(&mut self, pipeline: &Pipeline<'a>, line: usize) -> Read<Effect> {
        self.effect_of(line, |search| search.pipeline(pipeline))
    }

    pub(super) fn effect_of_arms(
        &mut self,
        arms: &[(List<'a>, List<'a>)],
        otherwise: &List<'a>,
        line: usize,
    ) -> Read<Effect> {
        self.effect_of(line, |search| match arms {
            [] => search.list(otherwise),
            arms => search.arms(arms, otherwise),
        })
    }

    fn effect_of(
        &mut self,
        line: usize,
        look: impl FnOnce(&mut Search<'_, 'a, '_>) -> Effect,
    ) -> Read<Effect> {
        let left = 1 << 12;
        let mut search = Search { shell: self, names: Vec::new(), depth: 0, left };
        let effect = look(&mut search);
        let (looked, names) = (left - search.left, search.names);
        self.spent = self.spent.saturating_add(looked * super::COMMAND);
        self.spend(0, line)?;
        if effect == Effect::None {
            for name in names {
                let what = format!("${name}, which a condition decides (line {line})");
                self.assign(&name, Value::Unknown(what.into()))?;
            }
        }
        Ok(effect)
    }
}

impl<'a> Search<'_, 'a, '_> {
    fn list(&mut self, list: &List<'a>) -> Effect {
        for item in list {
            match self.and_or(item) {
                Effect::None => {}
                effect => return effect,
            }
        }
        Effect::None
    }

    fn and_or(&mut self, item: &AndOr<'a>) -> Effect {
        let mut effect = self.pipeline(&item.first);
        for (_, next) in &item.rest {
            if effect == Effect::None {
                effect = effect.or(self.pipeline(next));
            }
        }
        effect
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'a>) -> Effect {
        match &pipeline.commands[..] {
            [command] => self.command(command),
            commands => {
                commands.iter().fold(Effect::None, |effect, command| effect.or(self.command(command)))
            }
        }
    }

    fn arms(&mut self, arms: &[(List<'a>, List<'a>)], otherwise: &List<'a>) -> Effect {
        let mut effect = Effect::None.or(self.list(otherwise));
        for (condition, body) in arms {
            effect = effect.or(self.list(condition)).or(self.list(body));
        }
        effect
    }

    fn command(&mut self, command: &Command<'a>) -> Effect {
        if self.depth == DEEPEST || self.left == 0 {
            return Effect::Some;
        }
        self.depth += 1;
        self.left -= 1;
        let effect = match &command.what {
            What::Simple(words) => self.simple(words),
            What::Test(_) => Effect::None,
            What::Arithmetic(_) | What::Function(..) | What::Count(..) => Effect::Some,
            What::Group(list) => self.list(list),
            What::Subshell(list) => Effect::None.or(self.list(list)),
            What::If(arms, otherwise) => self.arms(arms, otherwise),
            What::While { condition, body, .. } => Effect::None.or(self.list(condition)).or(self.list(body)),
            What::For(name, _, body) => {
                self.names.push((*name).into());
                Effect::None.or(self.list(body))
            }
            What::Case(_, arms) => {
                arms.iter().fold(Effect::None, |effect, (_, body)| effect.or(self.list(body)))
            }
        };
        self.depth -= 1;
        effect
    }

    fn simple(&mut self, words: &[&'a str]) -> Effect {
        let runs_tc = |word: &&str| {
            word.contains("$(") && word.contains("tc ") || word.contains('`') && word.contains("tc ")
        };
        if words.iter().any(runs_tc) {
            return Effect::Some;
        }
        let mut words = words;
        while let Some((name, _)) = words.first().and_then(|word| assignment(word)) {
            self.names.push(name.into());
            words = &words[1..];
        }
        let Some((first, rest)) = words.split_first() else { return Effect::None };
        let Some(name) = self.name(first) else { return Effect::Some };
        if let Some(function) = self.shell.functions.get(name.as_str()) {
            let function = function.clone();
            return match self.command(&function) {
                // A return ends the function alone.
                Effect::Guard if !exits(&function) => Effect::None,
                effect => effect,
            };
        }
        match name.as_str() {
            "exit" => Effect::Guard,
            "return" if rest.first().is_some_and(|word| plain(word).is_some_and(|word| word != "0")) => {
                Effect::Guard
            }
            "return" | "break" | "continue" | "shift" | "eval" | "getopts" | "let" => Effect::Some,
            "local" | "export" | "readonly" | "declare" | "typeset" | "unset" | "read" => {
                let names = rest.iter().map(|word| word.split('=').next().unwrap_or(word));
                self.names.extend(names.filter(|name| is_name(name)).map(String::from));
                Effect::None
            }
            _ if is_tc(&name) && shows(rest.iter().copied()) => Effect::None,
            name if NAMING.contains(&name) => Effect::None,
            _ if is_tc(&name) || rest.iter().any(|word| is_tc(word)) => Effect::Some,
            _ => Effect::None,
        }
    }

    /// Returns the name of a command, also of one in a variable.
    fn name(&self, word: &str) -> Option<String> {
        if let Some(name) = plain(word) {
            return Some(name);
        }
        let unquoted = word.trim_matches('"').strip_prefix('$')?;
        let variable = unquoted.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(unquoted);
        if !is_name(variable) || lex::length(word, None) != Ok(word.len()) {
            return None;
        }
        match self.shell.value_of(variable)? {
            Value::Known(text, _) => text.split_whitespace().next().map(String::from),
            Value::Unknown(_) => None,
        }
    }
}

/// Returns whether a function ends the script, and not only itself: its last command is `exit`.
fn exits(function: &Command<'_>) -> bool {
    let What::Group(list) = &function.what else { return false };
    let last = list.last().and_then(|item| item.first.commands.first());
    matches!(last, Some(Command { what: What::Simple(words), .. }) if words.first() == Some(&"exit"))
}
