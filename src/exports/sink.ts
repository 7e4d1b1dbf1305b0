import type { Line } from "./line.ts";

/** Lines that a sink takes as a whole, or not at all. */
export interface Batch {
  /** Equal in every try of the batch. */
  readonly id: string;
  readonly lines: readonly Line[];
}

/** Where an export sends its lines. */
export interface Sink {
  /**
   * Resolves when the batch is stored for good, with the number of lines that the receiver rejected and must not
   * get again. Rejects with {@link SinkError}: the batch is tried again.
   */
  deliver(batch: Batch, signal: AbortSignal): Promise<number>;
  close(): void;
}

/** A sink has not taken a batch. The message is fit for logs: it holds no text of a receiver. */
export class SinkError extends Error {
  override readonly name = "SinkError";
  /** How long the receiver asks to wait. */
  readonly waitMs: number | undefined;
  /** Whether a smaller batch may be taken. */
  readonly isTooLarge: boolean;

  constructor(
    message: string,
    { waitMs, isTooLarge = false, cause }: { waitMs?: number; isTooLarge?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.waitMs = waitMs;
    this.isTooLarge = isTooLarge;
  }
}

/** The lines of a batch as a text with one JSON object per line. */
export function printLines(lines: readonly Line[]): string {
  return lines.map(({ text }) => `${text}\n`).join("");
}
