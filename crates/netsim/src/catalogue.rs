//! The choices that a scenario has, as JSON. The bindings use it to list, complete and document them. Without the
//! feature `reference` sources are empty.

use goodqueue_qdisc::param::ParamSpec;
use goodqueue_qdisc::sched::mac80211;
#[cfg(feature = "complete")]
use goodqueue_qdisc::tree::catalogue::{CLASSFUL, Classful, OfClass, Word};
use goodqueue_qdisc::{QdiscSpec, Release, registry};
use goodqueue_tcp::Cc;
use serde_json::{Value, json};

/// Returns every queue discipline with its parameters.
#[must_use]
pub fn qdiscs() -> Value {
    registry::ALL.iter().map(spec).collect()
}

fn spec(spec: &QdiscSpec) -> Value {
    let params: Vec<Value> = spec.params.iter().map(param).collect();
    json!({"name": spec.name, "summary": spec.summary, "source": spec.source, "params": params})
}

fn param(param: &ParamSpec) -> Value {
    let behind = param.follows.map(|parent| format!(", after the value of {parent}"));
    json!({
        "name": param.name,
        "unit": param.kind(),
        "words": param.words(),
        "default": param.show_default(),
        "accepted": param.accepted() + &behind.unwrap_or_default(),
        "source": param.source,
        "help": param.about(),
        "follows": param.follows,
    })
}

/// Returns every discipline that has classes, with its words and those of a class.
#[cfg(feature = "complete")]
#[must_use]
pub fn classful() -> Value {
    let of = |one: &Classful| {
        let word = |word: &Word| {
            let Word { name, unit, default, accepted, help } = word;
            json!({"name": name, "unit": unit, "words": [name], "default": default, "accepted": accepted,
                "source": one.source, "help": help, "follows": null})
        };
        let of_class: Vec<Value> = match one.of_class {
            OfClass::Params(params) => params.iter().map(param).collect(),
            OfClass::Words(words) => words.iter().map(word).collect(),
        };
        let words: Vec<Value> = one.words.iter().map(word).collect();
        json!({"name": one.name, "summary": one.summary, "source": one.source, "params": words,
            "class_params": of_class})
    };
    CLASSFUL.iter().map(of).collect()
}

/// Returns every kind of access network with its parameters.
#[cfg(feature = "complete")]
#[must_use]
pub fn access() -> Value {
    crate::path::access::specs().map(spec).collect()
}

/// Returns the releases of Linux, and each discipline that Linux has with what changed in which release.
#[must_use]
pub fn linux() -> Value {
    let specs = registry::ALL.iter().chain([&mac80211::SPEC]);
    let disciplines = specs.filter_map(|spec| {
        let change = |(release, what): &(Release, &str)| json!({"release": release.name(), "what": what});
        let changes: Vec<Value> = spec.changes.iter().map(change).collect();
        Some(json!({"name": spec.name, "since": spec.since?.name(), "changes": changes}))
    });
    json!({
        "releases": Release::ALL.map(Release::name),
        "default": Release::default().name(),
        "disciplines": disciplines.collect::<Vec<Value>>(),
    })
}

/// Returns every congestion control with the words that may follow its name.
#[must_use]
pub fn congestion_controls() -> Value {
    let said = |text: &'static str| if cfg!(feature = "reference") { text } else { "" };
    let all = Cc::ALL.iter().map(|cc| {
        let words: Vec<Value> = cc
            .words()
            .iter()
            .map(|word| {
                let number = word.number.map(|(least, most)| format!("{least} to {most}"));
                json!({"name": word.name, "number": number, "source": said(word.source), "help": word.help})
            })
            .collect();
        let (name, summary) = (cc.name(), cc.summary());
        let (source, differs) = (said(cc.source()), said(cc.differs()));
        json!({"name": name, "summary": summary, "source": source, "differs": differs, "words": words})
    });
    all.collect()
}
