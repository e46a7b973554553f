//! The requests of users, drawn before the run for engines that do not have the simulator's generator.

use super::model::{Asked, Profile, Protocol, Visit};
use super::{USERS, of_user};
use crate::keys::{Json, Values};
use goodqueue_units::{Duration, Stream as Random, Streams};
use serde_json::json;

/// The greatest number of requests that are drawn.
const MOST: usize = 300_000;

/// Returns the pages of each user: as many as the user can request within the flow's `time`.
pub(super) fn pages(values: &Values, time: Duration, mut random: Random) -> Json {
    let profile = Profile::of(values);
    let streams = Streams::new(random.next_u64());
    let mut room = MOST;
    let users: Vec<Json> = (0..values.find(&USERS).unwrap_or_default())
        .map(|number| of_one(&profile, of_user(streams, number), time, &mut room))
        .collect();
    json!({"protocol": profile.protocol.name(), "waves": profile.waves, "is_whole": room > 0, "users": users})
}

/// Returns a list of pages: the time that the user thinks before each page, and the page's requests. A page takes no
/// time to load here, so the list has more pages than the user will reach.
fn of_one(profile: &Profile, mut random: Random, time: Duration, room: &mut usize) -> Json {
    let mut pages = Vec::new();
    let mut think = profile.first_think(&mut random);
    let mut left = time;
    while think < left && *room > 0 && profile.protocol == Protocol::Http1 {
        left = left.saturating_sub(think);
        let Visit { objects, is_persistent, .. } = profile.visit(&mut random);
        let wanted = (objects as usize).saturating_add(1);
        let requests: Vec<Json> = (0..wanted.min(*room))
            .map(|place| {
                let Asked { request, response, server_delay, gap } = profile.ask(place == 0, &mut random);
                json!([request, response, server_delay.as_secs_f64(), gap.as_secs_f64()])
            })
            .collect();
        *room = room.saturating_sub(wanted);
        pages.push(json!({"think_s": think.as_secs_f64(), "is_persistent": is_persistent, "requests": requests}));
        think = profile.think(&mut random);
    }
    json!(pages)
}
