import { cheapestFirst, costOf } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import {
  countedOf,
  cutUsage,
  inputTokensOf,
  isCount,
  isCounted,
  isWithin,
  NO_USAGE,
  type Usage,
} from "../domain/usage.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { estimateInputTokens, priceOf, usageBoundOf, usualUnitsOf } from "./quote.ts";
import type { Candidate, Meter, Quote, UsageExcess } from "./request.ts";

/** Average of ordinary text, for output that is not counted yet. */
const CHARS_PER_TOKEN = 4;

/** The countable part of the reports after the cut, and the report before it. */
interface BoundedUsage {
  readonly counted: Usage;
  readonly excess: UsageExcess | undefined;
}

const NOTHING_COUNTED: BoundedUsage = { counted: NO_USAGE, excess: undefined };

/** The meter of one request. */
export class RequestMeter implements Meter {
  candidate: Candidate | undefined;
  firstOutputAt: number | undefined;
  isReadable = false;
  isCommitted = false;
  generatedChars = 0;
  unreportedImages: number | undefined;
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
  #pieces: string[] = [];

  constructor(quote: Quote, clock: () => number) {
    this.#quote = quote;
    this.#clock = clock;
  }

  restart(next: Candidate): void {
    this.candidate = next;
    this.firstOutputAt = undefined;
    this.isReadable = false;
    this.isCommitted = false;
    this.generatedChars = 0;
    this.unreportedImages = undefined;
    this.#usage = undefined;
    this.#isWhole = false;
    this.#counted = undefined;
    this.#bounded = undefined;
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
    if (part.generated !== "") {
      this.#pieces.push(part.generated);
      this.generatedChars += part.generated.length;
    }
    if (part.unreportedImages !== undefined) this.unreportedImages = part.unreportedImages;
    if (part.isOutput) this.firstOutputAt ??= this.#clock();
    this.isReadable ||= part.isReadable;
  }

  commit(): void {
    this.isCommitted = true;
  }

  get hasOutput(): boolean {
    return this.firstOutputAt !== undefined;
  }

  get isUsageRejected(): boolean {
    return this.#usage !== undefined && !this.#isWhole;
  }

  reported(): Usage | undefined {
    return this.#isWhole ? this.#boundedUsage().counted : undefined;
  }

  counted(): Usage {
    return this.#boundedUsage().counted;
  }

  hasInput(): boolean {
    return this.#usage !== undefined && isCounted({ ...this.#usage, outputTokens: 0 });
  }

  hasOutputReport(): boolean {
    return this.#usage !== undefined && isCount(this.#usage.outputTokens);
  }

  excess(): UsageExcess | undefined {
    return this.#boundedUsage().excess;
  }

  generated(): string {
    return this.#pieces.join("");
  }

  accrued(): Nanos {
    const { candidate } = this;
    if (!candidate || !this.isCommitted) return 0n;
    const { counted } = this.#boundedUsage();
    const input = this.#isWhole ? counted : withEstimatedInput(counted, this.#quote);
    const accrued = withUnits(withOutputAtLeast(input, this.generatedChars), this.#quote);
    return costOf(accrued, priceOf(this.#quote, candidate, accrued));
  }

  #boundedUsage(): BoundedUsage {
    if (!this.#counted || !this.candidate) return NOTHING_COUNTED;
    this.#bounded ??= boundUsage(this.#counted, this.#quote, this.candidate);
    return this.#bounded;
  }
}

function boundUsage(usage: Usage, quote: Quote, candidate: Candidate): BoundedUsage {
  const bound = usageBoundOf(quote, candidate);
  if (isWithin(usage, bound)) return { counted: usage, excess: undefined };
  const counted = cutUsage(usage, bound, cheapestFirst(candidate.route.price));
  return { counted, excess: { reported: usage, bound } };
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

function withOutputAtLeast(usage: Usage, generatedChars: number): Usage {
  const outputTokens = Math.max(usage.outputTokens, Math.ceil(generatedChars / CHARS_PER_TOKEN));
  return { ...usage, outputTokens };
}
