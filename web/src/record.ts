// The record of a run of the simulator. docs/reference/record.md describes the keys. tools/docs/generate.py makes this
// file from the core's layout of a record: do not edit it, edit its parts (`part!`).

import type { Table } from "./table.ts";

export interface RunRecord {
  schema: number;
  engine: string;
  version: string;
  seed: number;
  scenario: Table;
  queues: { down: Queue; up: Queue };
  wifi?: Air;
  hops?: Hop[];
  flows: Flow[];
  hosts?: Host[];
  isp?: Isp;
  fairness: Fairness;
  apps: App[];
  series?: Series;
}

export interface Series {
  interval_s: number | null;
  time_s: number[];
  queues: { down: QueueSeries; up: QueueSeries };
  hops?: Record<string, QueueSeries>;
  flows: FlowSeries[];
  pings?: PingSeries[];
  calls?: CallSeries[];
  pages?: PageSeries[];
  web_users?: WebUsersSeries[];
  videos?: VideoSeries[];
  packets?: { down: PacketSeries; up: PacketSeries };
  stations?: StationSeries[];
  nodes?: NodeSeries[];
  air?: AirSeries;
}

export interface AirSeries {
  time_s: number[];
  duration_us: number[];
  station: string[];
  direction: string[];
  category: string[];
  mode: string[];
  kind: string[];
  before: (string | null)[];
  frames: number[];
  came: number[];
  retry: boolean[];
  outcome: string[];
}

export interface NodeSeries {
  name: string;
  limiting_percent: { down: number[]; up: number[] };
}

export interface StationSeries {
  name: string;
  down: AirtimeSeries;
  up: AirtimeSeries;
}

export interface AirtimeSeries {
  airtime_percent: number[];
  rate_mbps: (number | null)[];
}

export interface PacketSeries {
  time_s: number[];
  delay_ms: number[];
  flow?: number[];
}

export interface VideoSeries {
  name: string;
  time_s: number[];
  rate_mbps: number[];
  buffer_s: number[];
}

export interface WebUsersSeries {
  name: string;
  bytes: number[];
  response_ms: number[];
  timeout: (boolean | null)[];
}

export interface PageSeries {
  name: string;
  begun_s: number[];
  load_ms: number[];
}

export interface CallSeries {
  name: string;
  seq: number[];
  sent_s: number[];
  delay_ms: number[];
}

export interface PingSeries {
  name: string;
  seq: number[];
  sent_s: number[];
  rtt_ms: number[];
}

export interface FlowSeries {
  name: string;
  cwnd_packets: (number | null)[];
  goodput_mbps: number[];
  dropped_packets: number[];
  rtt_ms?: (number | null)[];
  tcp?: TcpSeries;
  cc?: Record<string, (number | null)[]>;
}

export interface TcpSeries {
  ssthresh_packets: (number | null)[];
  rtt_ms: (number | null)[];
  rttvar_ms: (number | null)[];
  rto_ms: (number | null)[];
  unacked_packets: (number | null)[];
  delivery_rate_mbps: (number | null)[];
  pacing_rate_mbps: (number | null)[];
}

export interface QueueSeries {
  delay_ms: (number | null)[];
  backlog_packets: number[];
  drop_probability: (number | null)[];
  law?: Record<string, (number | null)[]>;
}

export interface App {
  name: string;
  kind: string;
  never_started?: number;
  unfinished?: number;
  completion_ms?: Delay | null;
  count?: number;
  completed?: number;
  response_ms?: Delay | null;
  delay_ms?: Delay | null;
  stalls?: number;
  stalled_ms?: number;
  played_ms?: number;
  start_ms?: number | null;
  rtt_ms?: Delay | null;
  sent?: number;
  received?: number;
  loss_percent?: number | null;
  delay_percentiles_ms?: (number | null)[] | null;
  jitter_ms?: number | null;
  jitter_rfc3550_ms?: number | null;
  mos?: number | null;
  rate_mbps?: number | null;
  rate_percentiles_mbps?: (number | null)[] | null;
  frame_delay_ms?: Delay | null;
  frames?: number;
  frames_completed?: number;
  ramp_up_percent?: number | null;
  load_ms?: Delay | null;
  connections?: number;
  response_small_ms?: Delay | null;
  response_medium_ms?: Delay | null;
  response_large_ms?: Delay | null;
  response_percentiles_ms?: (number | null)[] | null;
  page_ms?: Delay | null;
  pages?: number;
  pages_completed?: number;
  response_bytes?: number;
  timeout_percent?: number | null;
  lost_syn_percent?: number | null;
  lossy_windows?: number | null;
  multi_loss_window_percent?: number | null;
  responses?: number;
  switches?: number;
  segments?: number;
  segment_ms?: Delay | null;
  rpm?: number | null;
  in_words?: string | null;
  foreign_rpm?: number | null;
  loaded_rpm?: number | null;
  confidence?: string;
  tcp_ms?: number | null;
  tls_ms?: number | null;
  http_ms?: number | null;
  own_ms?: number | null;
  self_ms?: Delay | null;
  load_mbps?: number;
  probes?: number;
  foreign_probes?: number;
  self_probes?: number;
  test_s?: number;
  handshake_ms?: number | null;
  cwnd_mean_bytes?: number;
  cwnd_max_bytes?: number;
  packets_sent?: number;
  packets_lost?: number;
  marks_heard?: number;
  congestion_events?: number | null;
  closed_s?: number | null;
  closed?: string | null;
}

export interface Fairness {
  jain_goodput: number | null;
  jain_drops: number | null;
  jain_hosts?: number;
}

export interface Isp {
  plans: Plan[];
  nodes: Node[];
  subscribers: Subscriber[];
}

export interface Subscriber {
  name: string;
  plan: string;
  parent: string;
  address: string;
  down: SubscriberSide;
  up: SubscriberSide;
}

export interface SubscriberSide {
  sold_mbps: number;
  throughput_mbps: number;
  peak_mbps: number;
  delay_ms?: Delay;
  drop_percent: number;
  limiting_percent: number;
}

export interface Node {
  name: string;
  parent: string;
  subscribers: number;
  down: NodeSide;
  up: NodeSide;
}

export interface NodeSide {
  rate_mbps: number;
  throughput_mbps: number;
  limiting_percent: number;
}

export interface Plan {
  name: string;
  subscribers: number;
  down: PlanSide;
  up: PlanSide;
}

export interface PlanSide {
  active: number;
  throughput_mbps: number;
  delay_p95_ms: Spread | null;
  peak_percent: Spread | null;
  limiting_percent: number | null;
  drop_percent: number | null;
  jain_throughput: number | null;
}

export interface Spread {
  median: number;
  worst_tenth: number;
  worst: number;
}

export interface Host {
  name: string;
  role: string;
  flows: number;
  goodput_mbps: { down: number | null; up: number | null };
  rtt_ms: Delay | null;
  loss_percent: number | null;
  card?: Card;
}

export interface Flow {
  name: string;
  kind: string;
  direction: string;
  cc?: string | null;
  start_s: number;
  goodput_mbps: number;
  rtt_ms?: Delay | null;
  bytes_sent: number | null;
  bytes_retrans: number | null;
  retransmitted?: number | null;
  timeouts?: number | null;
  tlp_probes: number | null;
  spurious_retransmissions: number | null;
  undos: number | null;
  loss_percent: number | null;
  completion_ms: number | null;
  goodput_5s_mbps?: Quantiles | null;
}

export interface Quantiles {
  p10: number;
  p50: number;
  p90: number;
}

export interface Hop {
  name: string;
  kind: string;
  direction: string;
  qdisc?: string;
  utilisation_percent?: number;
  throughput_mbps?: number;
  delay_ms?: Delay | null;
  delay_percentiles_ms?: (number | null)[] | null;
  packets: HopPackets;
  drop_percent?: number;
  mark_percent?: number;
  drops_by_reason?: Record<string, number> | null;
  marks_by_reason?: Record<string, number> | null;
  ring?: Ring;
  card?: Card;
  loss_percent?: number;
}

export interface HopPackets {
  offered: number;
  forwarded?: number;
  dropped?: number;
  marked?: number;
  queued_at_start?: number;
  queued_at_end?: number;
  delivered?: number;
  lost?: number;
  over_limit?: number;
  duplicated?: number;
  exceeded?: number;
  held_at_start?: number;
  held_at_end?: number;
}

export interface Air {
  busy_percent: number;
  collision_percent: number;
  stations: Station[];
}

export interface Station {
  name: string;
  airtime_percent: number;
  down: AirOfStation;
  up: AirOfStation;
}

export interface AirOfStation {
  airtime_percent: number;
  throughput_mbps: number;
  aggregate_frames: number | null;
  rate_mbps: number | null;
  transmissions: number;
  retry_percent: number;
  lost: number;
  expired?: number;
  delay_ms: Delay | null;
}

export interface Queue {
  qdisc: string;
  utilisation_percent: number;
  throughput_mbps: number;
  delay_ms: Delay | null;
  delay_percentiles_ms: number[] | null;
  packets: Packets;
  drop_percent: number;
  mark_percent: number;
  drops_by_reason: Record<string, number>;
  marks_by_reason: Record<string, number>;
  ring?: Ring;
  card?: Card;
}

export interface Card {
  interrupts: number;
  packets: number;
  handed_on: number;
  mean_bytes: number | null;
  waiting_at_end: number;
}

export interface Ring {
  delay_ms: Delay | null;
  packets_at_end: number;
}

export interface Packets {
  offered: number;
  forwarded: number;
  dropped: number;
  marked: number;
  queued_at_start: number;
  queued_at_end: number;
}

export interface Delay {
  mean: number;
  stddev: number;
  min: number;
  p10: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
}
