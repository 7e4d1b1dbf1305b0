import { cheapestFirst, costOf } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import type { ServedTier } from "../domain/tiers.ts";
import type { ToolCalls } from "../domain/tool-fees.ts";
import {
  countedOf,
  cutUsage,
  inputTokensOf,
  isCount,
  isCounted,
  isWithin,
  NO_USAGE,
  type Usage,
  type UsageBound,
  withSpeech,
} from "../domain/usage.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { priceOf } from "./answer-prices.ts";
import { chargeApart } from "./priced-apart.ts";
import {
  estimateInputTokens,
  type PricedCandidate,
  type Quote,
  spokenTokensOf,
  usageBoundOf,
  usualUnitsOf,
} from "./quote.ts";

/** Average of ordinary text, for output that is not counted yet. */
const CHARS_PER_TOKEN = 4;

/** A reported usage above the request's bound. */
export interface UsageExcess {
  readonly reported: Usage;
  readonly bound: UsageBound;
  readonly areCallsCut: boolean;
}

/** The countable part of the reports after the cut, and the report before it. */
interface BoundedUsage {
  readonly counted: Usage;
  readonly excess: UsageExcess | undefined;
}

const NOTHING_COUNTED: BoundedUsage = { counted: NO_USAGE, excess: undefined };

/** Adds up the parts of an answer: output, reported usage, and whether the client was sent a part. */
export class Meter {
  candidate: PricedCandidate | undefined;
  /** Clock reading at the first output. */
  firstOutputAt: number | undefined;
  isReadable = false;
  /** Whether the client has seen output. Then no other candidate can answer, and a failure is charged. */
  isCommitted = false;
  generatedChars = 0;
  /** Bytes of spoken output so far. */
  audioBytes = 0;
  /** Images that came or began without a report of their tokens; `undefined` before them and in other answers. */
  unreportedImages: number | undefined;
  /** The service tier that the answer reported last. */
  servedTier: ServedTier | undefined;
  readonly #quote: Quote;
  readonly #clock: () => number;
  /** The latest report. */
  #usage: Usage | undefined;
  /** Whether every number of the latest report is a whole number from 0. */
  #isWhole = false;
  /** The countable classes of the latest report, and of earlier reports where it has none. */
  #counted: Usage | undefined;
  /** `#counted` cut to the request's bound; computed when first read. */
  #bounded: BoundedUsage | undefined;
  /** The latest calls of each tool; `undefined` before any. */
  #calls: ToolCalls | undefined;
  #areCallsRejected = false;
  #pieces: string[] = [];

  constructor(quote: Quote, clock: () => number) {
    this.#quote = quote;
    this.#clock = clock;
  }

  /** Forgets the parts of a failed candidate and starts with the next one. */
  restart(next: PricedCandidate): void {
    this.candidate = next;
    this.firstOutputAt = undefined;
    this.isReadable = false;
    this.isCommitted = false;
    this.generatedChars = 0;
    this.audioBytes = 0;
    this.unreportedImages = undefined;
    this.servedTier = undefined;
    this.#usage = undefined;
    this.#isWhole = false;
    this.#counted = undefined;
    this.#bounded = undefined;
    this.#calls = undefined;
    this.#areCallsRejected = false;
    if (this.#pieces.length > 0) this.#pieces = [];
  }

  add(part: ReplyPart): void {
    const usage = this.#quote.model.price.unit ? unitUsageOf(part) : part.usage;
    if (usage) {
      this.#usage = usage;
      this.#isWhole = isCounted(usage);
      this.#counted = this.#isWhole ? usage : countedOf(usage, this.#counted);
      this.#bounded = undefined;
    }
    if (part.calls) {
      this.#calls = part.calls;
      this.#areCallsRejected = part.areCallsRejected === true;
      this.#bounded = undefined;
    }
    if (part.generated !== "") {
      this.#pieces.push(part.generated);
      this.generatedChars += part.generated.length;
    }
    if (part.audioBytes !== undefined) this.audioBytes += part.audioBytes;
    if (part.unreportedImages !== undefined) this.unreportedImages = part.unreportedImages;
    if (part.tier !== undefined) this.servedTier = part.tier;
    if (part.isOutput) this.firstOutputAt ??= this.#clock();
    this.isReadable ||= part.isReadable;
  }

  /** Records that the client was sent a part of the answer. */
  commit(): void {
    this.isCommitted = true;
  }

  /** Whether the upstream has sent output, even if hidden from the client. */
  get hasOutput(): boolean {
    return this.firstOutputAt !== undefined;
  }

  /** Whether the latest report was rejected because a number in it is not a whole number from 0. */
  get isUsageRejected(): boolean {
    return (this.#usage !== undefined && !this.#isWhole) || this.#areCallsRejected;
  }

  /** The latest reported usage, cut to the request's bound; `undefined` when absent or rejected. */
  reported(): Usage | undefined {
    return this.#isWhole ? this.#boundedUsage().counted : undefined;
  }

  /** The countable part of the reports, cut to the bound: each class as last reported, 0 without a report. */
  counted(): Usage {
    return this.#boundedUsage().counted;
  }

  /** Whether every input class was reported as a whole number from 0. */
  hasInput(): boolean {
    return this.#usage !== undefined && isCounted({ ...this.#usage, outputTokens: 0 });
  }

  /** Whether the output was reported last as a whole number from 0. */
  hasOutputReport(): boolean {
    return this.#usage !== undefined && isCount(this.#usage.outputTokens);
  }

  /** The latest report that exceeded the bound; `undefined` when it was not cut. */
  excess(): UsageExcess | undefined {
    return this.#boundedUsage().excess;
  }

  /** All generated text so far. */
  generated(): string {
    return this.#pieces.join("");
  }

  /** Cost so far of the committed answer, as reported or estimated; the amount of a heartbeat. */
  accrued(): Nanos {
    const { candidate } = this;
    if (!candidate || !this.isCommitted) return 0n;
    const { counted } = this.#boundedUsage();
    const input = this.#isWhole ? counted : withEstimatedInput(counted, this.#quote);
    const spoken = this.audioBytes === 0 ? 0 : spokenTokensOf(this.#quote, this.audioBytes);
    const accrued = withUnits(withOutputAtLeast(input, this.generatedChars, spoken), this.#quote);
    return costOf(accrued, priceOf(this.#quote, candidate, accrued, this.servedTier));
  }

  #boundedUsage(): BoundedUsage {
    if (!this.candidate) return NOTHING_COUNTED;
    const usage = this.#counted;
    if (!usage && !this.#calls && !this.candidate.route.price.tools) return NOTHING_COUNTED;
    this.#bounded ??= boundUsage(this.#quote, this.candidate, {
      usage: usage ?? NO_USAGE,
      calls: this.#calls,
    });
    return this.#bounded;
  }
}

interface Reported {
  readonly usage: Usage;
  readonly calls: ToolCalls | undefined;
}

function boundUsage(quote: Quote, candidate: PricedCandidate, { usage, calls }: Reported): BoundedUsage {
  const bound = usageBoundOf(quote, candidate);
  const isBounded = isWithin(usage, bound);
  const counted = isBounded ? usage : cutUsage(usage, bound, cheapestFirst(candidate.route.price));
  const charged = chargeApart(quote, candidate, counted, { usage, calls });
  if (isBounded && !charged.isCut) return { counted: charged.usage, excess: undefined };
  const { areCallsCut } = charged;
  const reported = calls ? { ...usage, calls } : usage;
  return { counted: charged.usage, excess: { reported, bound, areCallsCut } };
}

/** Reads the report of an answer that is charged by unit; its tokens have no price. */
function unitUsageOf({ units }: ReplyPart): Usage | undefined {
  if (!units) return undefined;
  const { count, ...unitKind } = units;
  return { ...NO_USAGE, units: count, unitKind };
}

/** Adds the units that a request asked for where none are reported yet. */
function withUnits(usage: Usage, { model, request }: Quote): Usage {
  if (!model.price.unit || usage.units !== undefined) return usage;
  return { ...usage, units: usualUnitsOf(request) };
}

/** Estimates the input where none is reported yet. */
function withEstimatedInput(counted: Usage, quote: Quote): Usage {
  return inputTokensOf(counted) > 0 ? counted : { ...counted, inputTokens: estimateInputTokens(quote) };
}

function withOutputAtLeast(usage: Usage, generatedChars: number, spoken: number): Usage {
  const generated = Math.ceil(generatedChars / CHARS_PER_TOKEN) + spoken;
  const outputTokens = Math.max(usage.outputTokens, generated);
  return withSpeech({ ...usage, outputTokens }, { heard: 0, spoken });
}
