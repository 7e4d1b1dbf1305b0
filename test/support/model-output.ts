/** The output of a scripted model, independent of the protocol that encodes it. */
export interface ModelOutput {
  readonly text?: string;
  readonly reasoning?: string;
  readonly tool?: OutputCall;
  /** The finish reason in the words of the provider. Default: the usual one of the protocol. */
  readonly finish?: string;
  /** The usage that the upstream reports; `undefined` when it reports none. */
  readonly usage?: { readonly input: number; readonly output: number } | undefined;
  /** The model name in the upstream answer, which clients must not see. */
  readonly model?: string;
  /** The service tier that an answer in OpenAI's formats reports. */
  readonly tier?: string | undefined;
  /** An item of OpenAI responses that stands for the conversation so far. */
  readonly compaction?: string | undefined;
}

/** A tool call. `namespace` and `takesText` exist only in OpenAI responses. */
export interface OutputCall {
  readonly name: string;
  /** Default: `call_1`, or `toolu_1` in messages. */
  readonly id?: string;
  /** JSON, or any text for a custom tool. */
  readonly arguments: string;
  readonly namespace?: string | undefined;
  readonly takesText?: boolean;
}

/** The default output of a scripted model. */
export const HELLO: ModelOutput = { text: "Hello there, friend.", usage: { input: 11, output: 7 } };

/** Splits a text into the pieces that a provider would stream. */
export function wordsOf(text: string | undefined): string[] {
  return text?.match(/\s*\S+/g) ?? [];
}
