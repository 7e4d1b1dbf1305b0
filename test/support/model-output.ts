/** What a scripted model says, in words that both protocols can print. */
export interface ModelOutput {
  readonly text?: string;
  readonly reasoning?: string;
  readonly tool?: OutputCall;
  /** The provider's own word for why it finished; the usual one of the protocol when left out. */
  readonly finish?: string;
  /** Tokens that the upstream reports; `undefined` reports none. */
  readonly usage?: { readonly input: number; readonly output: number } | undefined;
  /** The model's name in the answer, which clients must not see. */
  readonly model?: string;
}

/** The call of a tool; what only OpenAI's responses can say of it is left out elsewhere. */
export interface OutputCall {
  readonly name: string;
  /** JSON, or any text for a tool that takes it. */
  readonly arguments: string;
  readonly namespace?: string | undefined;
  readonly takesText?: boolean;
}

export const HELLO: ModelOutput = { text: "Hello there, friend.", usage: { input: 11, output: 7 } };

/** Pieces of a text that a provider would stream one by one. */
export function wordsOf(text: string | undefined): string[] {
  return text?.match(/\s*\S+/g) ?? [];
}
