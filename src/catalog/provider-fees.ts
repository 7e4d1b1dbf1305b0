import { type KnownCost, type KnownModel, providerOf } from "./known-models.ts";
import { providerBehind } from "./providers.ts";

/** USD per call, by the name of a tool as in the configuration. */
type Fees = Readonly<Record<string, string>>;

/** A cost as the configuration has it, with what stands beside the prices of text. */
interface CostWithFees extends KnownCost {
  readonly tools?: Fees;
  readonly audio_tokens?: { readonly input?: string; readonly output?: string };
}

/** Returns a cost with the provider's fees for tools and the costs of audio; `undefined` without a cost. */
export function withFees(known: KnownModel, cost: KnownCost | undefined): CostWithFees | undefined {
  if (!cost) return undefined;
  const { audio_input: input, audio_output: output, request } = known.other_cost ?? {};
  const tools = { ...toolsOf(known), ...(request !== undefined && { request }) };
  return {
    ...cost,
    ...(Object.keys(tools).length > 0 && { tools }),
    ...((input !== undefined || output !== undefined) && {
      audio_tokens: { ...(input !== undefined && { input }), ...(output !== undefined && { output }) },
    }),
  };
}

/**
 * Searches, and the five minutes of a container that are always billed.
 *
 * @see https://platform.claude.com/docs/en/about-claude/pricing#web-search-tool
 * @see https://platform.claude.com/docs/en/about-claude/pricing#code-execution-tool
 */
const ANTHROPIC: Fees = { web_search: "0.01", code_execution: "0.004167" };
/**
 * A container of 1 GB, which is billed for 20 minutes at least.
 *
 * @see https://developers.openai.com/api/docs/pricing#built-in-tools
 */
const OPENAI: Fees = {
  web_search: "0.01",
  // Of models that do not reason; others cost less.
  web_search_preview: "0.025",
  file_search: "0.0025",
  code_interpreter: "0.03",
};
/**
 * One for each grounded prompt of models before Gemini 3, which bill by query instead.
 *
 * @see https://ai.google.dev/gemini-api/docs/pricing `Grounding with Google Search`
 */
const GOOGLE: Fees = { grounding: "0.035" };
const FEES: Readonly<Record<string, Fees>> = { anthropic: ANTHROPIC, openai: OPENAI };
/** Models that bill a search once for each prompt. Later ones bill each query, whose number has no bound. */
const GROUNDED_BY_PROMPT = /(?:^|[/.])gemini-(?:1\.5|2(?:\.[05])?)-/;

/** Whether a fee for grounding covers all that a model may bill for it. */
export function isGroundedByPrompt(model: string): boolean {
  return GROUNDED_BY_PROMPT.test(model);
}

function toolsOf(known: KnownModel): Fees {
  if (known.mode !== "chat" || !known.can.includes("tools")) return {};
  const provider = providerOf(known);
  const isGoogle = provider === "gemini" || provider === "vertex";
  if (isGoogle && isGroundedByPrompt(known.id)) return GOOGLE;
  if (provider === "vertex") return known.id.includes("claude") ? { web_search: "0.01" } : {};
  const fees = FEES[provider] ?? {};
  const isPlain = provider === "openai" && !known.can.includes("reasoning");
  return isPlain || provider !== "openai" ? fees : { ...fees, web_search_preview: "0.01" };
}

/** Returns the fees of an upstream at its provider's own address; `undefined` for every other. */
export function feesAt(protocol: string, baseUrl: string | undefined): Fees | undefined {
  const provider =
    protocol === "anthropic" || protocol === "openai" ? providerBehind(protocol, baseUrl) : undefined;
  return provider === undefined ? undefined : FEES[provider];
}
