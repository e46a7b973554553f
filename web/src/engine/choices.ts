// The disciplines and congestion controls that the core offers.

export interface Param {
  name: string;
  unit: string;
  /** The words that name the parameter in a line. */
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
