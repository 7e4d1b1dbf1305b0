import type { Socket } from "bun";
import { EVENT_MS, STREAM_PIECES } from "./wire-answers.ts";

/** Writes streams at the pace of a model, thousands of them with a few timers. */
export interface PacedStreams {
  /** Writes the first event at once. */
  begin(socket: Socket<unknown>): void;
  /** The client has gone. */
  drop(socket: Socket<unknown>): void;
}

const PHASES = 4;

/** Streams are spread over the phases of an interval, as the events of many models are. */
export function createPacedStreams(): PacedStreams {
  const phases = Array.from({ length: PHASES }, () => new Map<Socket<unknown>, number>());
  let begun = 0;
  let ticks = 0;

  function tick(): void {
    const running = phases[ticks++ % PHASES];
    for (const [socket, next] of running ?? []) {
      writeAll(socket, STREAM_PIECES[next]);
      if (next + 1 < STREAM_PIECES.length) running?.set(socket, next + 1);
      else running?.delete(socket);
    }
  }

  setInterval(tick, EVENT_MS / PHASES);
  return {
    begin(socket) {
      writeAll(socket, STREAM_PIECES[0]);
      phases[begun++ % PHASES]?.set(socket, 1);
    },
    drop(socket) {
      for (const running of phases) running.delete(socket);
    },
  };
}

/** A whole stream fits into a socket's buffer, so that what is written is taken at once. */
export function writeAll(socket: Socket<unknown>, bytes: Buffer | undefined): void {
  if (!bytes) return;
  const taken = socket.write(bytes);
  if (taken >= 0 && taken !== bytes.length) throw new Error("A socket does not take a whole event");
}
