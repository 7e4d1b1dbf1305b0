/** What a client makes of an answer, whole or streamed, on either surface. */
export interface View {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly tools: readonly ToolView[];
  /** `undefined` when the answer never finished. */
  readonly finish: string | undefined;
  /** The error frame that ended it. */
  readonly error: Readonly<Record<string, unknown>> | undefined;
}

export interface ToolView {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The same while it is being read. */
export type Draft = { -readonly [Field in keyof Omit<View, "tools">]: View[Field] } & { tools: ToolView[] };

export function emptyDraft(): Draft {
  return { text: "", reasoning: "", refusal: "", tools: [], finish: undefined, error: undefined };
}
