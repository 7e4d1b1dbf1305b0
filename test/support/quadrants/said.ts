/**
 * What a model said, in words that no protocol owns: a scripted upstream prints it, a client reads it back, and
 * whatever stands between them both must be the same.
 */
export interface Said {
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly SaidCall[];
  readonly finish: Finish;
  readonly usage: SaidUsage | undefined;
}

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  /** A JSON value: no protocol keeps the spaces of its text. */
  readonly input: unknown;
}

export type Finish = "stop" | "length" | "tool_calls" | "content_filter";

/** In disjoint classes. */
export interface SaidUsage {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

/** A short friendly answer, with what is changed of it. */
export function said(more: Partial<Said> = {}): Said {
  return {
    reasoning: "",
    text: "Hello there, friend.",
    refusal: "",
    calls: [],
    finish: "stop",
    usage: { input: 11, cached: 0, written: 0, output: 7 },
    ...more,
  };
}

/** What a usage costs at the prices of the test catalog, in nano-USD. */
export function nanosOf({ input, cached, written, output }: SaidUsage): bigint {
  return BigInt(1_000 * input + 100 * cached + 1_250 * written + 2_000 * output);
}

/** Pieces of a text as a provider might stream it: some end within a word or a character of two units. */
export function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,5}/gu) ?? [];
}
