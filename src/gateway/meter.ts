import { costOf, type Route } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import { isPlausible, NO_USAGE, type Usage } from "../domain/usage.ts";
import type { ReplyPart } from "../wire/wire-protocol.ts";
import { guessInput, inputTokensMaxOf, outputTokensMaxOf, type Quote } from "./quote.ts";

/** A rough token count of text that nobody has counted yet. */
const CHARS_PER_TOKEN = 4;

/** Folds the parts of an answer into what must be known to charge for it. */
export interface Meter {
  /** Begins anew with another route: what a failed one said is forgotten. */
  restart(route: Route): void;
  add(part: ReplyPart): void;
  /** The client was sent some of the answer. */
  shown(): void;
  readonly route: Route | undefined;
  /** Whether the upstream has put something out, be it hidden from the client. */
  readonly hasOutput: boolean;
  /** Whether the client has seen some of it: from then on no other route can answer, and failing is not free. */
  readonly isShown: boolean;
  /** Clock reading at the first output. */
  readonly firstOutputAt: number | undefined;
  readonly isReadable: boolean;
  /** What the upstream reported so far, if it can be true. */
  reported(): Usage | undefined;
  /** Whether it reported something that cannot be. */
  readonly disbelieves: boolean;
  /** Everything generated so far. */
  generated(): string;
  /** How long that is. */
  readonly generatedChars: number;
  /** Cost so far of what the client was shown, by report or by rule of thumb: what a heartbeat says. */
  accrued(): Nanos;
}

export function createMeter(quote: Quote, clock: () => number): Meter {
  let route: Route | undefined;
  let usage: Usage | undefined;
  let pieces: string[] = [];
  let generatedChars = 0;
  let firstOutputAt: number | undefined;
  let isReadable = false;
  let isShown = false;

  function reported(): Usage | undefined {
    const bounds = { inputTokensMax: inputTokensMaxOf(quote), outputTokensMax: outputTokensMaxOf(quote) };
    return usage && isPlausible(usage, bounds) ? usage : undefined;
  }

  return {
    restart(next) {
      route = next;
      usage = undefined;
      pieces = [];
      generatedChars = 0;
      firstOutputAt = undefined;
      isReadable = false;
      isShown = false;
    },
    add(part) {
      if (part.usage) usage = part.usage;
      if (part.generated !== "") {
        pieces.push(part.generated);
        generatedChars += part.generated.length;
      }
      if (part.isOutput) firstOutputAt ??= clock();
      isReadable ||= part.isReadable;
    },
    shown() {
      isShown = true;
    },
    get route() {
      return route;
    },
    get hasOutput() {
      return firstOutputAt !== undefined;
    },
    get isShown() {
      return isShown;
    },
    get firstOutputAt() {
      return firstOutputAt;
    },
    get isReadable() {
      return isReadable;
    },
    reported,
    get disbelieves() {
      return usage !== undefined && reported() === undefined;
    },
    generated: () => pieces.join(""),
    get generatedChars() {
      return generatedChars;
    },
    accrued() {
      if (!route || !isShown) return 0n;
      const known = reported() ?? { ...NO_USAGE, inputTokens: guessInput(quote) };
      const outputTokens = Math.max(known.outputTokens, Math.ceil(generatedChars / CHARS_PER_TOKEN));
      return costOf({ ...known, outputTokens }, route.price);
    },
  };
}
