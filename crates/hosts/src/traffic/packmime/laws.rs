//! The distributions of PackMime's web traffic: Cao, Cleveland, Gao, Jeffay, Smith, Weigle, "Stochastic Models for
//! Generating Synthetic HTTP Source Traffic", INFOCOM 2004, with the constants of its authors' generator in ns-2.35.
//!
//! Everything follows from one number: new connections per second. All quantities of a connection are drawn when it
//! opens, so they do not depend on what happens on its path. Each quantity has a random stream of its own.

use super::curves::{DOWNLOAD, LARGE_REQUEST, REQUEST, VALIDATION};
use super::farima::{Farima, Normal, above, logit_inverse};
use crate::keys::line_through;
use goodqueue_units::{Duration, Stream, Streams};

/// A first response of more bytes than this is a download, not a validation.
const VALIDATION_MOST: f64 = 275.0;
/// The share of connections that are persistent; the share of persistent connections that carry one page; and, if a
/// connection carries more pages, the share of pages with one object.
const PERSISTENT: f64 = 0.09;
const ONE_PAGE: f64 = 0.82;
const ONE_OBJECT: f64 = 0.69;
/// How many values the two generators with long memory look back to.
const ARRIVAL_TERMS: usize = 1000;
const REQUEST_TERMS: usize = 5000;

/// A quantity whose binary logarithm is normal. The mean and the deviation of that normal distribution are random
/// too: `mean` and `variance` describe the mean.
struct Spread {
    mean: f64,
    variance: f64,
    /// Shape of a gamma number of mean 1. The variance of the quantity's logarithm is `noise` times this number.
    shape: f64,
    noise: f64,
}

const PAGE_GAP: Spread = Spread { mean: 3.22, variance: 0.73, shape: 1.85, noise: 1.21 };
const OBJECT_GAP: Spread = Spread { mean: -4.15, variance: 3.12, shape: 2.35, noise: 1.57 };
const FURTHER_RESPONSE: Spread = Spread { mean: 10.62, variance: 0.94, shape: 3.22, noise: 2.43 };

/// A [`Spread`] whose mean and deviation have been drawn.
#[derive(Clone, Copy)]
struct Located {
    mean: f64,
    deviation: f64,
}

impl Spread {
    fn locate(&self, normal: &mut Normal) -> Located {
        let mean = self.mean + libm::sqrt(self.variance) * normal.draw();
        Located { mean, deviation: libm::sqrt(normal.gamma(self.shape) * self.noise) }
    }
}

impl Located {
    fn draw(self, normal: &mut Normal) -> f64 {
        libm::exp2(self.mean + self.deviation * normal.draw())
    }
}

/// Returns `size` as whole bytes, at least one.
fn bytes(size: f64) -> u64 {
    (size as u64).max(1)
}

/// Returns the Weibull number that is exceeded with the probability `above`.
fn weibull(above: f64, shape: f64, scale: f64) -> f64 {
    scale * libm::pow(-libm::log(above), 1.0 / shape)
}

/// Returns a random probability above 0.
fn open(random: &mut Stream) -> f64 {
    1.0 - random.next_f64()
}

/// One request of a connection, and what follows the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// Bytes of the response.
    pub(super) response: u64,
    /// Time from the arrival of the whole request to the departure of the response's first byte.
    pub(super) server_delay: Duration,
    /// Time from the arrival of the whole response to the next request, if there is one.
    pub(super) gap: Duration,
}

/// What a connection will do.
pub(super) struct Visit {
    /// Bytes of each request.
    pub(super) request: u64,
    /// The exchanges in their order; at least one.
    pub(super) exchanges: Vec<Exchange>,
}

/// Responses come in alternating runs of validations and downloads.
struct Responses {
    random: Stream,
    shapes: [f64; 2],
    is_download: bool,
    left: u64,
}

impl Responses {
    fn draw(&mut self) -> f64 {
        if self.left == 0 {
            self.is_download = !self.is_download;
            let (shape, scale) =
                if self.is_download { (self.shapes[1], 3.11) } else { (self.shapes[0], 0.775) };
            self.left = (libm::ceil(weibull(open(&mut self.random), shape, scale)) as u64).max(1);
        }
        self.left -= 1;
        if self.is_download {
            libm::exp2(line_through(DOWNLOAD, -libm::log2(open(&mut self.random))))
        } else {
            line_through(VALIDATION, self.random.next_f64())
        }
    }
}

/// All distributions of one generator, for one rate.
pub(super) struct Laws {
    arrivals: Farima,
    shape: f64,
    scale: f64,
    responses: Responses,
    requests: Farima,
    structure: Stream,
    delays: Stream,
    sizes: Normal,
    gaps: Normal,
    page_gap: Located,
    object_gap: Located,
}

impl Laws {
    /// Makes the distributions for `rate` new connections per second.
    pub(super) fn new(rate: f64, mut random: Stream) -> Self {
        let streams = Streams::new(random.next_u64());
        let stream = |name| streams.stream(name, 0);
        let log = libm::log2(rate);
        let odds = |at_one: f64, slope: f64| logit_inverse(at_one + slope * log);
        let shape = odds(0.352, 0.388);
        let mut gaps = Normal(stream("gaps"));
        Self {
            arrivals: Farima::new(0.33, ARRIVAL_TERMS, odds(0.333, 0.414), stream("arrivals")),
            shape,
            scale: 1.0 / (rate * libm::tgamma(1.0 + 1.0 / shape)),
            responses: Responses {
                random: stream("responses"),
                shapes: [odds(0.718, 0.357), odds(1.293, 0.316)],
                is_download: false,
                left: 0,
            },
            requests: Farima::new(0.31, REQUEST_TERMS, odds(0.123, 0.494), stream("requests")),
            structure: stream("structure"),
            delays: stream("server delays"),
            sizes: Normal(stream("further responses")),
            page_gap: PAGE_GAP.locate(&mut gaps),
            object_gap: OBJECT_GAP.locate(&mut gaps),
            gaps,
        }
    }

    /// Draws the time from one new connection to the next.
    pub(super) fn interarrival(&mut self) -> Duration {
        Duration::from_secs_f64(weibull(above(self.arrivals.draw()), self.shape, self.scale))
    }

    /// Draws what the next connection will do.
    pub(super) fn visit(&mut self) -> Visit {
        let request = self.request();
        let first = self.responses.draw();
        let mut visit = Visit { request, exchanges: Vec::new() };
        if self.structure.next_f64() >= PERSISTENT {
            visit.exchanges.push(self.exchange(first));
            return visit;
        }
        let further = (first > VALIDATION_MOST).then(|| FURTHER_RESPONSE.locate(&mut self.sizes));
        let pages = self.pages();
        for _ in 0..pages {
            for object in 0..self.objects(pages) {
                let size = match further {
                    Some(law) if !visit.exchanges.is_empty() => law.draw(&mut self.sizes),
                    _ => first,
                };
                // The gap before this request: the first request of a page has a page gap, any other request an
                // object gap.
                let law = if object == 0 { self.page_gap } else { self.object_gap };
                if let Some(last) = visit.exchanges.last_mut() {
                    last.gap = Duration::from_secs_f64(law.draw(&mut self.gaps));
                }
                visit.exchanges.push(self.exchange(size));
            }
        }
        visit
    }

    fn request(&mut self) -> u64 {
        let above = above(self.requests.draw());
        if above >= 0.5 {
            return bytes(line_through(REQUEST, 2.0 * (1.0 - above)));
        }
        bytes(libm::exp2(line_through(LARGE_REQUEST, -libm::log2(2.0 * above))))
    }

    fn exchange(&mut self, response: f64) -> Exchange {
        let delay = 1.0 / weibull(open(&mut self.delays), 0.63, 305.0).max(10.0);
        let server_delay = Duration::from_secs_f64(delay);
        Exchange { response: bytes(response), server_delay, gap: Duration::ZERO }
    }

    fn pages(&mut self) -> u64 {
        if self.structure.next_f64() < ONE_PAGE {
            return 1;
        }
        libm::ceil(1.0 + weibull(open(&mut self.structure), 1.0, 0.417)).max(2.0) as u64
    }

    /// Draws the number of objects of a page, on a connection with `pages` pages.
    fn objects(&mut self, pages: u64) -> u64 {
        if pages > 1 && self.structure.next_f64() < ONE_OBJECT {
            return 1;
        }
        libm::ceil(1.0 + weibull(open(&mut self.structure), 1.0, 1.578)).max(2.0) as u64
    }
}

#[cfg(test)]
mod tests;
