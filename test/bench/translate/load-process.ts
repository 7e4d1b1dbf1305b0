import { openConnection, printRequest, type Target } from "../connection.ts";
import { answerJobs } from "../processes.ts";
import { faultOf } from "./answers.ts";
import type { Cell } from "./plan.ts";
import { encodeRequest, type Format } from "./requests.ts";

/** A closed loop: every connection sends the next request after each answer. */
export interface TranslateLoad extends Omit<Cell, "upstream"> {
  readonly target: Target;
  readonly model: string;
  readonly connections: number;
  readonly ms: number;
}

export interface TranslateLoadResult {
  readonly answers: number;
  readonly perSecond: number;
  /** The first five faults. */
  readonly faults: readonly string[];
}

const PATHS: Readonly<Record<Format, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};
const CHECKED_EVERY = 50;

answerJobs<TranslateLoad>(async (load) => {
  const { client: format, stream, ms } = load;
  const request = printRequest({ ...load.target, path: PATHS[format] }, encodeRequest({ ...load, format }));
  const faults: string[] = [];
  let answers = 0;
  let inTime = 0;
  const endMs = performance.now() + ms;

  async function runConnection(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let asked = 0;
    const connection = await openConnection(load.target.url, {
      onAnswer({ status, body }) {
        const fault = status === 200 ? body && faultOf(body, { format, stream }) : `status ${status}`;
        if (fault) faults.push(fault);
        else answers += 1;
        if (performance.now() > endMs || fault) return resolve();
        inTime += 1;
        ask();
      },
      onBroken(reason) {
        faults.push(reason);
        resolve();
      },
    });
    function ask(): void {
      connection.send(request, { keepBody: asked++ % CHECKED_EVERY === 0 });
    }
    ask();
    await promise;
    connection.close();
  }

  await Promise.all(Array.from({ length: load.connections }, runConnection));
  return {
    answers,
    perSecond: (inTime / ms) * 1000,
    faults: faults.slice(0, 5),
  } satisfies TranslateLoadResult;
});
