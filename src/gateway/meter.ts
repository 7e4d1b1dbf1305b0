import { cheapestFirst, costOf } from "../domain/model.ts";
import {
  countedOf,
  cutUsage,
  inputTokensOf,
  isCounted,
  isWithin,
  NO_USAGE,
  type Usage,
} from "../domain/usage.ts";
import { estimateInputTokens, priceOf, usageBoundOf } from "./quote.ts";
import type { Candidate, Meter, Quote, UsageExcess } from "./request.ts";

/** Average of ordinary text, for output that is not counted yet. */
const CHARS_PER_TOKEN = 4;

/** The countable part of the reports after the cut, and the report before it. */
interface BoundedUsage {
  readonly counted: Usage;
  readonly excess: UsageExcess | undefined;
}

const NOTHING_COUNTED: BoundedUsage = { counted: NO_USAGE, excess: undefined };

export function createMeter(quote: Quote, clock: () => number): Meter {
  let candidate: Candidate | undefined;
  /** The latest report. */
  let usage: Usage | undefined;
  /** The countable classes of the latest report, and of earlier reports where it has none. */
  let counted: Usage | undefined;
  /** `counted` cut to the request's bound; computed when first read. */
  let bounded: BoundedUsage | undefined;
  let pieces: string[] = [];
  let generatedChars = 0;
  let firstOutputAt: number | undefined;
  let isReadable = false;
  let isCommitted = false;

  function boundedUsage(): BoundedUsage {
    bounded ??= counted && candidate ? boundUsage(counted, quote, candidate) : NOTHING_COUNTED;
    return bounded;
  }
  const isWhole = () => usage !== undefined && isCounted(usage);

  return {
    restart(next) {
      candidate = next;
      usage = undefined;
      counted = undefined;
      bounded = undefined;
      pieces = [];
      generatedChars = 0;
      firstOutputAt = undefined;
      isReadable = false;
      isCommitted = false;
    },
    add(part) {
      if (part.usage) {
        usage = part.usage;
        counted = countedOf(usage, counted);
        bounded = undefined;
      }
      if (part.generated !== "") {
        pieces.push(part.generated);
        generatedChars += part.generated.length;
      }
      if (part.isOutput) firstOutputAt ??= clock();
      isReadable ||= part.isReadable;
    },
    commit() {
      isCommitted = true;
    },
    get candidate() {
      return candidate;
    },
    get hasOutput() {
      return firstOutputAt !== undefined;
    },
    get isCommitted() {
      return isCommitted;
    },
    get firstOutputAt() {
      return firstOutputAt;
    },
    get isReadable() {
      return isReadable;
    },
    reported: () => (isWhole() ? boundedUsage().counted : undefined),
    counted: () => boundedUsage().counted,
    hasInput: () => usage !== undefined && isCounted({ ...usage, outputTokens: 0 }),
    excess: () => boundedUsage().excess,
    get isUsageRejected() {
      return usage !== undefined && !isWhole();
    },
    generated: () => pieces.join(""),
    get generatedChars() {
      return generatedChars;
    },
    accrued() {
      if (!candidate || !isCommitted) return 0n;
      const input = isWhole() ? boundedUsage().counted : withEstimatedInput(boundedUsage().counted, quote);
      const accrued = withOutputAtLeast(input, generatedChars);
      return costOf(accrued, priceOf(quote, candidate, accrued));
    },
  };
}

function boundUsage(usage: Usage, quote: Quote, candidate: Candidate): BoundedUsage {
  const bound = usageBoundOf(quote, candidate);
  if (isWithin(usage, bound)) return { counted: usage, excess: undefined };
  const counted = cutUsage(usage, bound, cheapestFirst(candidate.route.price));
  return { counted, excess: { reported: usage, bound } };
}

/** Estimates the input where none is reported yet. */
function withEstimatedInput(counted: Usage, quote: Quote): Usage {
  return inputTokensOf(counted) > 0 ? counted : { ...counted, inputTokens: estimateInputTokens(quote) };
}

function withOutputAtLeast(usage: Usage, generatedChars: number): Usage {
  const outputTokens = Math.max(usage.outputTokens, Math.ceil(generatedChars / CHARS_PER_TOKEN));
  return { ...usage, outputTokens };
}
