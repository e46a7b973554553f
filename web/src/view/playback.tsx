// Play, pause, step, slow motion, and the position in the run.

import { duration_s, playhead, playing, seek, speed, step } from "../playing.ts";

const SPEEDS: readonly [number, string][] = [
  [0.001, "1/1000 of real time"],
  [0.01, "1/100 of real time"],
  [0.05, "1/20 of real time"],
  [0.2, "1/5 of real time"],
  [1, "real time"],
];

export function Playback() {
  const end = Math.max(duration_s(), 0.001);
  return (
    <section class="playback" aria-label="Playback">
      <button type="button" class="primary" aria-pressed={playing.value} onClick={() => (playing.value = !playing.value)}>
        {playing.value ? "Pause" : "Play"}
      </button>
      <button type="button" onClick={() => step(-1)} title="To the packet that left a queue before">
        Packet back
      </button>
      <button type="button" onClick={() => step(1)} title="To the next packet that leaves a queue, or is dropped">
        Next packet
      </button>
      <label>
        <span class="name">Speed</span>
        <select value={String(speed.value)} onChange={(event) => (speed.value = Number(event.currentTarget.value))}>
          {SPEEDS.map(([factor, name]) => (
            <option key={name} value={String(factor)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="time">
        <span class="name">Time in the run</span>
        <span class="value" aria-hidden="true">
          {playhead.value.toFixed(4)} s
        </span>
        <input
          type="range"
          min={0}
          max={end}
          step={end / 3000}
          value={playhead.value}
          aria-valuetext={`${playhead.value.toFixed(2)} seconds`}
          onInput={(event) => seek(Number(event.currentTarget.value))}
        />
      </label>
    </section>
  );
}
