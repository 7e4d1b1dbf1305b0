import type { MessagesHost } from "../domain/model.ts";
import type { BetaNames } from "./upstream.ts";

/** Anthropic's API has one beta for several ways to use tools; its hosts know only the search among tools. */
const TOOL_SEARCH = { "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19" };

/**
 * Betas that Bedrock knows, by its own documentation. It refuses a request that names any other.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
 */
const BEDROCK_BETAS = [
  "compact-2026-01-12",
  "computer-use-2024-10-22",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "dev-full-thinking-2025-05-14",
  "effort-2025-11-24",
  "fine-grained-tool-streaming-2025-05-14",
  "interleaved-thinking-2025-05-14",
  "output-128k-2025-02-19",
  "token-efficient-tools-2025-02-19",
  "tool-examples-2025-10-29",
  "tool-search-tool-2025-10-19",
];

/**
 * Betas that Vertex AI is known to take. It refuses a request that names any other with status 400.
 *
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
 */
const VERTEX_BETAS = [
  "compact-2026-01-12",
  "compact-2026-09-04",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "dangerous-tool-use-2026-09-03",
  "interleaved-thinking-2025-05-14",
  "per-turn-control-2026-07-01",
  "thinking-binding-controls-2026-08-01",
  "thinking-display-updates-2026-08-18",
  "tool-search-tool-2025-10-19",
  "web-search-2025-03-05",
];

/** Returns how Bedrock differs from Anthropic's own API, with the operator's names of betas. */
export function bedrockHost(betaNames: BetaNames | undefined): MessagesHost {
  const names = namesOf(BEDROCK_BETAS, betaNames);
  return { version: "bedrock-2023-05-31", hasStreamFlag: false, betaNames: names, betasIn: "body" };
}

/** Returns how Vertex AI differs from Anthropic's own API, with the operator's names of betas. */
export function vertexHost(betaNames: BetaNames | undefined): MessagesHost {
  const names = namesOf(VERTEX_BETAS, betaNames);
  return {
    version: "vertex-2023-10-16",
    hasStreamFlag: true,
    betaNames: names,
    betasIn: "header",
    countsTokens: true,
  };
}

/** The operator's names come first; `false` takes a beta away. */
function namesOf(known: readonly string[], own: BetaNames = {}): Record<string, string> {
  const names: Record<string, string | false> = {
    ...Object.fromEntries(known.map((beta) => [beta, beta])),
    ...TOOL_SEARCH,
    ...own,
  };
  return Object.fromEntries(
    Object.entries(names).filter((entry): entry is [string, string] => entry[1] !== false),
  );
}
