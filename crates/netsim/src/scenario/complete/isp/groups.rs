//! The tables of subscribers, and the subscribers that they are.

use super::addresses::Addresses;
use super::mixes::Mix;
use super::nodes::{Places, place_of};
use super::{
    ADDRESSES_KEY, COUNT, DOWN, DOWN_MIN, KEYS, LEAST, NAME, Node, PARENT, PLAN, QDISC, RTT, Subscriber,
    TRAFFIC, UP, UP_MIN, UP_QDISC, leaf, refuse_too_many,
};
use goodqueue_hosts::keys::{Json, Key, Quantity, RateText, Result, Span, Table, refuse};
use goodqueue_units::Rate;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All tables of subscribers.
pub(super) struct Groups {
    pub(super) list: Vec<Group>,
    /// The subscribers, in the order of the tables.
    pub(super) subscribers: Vec<Subscriber>,
    /// The table of each subscriber, its mix of traffic, and its base RTT.
    pub(super) mixes: Vec<(usize, Arc<Mix>, Option<Span>)>,
}

impl Groups {
    /// Reads the `tables` of subscribers below the nodes at `places`. More than a tree may have are refused before they
    /// take memory.
    pub(super) fn read(tables: &[Table<'_>], places: &Places) -> Result<Self> {
        let counts = tables.iter().map(|table| table.take(&COUNT));
        refuse_too_many(places.len(), counts.sum::<Result<u64>>()?)?;
        let (mut list, mut subscribers, mut mixes) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = BTreeMap::new();
        for (place, table) in tables.iter().enumerate() {
            table.refuse_others(KEYS, &[])?;
            let group = Group::read(table, places)?;
            let each: Vec<Subscriber> = group.each().collect();
            let own = [&group.one].into_iter().chain(&each);
            // A table of one subscriber has its name twice here.
            let twin = own.map(|one| (&one.name, names.insert(one.name.clone(), place)));
            let twin = twin.filter_map(|(name, twin)| Some((name, twin?))).find(|(_, twin)| *twin != place);
            if let Some((name, twin)) = twin {
                let found = format!("{name:?}, which subscriber[{twin}] has");
                let accepted = "a name of its own (without name, the plan is the name)";
                return refuse(&table.key("name"), found, accepted);
            }
            subscribers.extend(each);
            mixes.extend((0..group.count).map(|_| (place, group.mix.clone(), group.rtt)));
            list.push(group);
        }
        Ok(Self { list, subscribers, mixes })
    }
}

/// One table of subscribers.
pub(super) struct Group {
    count: u64,
    one: Subscriber,
    mix: Arc<Mix>,
    rtt: Option<Span>,
}

impl Group {
    /// Returns its subscribers. If it has several, a number follows each name.
    fn each(&self) -> impl Iterator<Item = Subscriber> {
        (0..self.count).map(|nth| {
            let mut one = self.one.clone();
            if self.count > 1 {
                one.name = format!("{}/{nth}", one.name);
            }
            one
        })
    }

    /// Returns its table, with every default.
    pub(super) fn write(&self, nodes: &[Node]) -> Json {
        let Subscriber { name, plan, node, rates, least, qdiscs, addresses } = &self.one;
        let [down, up] = rates.map(|rate| RateText(rate).write());
        let [down_min, up_min] = least.map(|rate| RateText(rate).write());
        let mut table = json!({
            "name": name, "count": self.count, "plan": &**plan, "down": down, "up": up, "down_min": down_min,
            "up_min": up_min, "traffic": self.mix.write(),
        });
        let [down, up] = qdiscs;
        if let Some(qdisc) = down {
            table["qdisc"] = qdisc.to_string().into();
        }
        if let Some(qdisc) = up.as_ref().filter(|_| up != down) {
            table["up_qdisc"] = qdisc.to_string().into();
        }
        if *node > 0 {
            table["parent"] = nodes[*node].name.clone().into();
        }
        if let Some(rtt) = &self.rtt {
            table["rtt"] = rtt.write();
        }
        if !addresses.is_empty() {
            table["addresses"] = Addresses(addresses.clone()).write();
        }
        table
    }

    fn read(table: &Table<'_>, places: &Places) -> Result<Self> {
        let rates = [table.take(&DOWN)?.0, table.take(&UP)?.0];
        let least_of = |key: &Key<RateText>, name: &str, rate: Rate| -> Result<Rate> {
            let found = table.find(key)?.map(|rate| rate.0);
            match found {
                Some(least) if least > rate => {
                    refuse(&table.key(name), least, &format!("at most {rate}, the rate sold"))
                }
                Some(least) => Ok(least),
                None => Ok(Rate::from_bps(LEAST.min(rate.as_bps())).unwrap_or(rate)),
            }
        };
        let least = [least_of(&DOWN_MIN, "down_min", rates[0])?, least_of(&UP_MIN, "up_min", rates[1])?];
        let plan = table.find(&PLAN)?.unwrap_or_else(|| format!("{}/{}", rates[0], rates[1]));
        let name = table.find(&NAME)?.unwrap_or_else(|| plan.clone());
        let node = match table.find(&PARENT)? {
            None => 0,
            Some(parent) => place_of(&table.key("parent"), &parent, places)?,
        };
        let count = table.take(&COUNT)?;
        let addresses = table.find(&ADDRESSES_KEY)?.map_or_else(Vec::new, |list| list.0);
        if !addresses.is_empty() && count > 1 {
            return refuse(
                &table.key("addresses"),
                format!("them with count {count}"),
                "them for one subscriber",
            );
        }
        let own = |key: &Key<String>, name: &str| -> Result<Option<Arc<str>>> {
            table.find(key)?.map(|line| leaf(table, name, &line)).transpose()
        };
        let down = own(&QDISC, "qdisc")?;
        let up = own(&UP_QDISC, "up_qdisc")?.or_else(|| down.clone());
        let one = Subscriber { name, plan: plan.into(), node, rates, least, qdiscs: [down, up], addresses };
        Ok(Self { count, one, mix: Arc::new(table.take(&TRAFFIC)?), rtt: table.find(&RTT)? })
    }
}
