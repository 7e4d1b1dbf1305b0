import { requestBody, SLOW_MODEL } from "../answers.ts";
import type { Client } from "./client.ts";

/** Streams that the upstream holds open after their first event. */
export interface HeldStreams {
  /** How many have begun once no more do. */
  readonly begun: number;
  /** Resolves when all have ended; says how many ended well. */
  ended(): Promise<number>;
}

const STILL_MS = 1_000;

/** Calls all at once and waits until no more of them begin. */
export async function holdStreams(client: Client, count: number): Promise<HeldStreams> {
  const body = requestBody({ model: SLOW_MODEL, stream: true });
  let begun = 0;

  async function hold(): Promise<void> {
    const answer = await client({ kind: "stream", body, signal: new AbortController().signal });
    let pieces = 0;
    await answer.read(() => {
      if (pieces++ === 0) begun += 1;
    });
  }

  const ends = Promise.allSettled(Array.from({ length: count }, hold));
  for (let before = -1; begun !== before || begun === 0; await Bun.sleep(STILL_MS)) before = begun;
  return {
    begun,
    ended: async () => (await ends).filter(({ status }) => status === "fulfilled").length,
  };
}
