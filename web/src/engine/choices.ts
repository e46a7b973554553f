// What there is to choose from, as the core lists it.

export interface Param {
  name: string;
  unit: string;
  /** By which a line names it. */
  words: string[];
  default: string;
  accepted: string;
  source: string;
  help: string;
}

export interface Qdisc {
  name: string;
  summary: string;
  params: Param[];
}

export interface CongestionControl {
  name: string;
  summary: string;
}

export interface Choices {
  qdiscs: Qdisc[];
  congestion_controls: CongestionControl[];
}
