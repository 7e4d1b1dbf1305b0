import { type CountingWorkerOptions, createCountingWorker } from "./counting-worker.ts";
import { estimateTokens, sampleText } from "./estimate.ts";

/** Tokens of an answer without a reported usage. */
interface CountedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface CountedTexts {
  readonly input: string;
  readonly output: string;
  /** Whether no request waits for the count: a late count is then better than an estimate. */
  readonly isPatient?: boolean;
}

/** Counts tokens locally, for charges without a reported usage and for count_tokens. */
export interface TokenCounter {
  /**
   * Counts by the o200k vocabulary in a worker, without blocking the event loop. A text above 200,000 bytes
   * is counted by a sample. A text that the worker cannot count in time is estimated. Never rejects. The first
   * count starts the worker: 100 ms of CPU, and 14 MB that a gateway without counts does not need.
   */
  count(texts: CountedTexts): Promise<CountedTokens>;
  /** Applies the short timeout to every count from now on: the process is ending. */
  hurry(): void;
  /** Ends the worker. Pending and later counts are estimates. */
  close(): void;
}

export interface TokenCounterOptions extends Partial<CountingWorkerOptions> {
  /** Larger texts are counted by a sample of this size. */
  readonly textBytesMax?: number;
}

const TEXT_BYTES_MAX = 200_000;

const DEFAULTS: CountingWorkerOptions = {
  script: new URL("./count-worker.ts", import.meta.url),
  startMsMax: 20_000,
  countMsMax: 250,
  answerMsMax: 2_000,
  patientMsMax: 30_000,
  queueMax: 256,
};

export function createTokenCounter(options: TokenCounterOptions = {}): TokenCounter {
  const { textBytesMax = TEXT_BYTES_MAX, ...workerOptions } = options;
  const worker = createCountingWorker({ ...DEFAULTS, ...workerOptions });

  async function countText(text: string, isPatient: boolean): Promise<number> {
    if (text === "") return 0;
    const sample = Buffer.byteLength(text) > textBytesMax ? sampleText(text, textBytesMax) : text;
    const tokens = await worker.count(sample, isPatient);
    if (tokens === undefined) return estimateTokens(text);
    return sample === text ? tokens : Math.ceil((tokens * text.length) / sample.length);
  }

  return {
    async count({ input, output, isPatient = false }) {
      const [inputTokens, outputTokens] = await Promise.all([
        countText(input, isPatient),
        countText(output, isPatient),
      ]);
      return { inputTokens, outputTokens };
    },
    hurry: worker.hurry,
    close: worker.close,
  };
}
