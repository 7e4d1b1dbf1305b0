import { cheapestFirst, costOf, type Route } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import {
  countedOf,
  cutUsage,
  inputTokensOf,
  isCounted,
  isWithin,
  NO_USAGE,
  type Usage,
  type UsageBound,
} from "../domain/usage.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { guessInput, priceOf, type Quote, usageBoundOf } from "./quote.ts";

/** A rough token count of text that nobody has counted yet. */
const CHARS_PER_TOKEN = 4;

/** A report of more than the request allows for. */
interface Excess {
  readonly reported: Usage;
  readonly bound: UsageBound;
}

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
  /** What the upstream reported so far, cut to what the request allows for; `undefined` when some cannot be counted. */
  reported(): Usage | undefined;
  /** That part of it which can be counted, cut alike: each class as last reported, 0 where none was. */
  counted(): Usage;
  /** Whether every class of the input was reported, and as a count. */
  hasInput(): boolean;
  /** The report before it was cut; `undefined` when it was not. */
  excess(): Excess | undefined;
  /** Whether it reported something that cannot be counted: not whole numbers from 0. */
  readonly disbelieves: boolean;
  /** Everything generated so far. */
  generated(): string;
  /** How long that is. */
  readonly generatedChars: number;
  /** Cost so far of what the client was shown, by report or by rule of thumb: what a heartbeat says. */
  accrued(): Nanos;
}

interface Judgement {
  readonly counted: Usage;
  readonly excess: Excess | undefined;
}

const NOTHING_COUNTED: Judgement = { counted: NO_USAGE, excess: undefined };

function judgeUsage(usage: Usage, quote: Quote, route: Route): Judgement {
  const bound = usageBoundOf(quote, route);
  if (isWithin(usage, bound)) return { counted: usage, excess: undefined };
  const counted = cutUsage(usage, bound, cheapestFirst(route.price));
  return { counted, excess: { reported: usage, bound } };
}

function guessUnreported(counted: Usage, quote: Quote): Usage {
  return inputTokensOf(counted) > 0 ? counted : { ...counted, inputTokens: guessInput(quote) };
}

function raiseOutput(usage: Usage, generatedChars: number): Usage {
  const outputTokens = Math.max(usage.outputTokens, Math.ceil(generatedChars / CHARS_PER_TOKEN));
  return { ...usage, outputTokens };
}

export function createMeter(quote: Quote, clock: () => number): Meter {
  let route: Route | undefined;
  let usage: Usage | undefined;
  let pieces: string[] = [];
  let generatedChars = 0;
  let firstOutputAt: number | undefined;
  let isReadable = false;
  let isShown = false;
  /** What can be counted of it and of what was reported before. */
  let counted: Usage | undefined;
  /** `counted` held against the bound of the request; computed when first asked for. */
  let judgement: Judgement | undefined;

  function judge(): Judgement {
    judgement ??= counted && route ? judgeUsage(counted, quote, route) : NOTHING_COUNTED;
    return judgement;
  }

  const isWhole = () => usage !== undefined && isCounted(usage);

  return {
    restart(next) {
      route = next;
      usage = undefined;
      counted = undefined;
      judgement = undefined;
      pieces = [];
      generatedChars = 0;
      firstOutputAt = undefined;
      isReadable = false;
      isShown = false;
    },
    add(part) {
      if (part.usage) {
        usage = part.usage;
        counted = countedOf(usage, counted);
        judgement = undefined;
      }
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
    reported: () => (isWhole() ? judge().counted : undefined),
    counted: () => judge().counted,
    hasInput: () => usage !== undefined && isCounted({ ...usage, outputTokens: 0 }),
    excess: () => judge().excess,
    get disbelieves() {
      return usage !== undefined && !isWhole();
    },
    generated: () => pieces.join(""),
    get generatedChars() {
      return generatedChars;
    },
    accrued() {
      if (!route || !isShown) return 0n;
      const known = isWhole() ? judge().counted : guessUnreported(judge().counted, quote);
      const accrued = raiseOutput(known, generatedChars);
      return costOf(accrued, priceOf(quote, route, accrued));
    },
  };
}
