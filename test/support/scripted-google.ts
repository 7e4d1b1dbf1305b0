import { findEmbeddingsRule } from "./embeddings-rules.ts";
import { findBodyProblem, findSignatureProblem } from "./google-rules.ts";

/** One call that the scripted Google accepted. */
interface GoogleCall {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Json;
}

export type Json = Readonly<Record<string, unknown>>;

/** How a model answers one call: chunks of a `GenerateContentResponse`, or a response of any kind. */
export type GoogleScript = readonly Json[] | ((call: GoogleCall, isStream: boolean) => Response);

/** Gemini and Vertex AI on a loopback port, as strict as their documentation. */
export interface ScriptedGoogle {
  /** Without a path. */
  readonly url: string;
  readonly seen: readonly GoogleCall[];
  /** The errors with which calls were refused. */
  readonly refused: readonly string[];
  /** Number of requests for a token. */
  readonly tokens: number;
  /** Sets whether requests for a token are granted. */
  grantTokens(grants: boolean): void;
  /** Returns the credentials of a workload whose own token, {@link SUBJECT_TOKEN}, is in a file. */
  credentials(subjectFile: string): string;
  /** Sets the scripts of a model: one per call, in order. The last one repeats. */
  on(model: string, ...scripts: readonly GoogleScript[]): void;
  reset(): void;
  stop(): Promise<void>;
}

export const API_KEY = "google-secret";
export const TOKEN = "ya29.scripted";
export const PROJECT = "acme-prod";
export const SUBJECT_TOKEN = "workload-jwt";
const AUDIENCE =
  "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider";

const GEMINI = /^\/v1beta\/(models\/[^/:]+):(generateContent|streamGenerateContent|batchEmbedContents)$/;
const VERTEX =
  /^\/v1beta1\/projects\/acme-prod\/locations\/global\/publishers\/google\/(models\/[^/:]+):(generateContent|streamGenerateContent|predict|embedContent)$/;
const CLAUDE =
  /^\/v1\/projects\/acme-prod\/locations\/global\/publishers\/anthropic\/(models\/[^/:]+):(rawPredict|streamRawPredict)$/;

const TOOL_SEARCH = "tool-search-tool-2025-10-19";
const BETAS = new Set([
  TOOL_SEARCH,
  "context-management-2025-06-27",
  "context-1m-2025-08-07",
  "interleaved-thinking-2025-05-14",
]);

/** Refuses betas that Google does not know, and fields that belong to a beta which is not named. */
function findBetaProblem(headers: Headers, body: Json): string | undefined {
  const betas = (headers.get("anthropic-beta") ?? "").split(",").filter(Boolean);
  const unknown = betas.find((beta) => !BETAS.has(beta));
  if (unknown !== undefined) return `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header`;
  if ("anthropic_beta" in body || "betas" in body) return "betas: Extra inputs are not permitted";
  const hasContext = betas.includes("context-management-2025-06-27");
  if ("context_management" in body && !hasContext)
    return "context_management: Extra inputs are not permitted";
  const isDeferred = /"defer_loading"|"tool_search_tool_/.test(JSON.stringify(body.tools ?? []));
  if (isDeferred && !betas.includes(TOOL_SEARCH))
    return "tools.0.defer_loading: Extra inputs are not permitted";
  return undefined;
}

/** Starts the server. A model without a script answers a short text with usage. */
export function startScriptedGoogle(): ScriptedGoogle {
  const scripts = new Map<string, GoogleScript[]>();
  const seen: GoogleCall[] = [];
  const refused: string[] = [];
  let tokens = 0;
  let grantsTokens = true;

  const refuse = (status: number, message: string): Response => {
    refused.push(message);
    return googleError(status, status === 401 ? "UNAUTHENTICATED" : "INVALID_ARGUMENT", message);
  };

  /** The Gemini API reports an invalid key as an invalid argument. */
  const refuseKey = (): Response => {
    const message = "API key not valid. Please pass a valid API key.";
    refused.push(message);
    const reason = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" };
    return googleError(400, "INVALID_ARGUMENT", message, [reason]);
  };

  /** Exchanges the token of a workload for a token of Google Cloud. */
  function grantToken(form: FormData): Response {
    tokens += 1;
    if (!grantsTokens)
      return Response.json({ error: "invalid_grant", error_description: "x" }, { status: 400 });
    const isValid = form.get("subject_token") === SUBJECT_TOKEN && form.get("audience") === AUDIENCE;
    if (!isValid) return Response.json({ error: "invalid_request" }, { status: 400 });
    return Response.json({
      access_token: TOKEN,
      expires_in: 3_600,
      token_type: "Bearer",
      issued_token_type: "x",
    });
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname: path, search } = new URL(request.url);
    if (path === "/token") return grantToken(await request.formData());
    if (request.method !== "POST") return refuse(404, `${request.method} ${path} is not found`);
    const route = [GEMINI, VERTEX, CLAUDE].find((each) => each.test(path));
    const [, resource = "", method = ""] = route?.exec(path) ?? [];
    if (!route) return refuse(404, `${path} is not found`);
    const isStream = method.startsWith("stream");
    const credential =
      route === GEMINI ? request.headers.get("x-goog-api-key") : request.headers.get("authorization");
    if (route === GEMINI && credential !== API_KEY) return refuseKey();
    if (route !== GEMINI && credential !== `Bearer ${TOKEN}`)
      return refuse(401, "The credentials are invalid");
    if (route !== CLAUDE && search !== (isStream ? "?alt=sse" : ""))
      return refuse(400, `The query is ${search}`);
    const body: Json = await request.json();
    const problem =
      route === CLAUDE
        ? (findClaudeProblem(body, resource, isStream) ?? findBetaProblem(request.headers, body))
        : ((findEmbeddingsRule(method) ?? findBodyProblem)(body) ?? findSignatureProblem(resource, body));
    if (problem !== undefined) return refuse(400, problem);
    const call = { path, headers: request.headers, body };
    seen.push(call);
    const queue = scripts.get(resource.slice("models/".length)) ?? [];
    const script = (queue.length > 1 ? queue.shift() : queue[0]) ?? [SHORT_ANSWER];
    if (typeof script === "function") return script(call, isStream);
    return isStream ? streamOf(script) : Response.json(joinChunks(script));
  }

  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: answer });
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    refused,
    get tokens() {
      return tokens;
    },
    grantTokens(grants) {
      grantsTokens = grants;
    },
    credentials: (subjectFile) =>
      JSON.stringify({
        type: "external_account",
        audience: AUDIENCE,
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
        token_url: `http://127.0.0.1:${server.port}/token`,
        credential_source: { file: subjectFile },
      }),
    on: (model, ...given) => void scripts.set(model, [...given]),
    reset() {
      scripts.clear();
      seen.length = 0;
      refused.length = 0;
      tokens = 0;
      grantsTokens = true;
    },
    stop: () => server.stop(true),
  };
}

/** The members that Vertex takes in place of Anthropic's, and the ones that it refuses. */
function findClaudeProblem(body: Json, resource: string, isStream: boolean): string | undefined {
  if (resource === "models/count-tokens")
    return body.model === undefined ? "model: Field required" : undefined;
  if (body.anthropic_version !== "vertex-2023-10-16") return "anthropic_version: Field required";
  if ("model" in body) return "model: Extra inputs are not permitted";
  if ((body.stream === true) !== isStream) return "stream: does not match the method";
  return Number.isInteger(body.max_tokens) ? undefined : "max_tokens: Field required";
}

/** Returns a chunk with parts of the model. */
export function chunkOf(parts: readonly Json[], more: Json = {}, finishReason?: string): Json {
  const candidate = { content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) };
  return { candidates: [candidate], modelVersion: "gemini-scripted", responseId: "resp-1", ...more };
}

/** The usage of {@link SHORT_ANSWER}: 7 prompt tokens, 2 of them cached, 3 of text and 4 of thoughts. */
export const USAGE = {
  promptTokenCount: 7,
  cachedContentTokenCount: 2,
  candidatesTokenCount: 3,
  thoughtsTokenCount: 4,
  totalTokenCount: 14,
};

export const SHORT_ANSWER = chunkOf([{ text: "Hello there." }], { usageMetadata: USAGE }, "STOP");

/** Prints chunks as the events of a stream, which ends without an end mark. */
export function eventsOf(chunks: readonly Json[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
}

/** Returns a stream of chunks. One that ends without a finish reason was cut. */
export function streamOf(chunks: readonly Json[]): Response {
  return new Response(eventsOf(chunks), { headers: { "content-type": "text/event-stream" } });
}

/** Joins the chunks of an answer into a whole one. */
export function joinChunks(chunks: readonly Json[]): Json {
  const parts = chunks.flatMap((chunk) => partsOf(chunk));
  const last = chunks.at(-1) ?? {};
  const [candidate] = (last.candidates ?? []) as readonly Json[];
  if (!candidate) return last;
  return { ...last, candidates: [{ ...candidate, content: { role: "model", parts } }] };
}

function partsOf({ candidates }: Json): readonly Json[] {
  const [candidate] = (candidates ?? []) as readonly { readonly content?: { readonly parts?: Json[] } }[];
  return candidate?.content?.parts ?? [];
}

/** Returns an error as Google's APIs print it. */
export function googleError(code: number, status: string, message: string, details: readonly Json[] = []) {
  return Response.json(
    { error: { code, message, status, ...(details.length > 0 && { details }) } },
    { status: code },
  );
}
