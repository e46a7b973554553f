//! One line, parsed or refused.

use super::{After, Columns as Layout, Extra, Ids, Line, Pairs, Parsed};
use goodqueue_units::{Ecn, Instant, Rate};
use std::str::{FromStr, Split};

/// The columns of one line, taken from the left.
struct Columns<'a>(Split<'a, char>);

impl<'a> Columns<'a> {
    fn text(&mut self, column: &str) -> Parsed<&'a str> {
        self.0.next().ok_or_else(|| format!("the line ends before the column {column:?}"))
    }

    fn number<T: FromStr>(&mut self, column: &str) -> Parsed<T> {
        number(self.text(column)?, column)
    }

    fn ecn(&mut self) -> Parsed<Ecn> {
        match self.number("ecn")? {
            bits @ 0..=3 => Ok(Ecn::from_bits(bits)),
            other => Err(format!("ecn: found {other}; accepted: 0 to 3")),
        }
    }

    fn after(&mut self) -> Parsed<After<'a>> {
        Ok(After {
            drops: Ids::parse(self.text("drops")?, "drops")?,
            marks: Ids::parse(self.text("marks")?, "marks")?,
            qlen: self.number("qlen")?,
            backlog: self.number("backlog")?,
        })
    }

    fn end(mut self) -> Parsed<()> {
        self.0.next().map_or(Ok(()), |more| Err(format!("found {more:?} after the last column")))
    }
}

pub(crate) fn number<T: FromStr>(text: &str, what: &str) -> Parsed<T> {
    text.parse().map_err(|_| format!("{what}: found {text:?}; accepted: a number"))
}

/// Returns the time and the content of a line after a line of the time `before`.
pub(super) fn understand(line: &[u8], before: u64, layout: Layout) -> Parsed<(u64, Line<'_>)> {
    let line = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_string())?;
    if line.starts_with('#') {
        return Err("a header line after the first event".to_string());
    }
    let mut columns = Columns(line.split(','));
    let now = columns.number("t_ns")?;
    if now < before {
        return Err(format!("time runs backwards: found {now} after {before}"));
    }
    let kind = columns.text("kind")?;
    let rest = || line.splitn(3, ',').nth(2).unwrap_or("");
    let event = match kind {
        "rate" => closed(columns, |columns| Ok(Line::Rate(columns.number("bps")?))),
        "rnd" => closed(columns, |columns| {
            let bits = columns.number("bits")?;
            let value: u64 = columns.number("value")?;
            match bits {
                16 | 32 if value >> bits != 0 => Err(format!("value: found {value}, more than {bits} bits")),
                16 | 32 | 64 => Ok(Line::Random { bits, value }),
                _ => Err(format!("bits: found {bits}; accepted: 16, 32, 64")),
            }
        }),
        "enq" => closed(columns, |columns| enqueue(columns, layout)),
        "deq" => closed(columns, |columns| dequeue(columns, layout)),
        "timer" => {
            columns.text("name")?;
            let drops = Ids::parse(columns.text("drops")?, "drops")?;
            let state = line.splitn(5, ',').nth(4).unwrap_or("");
            Ok(Line::Timer { drops, state: Pairs::parse(state)? })
        }
        "tc" => match rest() {
            "" => Err("found no commands; accepted: commands of tc".to_string()),
            commands => Ok(Line::Change(commands)),
        },
        "st" => Pairs::parse(rest()).map(Line::State),
        "end" => Pairs::parse(rest()).map(Line::End),
        other => Err(format!("found {other:?}; accepted: rate, enq, deq, timer, tc, rnd, st, end")),
    };
    Ok((now, event?))
}

/// Parses a line with `read`, which must use all columns.
fn closed<'a>(
    mut columns: Columns<'a>,
    read: impl FnOnce(&mut Columns<'a>) -> Parsed<Line<'a>>,
) -> Parsed<Line<'a>> {
    let line = read(&mut columns)?;
    columns.end()?;
    Ok(line)
}

fn enqueue<'a>(columns: &mut Columns<'a>, layout: Layout) -> Parsed<Line<'a>> {
    let id = columns.number("id")?;
    let len = match columns.number("len")? {
        0 => return Err("len: found 0; accepted: a number above zero".to_string()),
        len => len,
    };
    let (flow, hash) = (columns.number("flow")?, columns.number("hash")?);
    let (ecn, prio) = (columns.ecn()?, columns.number("prio")?);
    if layout != Layout::Classes && prio > u8::MAX.into() {
        return Err(format!("prio: found {prio}; accepted: 0 to 255"));
    }
    let fate = match columns.text("fate")? {
        "q" => 'q',
        "m" => 'm',
        "d" => 'd',
        other => return Err(format!("fate: found {other:?}; accepted: q, m, d")),
    };
    let (ret, after) = (columns.number("ret")?, columns.after()?);
    let (mut extra, mut class) = (Extra::default(), None);
    if layout == Layout::Times {
        let (departure, bytes): (u64, u64) = (columns.number("edt_ns")?, columns.number("pace_Bps")?);
        extra.departure = (departure > 0).then(|| Instant::from_nanos(departure));
        extra.pacing = Rate::from_bps(bytes.saturating_mul(8));
    } else if layout == Layout::Classes {
        extra.mark = columns.number("mark")?;
        class = Some(columns.text("class")?);
    } else if columns.0.clone().next().is_some() {
        extra.hosts = (columns.number("src_hash")?, columns.number("dst_hash")?);
    }
    let queue = queue(columns, layout)?;
    Ok(Line::Enqueue { id, len, flow, hash, extra, ecn, queue, prio, class, fate, ret, after })
}

/// Reads the transmit queue.
fn queue(columns: &mut Columns<'_>, layout: Layout) -> Parsed<Option<usize>> {
    if layout == Layout::Queues { columns.number("txq").map(Some) } else { Ok(None) }
}

fn dequeue<'a>(columns: &mut Columns<'a>, layout: Layout) -> Parsed<Line<'a>> {
    let id = match columns.text("id")? {
        "-1" => None,
        text => Some(number(text, "id")?),
    };
    let (ecn, after) = (columns.ecn()?, columns.after()?);
    Ok(Line::Dequeue { id, ecn, queue: queue(columns, layout)?, after })
}
