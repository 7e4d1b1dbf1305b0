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

/** A client that is stricter than any: throws when what it reads is not what the protocol allows. */
export function insist(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`The client read ${what}`);
}

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectAt(value: unknown, what: string): Json {
  insist(isObject(value), `no object as ${what}`);
  return value;
}

export function textAt(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
