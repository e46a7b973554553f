//! What there is to choose from, as JSON: for the bindings, whose users list it, complete it and document it.

use goodqueue_qdisc::{QdiscSpec, registry};
use goodqueue_tcp::Cc;
use serde_json::{Value, json};

/// Every queue discipline with its parameters.
#[must_use]
pub fn qdiscs() -> Value {
    let spec = |spec: &QdiscSpec| {
        let params: Vec<Value> = spec
            .params
            .iter()
            .map(|param| {
                json!({
                    "name": param.name,
                    "unit": param.kind(),
                    "words": param.words(),
                    "default": param.show_default(),
                    "accepted": param.accepted(),
                    "source": param.source,
                    "help": param.help,
                })
            })
            .collect();
        json!({"name": spec.name, "summary": spec.summary, "source": spec.source, "params": params})
    };
    registry::ALL.iter().map(spec).collect()
}

/// Every congestion control with the words that may follow its name.
#[must_use]
pub fn congestion_controls() -> Value {
    let all = Cc::ALL.iter().map(|cc| {
        let words: Vec<Value> = cc
            .words()
            .iter()
            .map(|word| {
                let number = word.number.map(|(least, most)| format!("{least} to {most}"));
                json!({"name": word.name, "number": number, "source": word.source, "help": word.help})
            })
            .collect();
        let (name, summary, source, differs) = (cc.name(), cc.summary(), cc.source(), cc.differs());
        json!({"name": name, "summary": summary, "source": source, "differs": differs, "words": words})
    });
    all.collect()
}
