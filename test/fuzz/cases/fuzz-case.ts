import { drawInteger, drawOne, drawWeighted, type RandomSource } from "../../support/seeded-random.ts";
import { CHAT_REQUESTS, CHAT_SNIPPETS } from "../seeds/chat-requests.ts";
import { EMBEDDINGS_REQUESTS, EMBEDDINGS_SNIPPETS } from "../seeds/embeddings-requests.ts";
import { GEMINI_REQUESTS, GEMINI_SNIPPETS } from "../seeds/gemini-requests.ts";
import { MESSAGES_REQUESTS, MESSAGES_SNIPPETS } from "../seeds/messages-requests.ts";
import { RESPONSES_REQUESTS, RESPONSES_SNIPPETS } from "../seeds/responses-requests.ts";
import { MODEL } from "../seeds/tools.ts";
import { deepen } from "./hostile-values.ts";
import { mutateJson, type Snippets } from "./mutate-json.ts";
import { mutateBytes, mutateJsonText } from "./mutate-text.ts";
import { type CaseId, stepsOf } from "./steps.ts";

/** The client APIs. */
export const CLIENTS = ["chat", "messages", "responses", "gemini", "embeddings", "count_tokens"] as const;
export type Client = (typeof CLIENTS)[number];

/** The upstreams of a model: one, or two with failover. */
export const UPSTREAM_KINDS = ["openai", "anthropic", "responses", "gemini", "both"] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

/** The reasoning and sampling traits of a model's routes. */
export const TRAITS = {
  plain: { reasoning: "none", sampling: true },
  effort: { reasoning: "effort", sampling: false },
  budget: { reasoning: "budget", sampling: true },
  adaptive: { reasoning: "adaptive", sampling: false },
} as const;

/** The placeholder of the lane name in a model name. */
export const LANE = "LANE00";

/** A request, as its seed and number decide it. */
export interface FuzzCase {
  readonly id: CaseId;
  readonly client: Client;
  /** Contains {@link LANE} instead of the lane name. */
  readonly model: string;
  /** The method in the path of a client whose body has neither model nor stream; `undefined` for all others. */
  readonly method: GeminiMethod | undefined;
  readonly body: Buffer;
  /** The mutations of the request. */
  readonly steps: readonly string[];
}

/** A whole answer, events, and one array. */
const METHODS = ["generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"] as const;
type GeminiMethod = (typeof METHODS)[number];

const FORMS: readonly (Form & { readonly weight: number; readonly client: Client })[] = [
  { client: "chat", weight: 26, seeds: CHAT_REQUESTS, snippets: CHAT_SNIPPETS },
  { client: "messages", weight: 26, seeds: MESSAGES_REQUESTS, snippets: MESSAGES_SNIPPETS },
  { client: "responses", weight: 20, seeds: RESPONSES_REQUESTS, snippets: RESPONSES_SNIPPETS },
  { client: "gemini", weight: 20, seeds: GEMINI_REQUESTS, snippets: GEMINI_SNIPPETS },
  { client: "embeddings", weight: 6, seeds: EMBEDDINGS_REQUESTS, snippets: EMBEDDINGS_SNIPPETS },
  { client: "count_tokens", weight: 6, seeds: MESSAGES_REQUESTS, snippets: MESSAGES_SNIPPETS },
];

interface Form {
  readonly seeds: readonly object[];
  readonly snippets: Snippets;
}

export function caseOf(id: CaseId): FuzzCase {
  const steps = stepsOf(id);
  const draw = steps.draw("case");
  const format = drawWeighted(draw, FORMS);
  const model = `${drawOne(draw, UPSTREAM_KINDS)}-${drawOne(draw, Object.keys(TRAITS))}-${LANE}`;
  const method = format.client === "gemini" ? drawOne(draw, METHODS) : undefined;
  const seed = structuredClone(drawOne(draw, format.seeds));
  let body: unknown = method ? seed : { ...seed, ...drawStream(draw) };
  const mutations = drawMutations(draw);
  const [inText, inBytes] = [draw() < 0.08 ? 1 : 0, draw() < 0.05 ? 1 : 0];
  steps.repeat("request", mutations, (each) => {
    body = mutateJson(each, body, format.snippets);
  });
  let text = deepen(draw, JSON.stringify(body) ?? "").replaceAll(MODEL, model);
  steps.repeat("request text", inText, (each) => {
    text = mutateJsonText(each, text);
  });
  let bytes: Buffer = Buffer.from(text);
  steps.repeat("request bytes", inBytes, (each) => {
    bytes = mutateBytes(each, bytes);
  });
  return { id, client: format.client, model, method, body: bytes, steps: steps.made };
}

function drawStream(draw: RandomSource): object {
  const chance = draw();
  if (chance < 0.2) return {};
  return { stream: chance < 0.65 };
}

/** Half of the requests are unchanged, so that answers are tested too. */
function drawMutations(draw: RandomSource): number {
  return draw() < 0.5 ? 0 : drawInteger(draw, 1, draw() < 0.2 ? 8 : 3);
}
