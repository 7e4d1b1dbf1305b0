import type { Cause, RefusalFacts } from "../errors.ts";

/** A request that was refused before it took a hold: it cost nothing and has no receipt. */
export interface Refusal {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly cause: Cause;
  /** A model of the catalog; `undefined` without a readable body, and for an unknown model. */
  readonly model: string | undefined;
  /** The model as the client named it. */
  readonly requestedModel: string | undefined;
  readonly surface: string;
  /** The message that was sent, when it is not that of the cause. */
  readonly text: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly facts: RefusalFacts | undefined;
}

/** Counts refused requests. Takes no time of a request that is admitted. */
export interface RefusalRecorder {
  /** Never throws. */
  note(refusal: Refusal): void;
  /** Resolves when what was noted before is written, or the database failed. Never rejects. */
  flush(): Promise<void>;
}

/** One refused request as it is stored, with the numbers of its moment. Amounts are nano-USD as text. */
export interface RefusedRequest {
  readonly id: string;
  readonly atMs: number;
  /** In a row of several keys. */
  readonly keyId?: string | undefined;
  readonly surface: string;
  readonly requestedModel?: string | undefined;
  readonly text?: string | undefined;
  readonly retryAfterS?: number | undefined;
  readonly money?:
    | { readonly needed: string; readonly available: string; readonly unheld: string }
    | undefined;
  readonly spendingLimit?: RefusalFacts["spendingLimit"];
  readonly limit?: RefusalFacts["limit"];
}

/** The key of a row that adds up the refusals of several keys and models. */
export const SEVERAL_KEYS = "";
/** Refused requests are kept for this long. */
export const KEPT_MS = 7 * 24 * 3_600_000;
export const MINUTE_MS = 60_000;

const TEXT_CHARACTERS_MAX = 300;

/** Takes what is stored of a refusal. Texts are cut to 300 characters. */
export function readRefused(refusal: Refusal, atMs: number): RefusedRequest {
  const { requestId: id, surface, requestedModel, text, retryAfterS, facts } = refusal;
  const money = facts?.money && {
    needed: String(facts.money.needed),
    available: String(facts.money.available),
    unheld: String(facts.money.unheld),
  };
  return {
    id,
    atMs,
    surface,
    requestedModel: cut(requestedModel),
    text: cut(text),
    retryAfterS,
    money,
    spendingLimit: facts?.spendingLimit,
    limit: facts?.limit,
  };
}

/** Parses the column `facts`: the latest refused requests of a row, oldest first, never empty. */
export function parseFacts(facts: string): readonly RefusedRequest[] {
  // Safe because the column is only written by `printFacts`.
  return JSON.parse(facts) as readonly RefusedRequest[];
}

export function printFacts(recent: readonly RefusedRequest[]): string {
  return JSON.stringify(recent);
}

function cut(text: string | undefined): string | undefined {
  return text === undefined ? undefined : text.slice(0, TEXT_CHARACTERS_MAX);
}
