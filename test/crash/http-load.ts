import type { Recorder } from "./recorder.ts";
import { createSocketClient } from "./socket-client.ts";

/** Clients of the gateway that send requests continuously, whatever the answers. */
export interface HttpLoad {
  /** The number of answers that were read to their end. */
  readonly finished: () => number;
  /** Resolves when the last answer is read or failed. */
  stop(): Promise<void>;
}

const WORDS = "one two three four five six seven eight nine ten ".repeat(6);
const PAUSE_MS = 20;

/** Of so many clients, one uses a WebSocket. */
const SOCKET_EVERY = 4;

/**
 * Starts clients, half of which stream, and some of them over a WebSocket. A finished answer is recorded as
 * "http ID COST"; COST is `-` for a stream over HTTP, or for an answer whose settlement waits in the outbox.
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
  const work = async (ask: () => Promise<boolean>) => {
    while (!isStopped) {
      const isFinished = await ask().catch(() => false);
      if (!isFinished) await Bun.sleep(PAUSE_MS);
    }
  };
  const workOverSocket = async () => {
    const client = createSocketClient(url, secret);
    await work(async () => {
      const { id, cost } = await client.ask(WORDS);
      await recorder.record(`http ${id} ${cost}`);
      finished += 1;
      return true;
    });
    client.close();
  };
  const clientOf = (client: number) =>
    client % SOCKET_EVERY === 0 ? workOverSocket() : work(() => request(client % 2 === 0));
  const all = Promise.all(Array.from({ length: clients }, (_, client) => clientOf(client)));

  return {
    finished: () => finished,
    async stop() {
      isStopped = true;
      await all;
    },
  };
}
