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
