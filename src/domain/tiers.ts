/**
 * The service tiers that a request can ask for beside the standard one: faster, cheaper, or in one region. A price may
 * name each of them, and only tiers with a price are sold.
 *
 * @see https://developers.openai.com/api/docs/guides/fast-mode `priority`, which `fast` names too; `flex`, `scale`
 * @see https://developers.openai.com/api/docs/guides/ultrafast-mode `ultrafast`
 * @see https://console.groq.com/docs/service-tiers `flex`, `performance`
 * @see https://platform.claude.com/docs/en/build-with-claude/fast-mode `fast`
 * @see https://platform.claude.com/docs/en/build-with-claude/data-residency `us`
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/latency-optimized-inference.html `optimized`
 */
export const TIERS = [
  "priority",
  "flex",
  "batch",
  "scale",
  "performance",
  "ultrafast",
  "optimized",
  "fast",
  "us",
  "fast_us",
] as const;

export type Tier = (typeof TIERS)[number];

/** What a request asks for; `auto` leaves the tier to the provider. */
export interface TierDemand {
  readonly asked: Tier | "auto";
  /** The field that asks for it, for errors. */
  readonly path: string;
}

/** The tier that an answer reports. A report of any other name is `unknown`. */
export type ServedTier = Tier | "standard" | "unknown";

/** What one route is asked for, and what its provider may serve of its own choice. */
export interface TierOffer {
  /** `undefined` for the standard tier. */
  readonly asked: Tier | undefined;
  /** The tiers with a price that the provider may choose, beside the one that is asked for. */
  readonly choices: readonly Tier[];
}

const NAMES: ReadonlySet<unknown> = new Set(TIERS);

export function isTier(name: unknown): name is Tier {
  return NAMES.has(name);
}
