import { estimateTokens } from "./count-pieces.ts";
import { type CountingWorkerOptions, createCountingWorker } from "./counting-worker.ts";

/** Tokens of an answer that reported no usage. */
interface CountedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Counts tokens locally, for charges that nobody else can tell and for count_tokens. */
export interface TokenCounter {
  /**
   * Counts by the o200k vocabulary in a worker, so the event loop never waits. A text that is too
   * large, or that the worker cannot count in time, counts a quarter of its bytes. Never rejects.
   */
  count(texts: { readonly input: string; readonly output: string }): Promise<CountedTokens>;
  /** Ends the worker; counts under way and later ones are estimates. */
  close(): void;
}

export interface TokenCounterOptions extends Partial<CountingWorkerOptions> {
  /** Larger texts are estimated. */
  readonly textBytesMax?: number;
}

const TEXT_BYTES_MAX = 200_000;

const DEFAULTS: CountingWorkerOptions = {
  script: new URL("./count-worker.ts", import.meta.url),
  countMsMax: 250,
  answerMsMax: 2000,
  idleMs: 600_000,
  queueMax: 256,
};

export function createTokenCounter(options: TokenCounterOptions = {}): TokenCounter {
  const { textBytesMax = TEXT_BYTES_MAX, ...workerOptions } = options;
  const worker = createCountingWorker({ ...DEFAULTS, ...workerOptions });
  let isClosed = false;

  async function countText(text: string): Promise<number> {
    if (text === "") return 0;
    if (isClosed || Buffer.byteLength(text) > textBytesMax) return estimateTokens(text);
    return (await worker.ask(text)) ?? estimateTokens(text);
  }

  return {
    async count({ input, output }) {
      const [inputTokens, outputTokens] = await Promise.all([countText(input), countText(output)]);
      return { inputTokens, outputTokens };
    },
    close() {
      isClosed = true;
      worker.stop();
    },
  };
}
