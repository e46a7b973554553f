// Draws the link at one moment: the packets that wait, travel on the wire, or were just dropped.

import { DROPS, FIRST_DROP, MARKED, type Packet, type Sight } from "../playing.ts";
import { flowColour, type Theme } from "./colours.ts";
import type { Pen } from "./svg.ts";

export interface LinkView {
  sight: Sight;
  now_s: number;
  /** How long a dropped packet falls, in seconds of the run. */
  fall_s: number;
  /** The longest queue of any lane, which sets the scale. */
  most_packets: number;
  /** Whether each flow has a queue of its own. */
  byFlow: boolean;
  /** The hop whose queue is drawn in place of the bottleneck's. Of its packets only the number is known. */
  hop: { name: string; packets: number } | undefined;
  /** The row of each flow, if some flows share a queue, as those of a provider's subscriber do. */
  rows: readonly number[] | undefined;
}

/** The queue's share of the width. */
const QUEUE_SHARE = 0.55;
const EDGE = 6;
const ACK_TRACK = 14;
const LARGEST = 12;
/** Where the queues begin, below the title of their frame. */
const TITLE = EDGE + 14;
/** Reasons for drops at the head of the queue. All other drops happen at the tail. */
const AT_HEAD = new Set<string>(["target"]);

export function drawLink(ctx: Pen, width: number, height: number, view: LinkView, theme: Theme): void {
  const exit = Math.round(width * QUEUE_SHARE);
  const floor = height - ACK_TRACK - 8;
  const { now_s, sight } = view;
  const queue: Packet[] = [];
  const wire: Packet[] = [];
  const acks: Packet[] = [];
  const fallen: Packet[] = [];
  for (const packet of sight.packets) {
    if (packet.offered_s > now_s) break;
    const isDecided = packet.decided_s <= now_s;
    if (!isDecided) (packet.direction === 0 ? queue : acks).push(packet);
    else if (packet.fate >= FIRST_DROP) {
      if (packet.direction === 0 && now_s - packet.decided_s < view.fall_s) fallen.push(packet);
    } else if (!(packet.arrived_s <= now_s)) (packet.direction === 0 ? wire : acks).push(packet);
  }
  drawTracks(ctx, width, exit, floor, view.hop ? `queue at the ${view.hop.name}` : "queue", theme);
  const tails = view.hop ? [drawHop(ctx, view.hop.packets, exit, floor, view.most_packets, theme)] : drawSorted(ctx, queue, exit, floor, view, theme);
  const travel_s = travelTime(sight);
  // A packet is drawn no wider than the distance between packets. Otherwise packets back to back would look like one.
  const pitch = (width - exit) / Math.max(1, wire.length);
  const wide = Math.max(2, Math.min(8, pitch * 0.8));
  for (const packet of wire) {
    const share = (now_s - packet.decided_s) / (Number.isNaN(packet.arrived_s) ? travel_s[0] : packet.arrived_s - packet.decided_s);
    const x = exit + EDGE + Math.min(1, share) * (width - exit - 2 * EDGE);
    drawPacket(ctx, x, floor - 16 - (packet.flow % 4) * 10, wide, packet, packet.fate === MARKED, theme);
  }
  for (const packet of acks) {
    if (!(packet.decided_s <= now_s)) continue;
    const share = (now_s - packet.decided_s) / (Number.isNaN(packet.arrived_s) ? travel_s[1] : packet.arrived_s - packet.decided_s);
    ctx.fillStyle = flowColour(theme, packet.flow);
    ctx.fillRect(width - EDGE - Math.min(1, share) * (width - 2 * EDGE), height - ACK_TRACK + 4, 3, 3);
  }
  for (const packet of fallen) {
    const share = (now_s - packet.decided_s) / view.fall_s;
    const x = AT_HEAD.has(DROPS[packet.fate - FIRST_DROP] ?? "") ? exit - 8 : Math.max(EDGE + 4, (tails[packet.queue] ?? exit) - 8);
    ctx.globalAlpha = 1 - share * share;
    drawCross(ctx, x - share * 10, EDGE + 8 + share * share * (height - 20), packet, theme);
    ctx.globalAlpha = 1;
  }
}

function drawTracks(ctx: Pen, width: number, exit: number, floor: number, queue: string, theme: Theme): void {
  ctx.strokeStyle = theme.line;
  ctx.lineWidth = 1;
  ctx.strokeRect(EDGE - 3.5, EDGE - 3.5, exit - EDGE + 2, floor - EDGE + 7);
  ctx.fillStyle = theme.soft;
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  ctx.fillText(queue, EDGE, EDGE);
  ctx.fillText("wire, to the user", exit + EDGE, EDGE);
  ctx.beginPath();
  ctx.moveTo(exit + EDGE, floor - 6.5);
  ctx.lineTo(width - EDGE, floor - 6.5);
  ctx.stroke();
}

/**
 * Draws each queue into which the discipline sorts packets in a box of its own, from the top, or else all packets in
 * one box. Returns the position of the tail in each.
 */
function drawSorted(ctx: Pen, queue: readonly Packet[], exit: number, floor: number, view: LinkView, theme: Theme): number[] {
  const { queues } = view.sight;
  const boxes = Math.max(1, queues.length);
  const tall = (floor - TITLE) / boxes;
  const size = cellSize(view.most_packets, exit - 2 * EDGE, tall);
  return Array.from({ length: boxes }, (_, number) => {
    const top = TITLE + number * tall;
    const packets = queues.length > 0 ? queue.filter((packet) => packet.queue === number) : queue;
    if (number > 0) {
      ctx.strokeStyle = theme.line;
      ctx.beginPath();
      ctx.moveTo(EDGE - 3, Math.round(top) + 0.5);
      ctx.lineTo(exit - 2, Math.round(top) + 0.5);
      ctx.stroke();
    }
    const draw = view.byFlow || view.rows ? drawFlows : drawFifo;
    const tail = draw(ctx, packets, exit, top, top + tall - (number + 1 < boxes ? 2 : 0), size, theme, view.rows);
    // A name lies over the packets, which reach it only where a queue is long.
    ctx.fillStyle = theme.text;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    if (tall > 11) ctx.fillText(queues[number] ?? "", EDGE, top + 2);
    return tail;
  });
}

/** Returns the size of a packet with which the longest queue fits. */
function cellSize(most: number, width: number, height: number): number {
  return Math.max(1.5, Math.min(LARGEST, Math.sqrt((width * height) / Math.max(1, most * 1.15))));
}

/** Draws the queue of a hop without the colours of flows. Returns the position of the tail. */
function drawHop(ctx: Pen, packets: number, exit: number, floor: number, most: number, theme: Theme): number {
  const size = cellSize(most, exit - 2 * EDGE, floor - TITLE);
  const rows = Math.max(1, Math.floor((floor - TITLE) / size));
  ctx.fillStyle = theme.soft;
  const wide = size > 3 ? size - 1 : size;
  for (let place = 0; place < packets; place++) {
    ctx.fillRect(exit - EDGE - (Math.floor(place / rows) + 1) * size, floor - ((place % rows) + 1) * size, wide, wide);
  }
  return exit - EDGE - Math.ceil(packets / rows) * size;
}

/** Draws a FIFO as columns, from the exit to the left. Returns the position of the tail. */
function drawFifo(ctx: Pen, queue: readonly Packet[], exit: number, top: number, floor: number, size: number, theme: Theme): number {
  const rows = Math.max(1, Math.floor((floor - top) / size));
  queue.forEach((packet, place) => {
    const x = exit - EDGE - (Math.floor(place / rows) + 0.5) * size;
    drawPacket(ctx, x, floor - ((place % rows) + 0.5) * size, size > 3 ? size - 1 : size, packet, false, theme);
  });
  return exit - EDGE - Math.ceil(queue.length / rows) * size;
}

/** Draws one queue per flow, or per row of flows, one above the other. Returns the position of the longest tail. */
function drawFlows(ctx: Pen, queue: readonly Packet[], exit: number, top: number, floor: number, _size: number, theme: Theme, rows?: readonly number[]): number {
  const flows = group(queue, rows);
  const row = Math.min(LARGEST, (floor - top) / Math.max(1, flows.size));
  let tail = exit - EDGE;
  [...flows].sort(([a], [b]) => a - b).forEach(([, packets], place) => {
    const pitch = Math.min(row, (exit - 2 * EDGE) / Math.max(1, packets.length));
    packets.forEach((packet, number) => {
      drawPacket(ctx, exit - EDGE - (number + 0.5) * pitch, floor - (place + 0.5) * row, Math.max(1.5, row - 2), packet, false, theme);
    });
    tail = Math.min(tail, exit - EDGE - packets.length * pitch);
  });
  return tail;
}

function group(queue: readonly Packet[], rows: readonly number[] = []): Map<number, Packet[]> {
  const flows = new Map<number, Packet[]>();
  for (const packet of queue) {
    const row = rows[packet.flow] ?? packet.flow;
    const packets = flows.get(row);
    if (packets) packets.push(packet);
    else flows.set(row, [packet]);
  }
  return flows;
}

/** Draws a packet as a square in its flow's colour. A marked packet is a diamond with an edge. */
function drawPacket(ctx: Pen, x: number, y: number, size: number, packet: Packet, isMarked: boolean, theme: Theme): void {
  ctx.fillStyle = flowColour(theme, packet.flow);
  if (!isMarked) {
    ctx.fillRect(x - size / 2, y - size / 2, size, size);
    return;
  }
  const half = size * 0.75;
  ctx.beginPath();
  ctx.moveTo(x, y - half);
  ctx.lineTo(x + half, y);
  ctx.lineTo(x, y + half);
  ctx.lineTo(x - half, y);
  ctx.closePath();
  ctx.fill();
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

function drawCross(ctx: Pen, x: number, y: number, packet: Packet, theme: Theme): void {
  ctx.fillStyle = flowColour(theme, packet.flow);
  ctx.fillRect(x - 4, y - 4, 8, 8);
  ctx.strokeStyle = theme.bad;
  ctx.lineWidth = 2.5;
  ctx.beginPath();
  ctx.moveTo(x - 6, y - 6);
  ctx.lineTo(x + 6, y + 6);
  ctx.moveTo(x + 6, y - 6);
  ctx.lineTo(x - 6, y + 6);
  ctx.stroke();
}

const known = new WeakMap<Sight, [number, number]>();

/** Returns the travel times on the wire, down and up, for packets whose arrival is not known. */
function travelTime(sight: Sight): [number, number] {
  const found = known.get(sight);
  if (found) return found;
  const of = (direction: number): number => {
    const times = sight.packets.filter((packet) => packet.direction === direction && packet.arrived_s > packet.decided_s);
    const middle = times[times.length >> 1];
    return middle ? middle.arrived_s - middle.decided_s : Math.max(1e-3, sight.until_s - sight.from_s);
  };
  const both: [number, number] = [of(0), of(1)];
  known.set(sight, both);
  return both;
}
