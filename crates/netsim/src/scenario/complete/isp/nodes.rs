//! The nodes of the tree: `[[node]]`.

use super::{NODE_DOWN, NODE_KEYS, NODE_NAME, NODE_UP, Node, PARENT, tree};
use goodqueue_hosts::keys::{Result, ScenarioError, Table, no_such_word, refuse};
use goodqueue_units::Rate;
use std::collections::{BTreeMap, BTreeSet};

/// The place of each node except the link, by its name.
pub(super) type Places = BTreeMap<String, usize>;

/// Returns the place of the node `name`, which is the value of `key`.
pub(super) fn place_of(key: &str, name: &str, places: &Places) -> Result<usize> {
    places.get(name).copied().ok_or_else(|| {
        let names: Vec<&str> = places.keys().map(String::as_str).collect();
        let message = if names.is_empty() {
            format!("found {name:?}; accepted: the name of a [[node]], and there is none")
        } else if names.len() > 20 {
            format!("found {name:?}; accepted: the name of a [[node]]")
        } else {
            no_such_word(name, &names)
        };
        ScenarioError::new(key, message)
    })
}

/// Returns the nodes in an order in which each one stands after the one above it, and their places. The first is the
/// link.
pub(super) fn nodes(tables: &[Table<'_>], rates: [Rate; 2]) -> Result<(Vec<Node>, Places)> {
    let mut places = Places::new();
    let mut nodes = vec![Node { name: String::new(), parent: 0, rates }];
    let mut read = Vec::new();
    let mut names = BTreeSet::new();
    for table in tables {
        table.refuse_others(NODE_KEYS, &[])?;
        let (name, down) = (table.take(&NODE_NAME)?, table.take(&NODE_DOWN)?.0);
        let up = table.find(&NODE_UP)?.map_or(down, |rate| rate.0);
        if name.is_empty() {
            return refuse(&table.key("name"), "\"\"", "a name");
        }
        if !names.insert(name.clone()) {
            return refuse(&table.key("name"), format!("{name:?} twice"), "a name of its own");
        }
        read.push((table, name, table.find(&PARENT)?, [down, up]));
    }
    let mut depths = vec![0];
    while !read.is_empty() {
        let before = read.len();
        let mut later = Vec::new();
        for (table, name, parent, rates) in read {
            let above = match &parent {
                None => Some(0),
                Some(parent) => places.get(parent).copied(),
            };
            let Some(above) = above else {
                later.push((table, name, parent, rates));
                continue;
            };
            let depth = depths[above] + 1;
            if depth > tree::MOST_NODES_DEEP {
                let accepted =
                    format!("at most {} nodes above one another, as htb has", tree::MOST_NODES_DEEP);
                return refuse(&table.key("parent"), format!("{name:?} on level {depth}"), &accepted);
            }
            depths.push(depth);
            places.insert(name.clone(), nodes.len());
            nodes.push(Node { name, parent: above, rates });
        }
        if later.len() == before {
            let (table, _, parent, _) = &later[0];
            let parent = parent.as_deref().unwrap_or_default();
            if names.contains(parent) {
                return refuse(
                    &table.key("parent"),
                    format!("{parent:?}, which is below it"),
                    "a node above it",
                );
            }
            return place_of(&table.key("parent"), parent, &places).map(|_| (nodes, places));
        }
        read = later;
    }
    Ok((nodes, places))
}
