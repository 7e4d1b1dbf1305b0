import type { Recorder } from "./recorder.ts";

/** Clients of the gateway that send requests continuously, whatever the answers. */
export interface HttpLoad {
  /** The number of answers that were read to their end. */
  readonly finished: () => number;
  /** Resolves when the last answer is read or failed. */
  stop(): Promise<void>;
}

const WORDS = "one two three four five six seven eight nine ten ".repeat(6);
const PAUSE_MS = 20;

/**
 * Starts clients, half of which stream. A finished answer is recorded as "http ID COST"; COST is `-` for a
 * stream, or for an answer whose settlement waits in the outbox.
 */
export function startHttpLoad(url: string, secret: string, clients: number, recorder: Recorder): HttpLoad {
  let isStopped = false;
  let finished = 0;

  const request = async (stream: boolean) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model: "demo", stream, messages: [{ role: "user", content: WORDS }] }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const isWhole = stream ? text.endsWith("data: [DONE]\n\n") : text.includes('"finish_reason"');
    if (!response.ok || !isWhole) return false;
    const cost = response.headers.get("x-tollgate-cost-usd") ?? "-";
    await recorder.record(`http ${response.headers.get("x-request-id")} ${cost}`);
    finished += 1;
    return true;
  };
  const work = async (stream: boolean) => {
    while (!isStopped) {
      const isFinished = await request(stream).catch(() => false);
      if (!isFinished) await Bun.sleep(PAUSE_MS);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, client) => work(client % 2 === 0)));

  return {
    finished: () => finished,
    async stop() {
      isStopped = true;
      await all;
    },
  };
}
