//! The parts of a record that the simulator alone does not have: of the kernel engine, the live engine and imports.

use goodqueue_hosts::part::Value;
use goodqueue_hosts::probe::delay::Summary;
use goodqueue_hosts::probe::rounded;
use serde_json::Value as Anything;
use std::collections::BTreeMap;

goodqueue_hosts::part! {
    /// How the kernel engine ran the scenario. From the live engine, only what that engine has of Linux, which is not
    /// `tc`.
    pub struct Kernel {
        /// Linux's release and version.
        pub release: String,
        /// `host`, `vm` (qemu) or `process`.
        pub r#where: String,
        /// `real` or `virtual`. Virtual time stands still while the machine is busy elsewhere.
        pub clock: String,
        /// Version of `tc`.
        #[not_from(Live)]
        pub tc: String,
        /// What `tc` and Linux said about commands that they carried out, such as warnings. The numbers of classes are
        /// the laboratory's, in which a tree begins at `10:`. Absent if they said nothing.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Live)]
        pub tc_said: Vec<String>,
        /// By direction, Linux's discipline that served as the link.
        #[not_from(Live)]
        pub shaper: BTreeMap<String, String>,
        /// The sysctls that were set, and their values.
        pub sysctls: BTreeMap<String, Anything>,
        /// By direction, what `tc -s` reports that each discipline counted within the measured time.
        #[not_from(Live)]
        pub qdisc_stats: BTreeMap<String, Vec<BTreeMap<String, Anything>>>,
        /// Packets that the captures missed. Always 0, because a run with missed packets makes no record.
        pub capture_lost: u64,
        /// By name, the hops of the path, if it has any.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Live)]
        pub hops: BTreeMap<String, KernelHop>,
    }
}

goodqueue_hosts::part! {
    /// How the kernel engine ran a hop.
    pub struct KernelHop {
        /// Linux's discipline that served as the link. Null for a wire.
        pub shaper: Option<String>,
        /// Counters of `tc -s`, as in `Kernel`.
        pub qdisc_stats: Vec<BTreeMap<String, Anything>>,
    }
}

goodqueue_hosts::part! {
    /// How the live engine ran the scenario: with real packets, in real time.
    pub struct Live {
        /// Duration of the run.
        pub elapsed_s: f64,
        /// The emulator's own lateness. It does not delay later packets. Null if no packet crossed.
        pub late_us: Option<Late>,
        /// Packets that did not cross the path.
        pub packets: LivePackets,
        /// The number of addresses at each end. To cake's isolation each address is a host.
        pub hosts: LiveHosts,
        /// Buffers for packets' bytes: the largest number of packets that were under way at once.
        pub slots: u64,
        /// Packets that were under way at the end.
        pub slots_in_use: u64,
        /// What a bufferbloat test would say. Only `goodqueue link` asks, and only if a link carried a load.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        pub bufferbloat: Option<Bufferbloat>,
    }
}

goodqueue_hosts::part! {
    /// The score of a live link in words, as `goodqueue advise` says it.
    pub struct Bufferbloat {
        /// The mean latency that the load added, of the directions that had one (`--metric bufferbloat_ms`).
        pub added_ms: f64,
        /// Its letter, after DSLReports: A+ below 5 ms, A below 30, B below 60, C below 200, D below 400, else F.
        pub letter: String,
    }
}

goodqueue_hosts::part! {
    /// How much later than planned the packets left, in microseconds.
    pub struct Late {
        /// Arithmetic mean.
        pub mean: f64,
        /// Median.
        pub p50: f64,
        /// 90th percentile.
        pub p90: f64,
        /// 99th percentile.
        pub p99: f64,
        /// The largest.
        pub max: f64,
    }
}

impl From<Summary> for Late {
    fn from(ms: Summary) -> Self {
        let us = |ms: f64| rounded(ms * 1e3);
        Self { mean: us(ms.mean), p50: us(ms.p50), p90: us(ms.p90), p99: us(ms.p99), max: us(ms.max) }
    }
}

goodqueue_hosts::part! {
    /// Packets of real programs that did not cross the path for reasons outside it.
    #[derive(Copy, Default)]
    pub struct LivePackets {
        /// Packets of neither IPv4 nor IPv6.
        pub not_ip: u64,
        /// Segments larger than the path's packets, which could not be cut into packets.
        pub not_cut: u64,
        /// Packets that crossed the path, and that the far end refused.
        pub refused: u64,
    }
}

goodqueue_hosts::part! {
    /// The number of addresses at each end of the live engine's path.
    #[derive(Copy, PartialEq, Eq)]
    pub struct LiveHosts {
        /// At the users' end.
        pub client: u64,
        /// At the servers' end.
        pub server: u64,
    }
}

goodqueue_hosts::part! {
    /// The file of another program that a record was read from.
    pub struct SourceFile {
        /// Name of the file.
        pub file: String,
        /// Flent's test. For irtt and iperf3, what was sent.
        pub test: String,
        /// Title in the file, or the other end's address.
        pub title: String,
        /// Time of the measurement, as the file gives it.
        pub time: String,
        /// The program's version.
        pub version: String,
        /// Start and end of the time that the record describes: all TCP flows ran, or `notes` says otherwise.
        pub measured_s: Vec<f64>,
        /// Series that are not in the record.
        pub left_out: Vec<String>,
        /// Why, for each series that was left out.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        pub reasons: BTreeMap<String, String>,
        /// How the record differs from what a reader would expect: a test that was interrupted, flows that ran apart.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        pub notes: Vec<String>,
    }
}
