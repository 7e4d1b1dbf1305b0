import { GatewayError } from "../errors.ts";
import { countTokens } from "../gateway/count-tokens.ts";
import { runRequest } from "../gateway/run-request.ts";
import { asArrayFormat, printElements } from "../wire/google-gemini/array-stream.ts";
import { type EmbedMethod, printEmbedAnswer } from "../wire/google-gemini/embeddings.ts";
import { googleGemini } from "../wire/google-gemini/format.ts";
import { WIRES } from "../wire/registry.ts";
import { addTarget, readEmbedBody, unwrapCountBody } from "./gemini-bodies.ts";
import type { HttpParts } from "./http-parts.ts";
import { pathOf, queryOf } from "./identity.ts";
import { answerModel, type ModelRoute } from "./inference.ts";
import { createReply, type HttpReply, type ReplyOptions } from "./reply.ts";
import type { Handle } from "./routes.ts";

/** The paths below which a method of a model is called: `{model}:{method}`. */
const ROOTS = ["/v1beta/models/", "/v1/models/"] as const;

/** A method of a model, as a path names it. */
interface GeminiTarget {
  readonly model: string;
  readonly method: string;
}

/** Returns what a path calls; `undefined` for a path without a method. A model may contain slashes and colons. */
function targetOfPath(path: string): GeminiTarget | undefined {
  const root = ROOTS.find((each) => path.startsWith(each));
  const decoded = root && decode(path.slice(root.length));
  const colon = decoded?.lastIndexOf(":") ?? -1;
  if (decoded === undefined || colon <= 0) return undefined;
  return { model: decoded.slice(0, colon), method: decoded.slice(colon + 1) };
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** What a route is called with beside its body. */
interface Target {
  readonly model: string;
  readonly query: URLSearchParams;
}

type MethodRoute = Omit<ModelRoute, "path">;

/** The methods of a model, by their names in the path. */
const METHODS: Readonly<Record<string, (target: Target) => MethodRoute>> = {
  generateContent: ({ model }) => ({
    ...GENERATION,
    readBytes: (blocks) => addTarget(blocks, { model, stream: false }),
  }),
  streamGenerateContent: ({ model, query }) => ({
    ...GENERATION,
    readBytes: (blocks) => addTarget(blocks, { model, stream: true }),
    createReply: query.get("alt") === "sse" ? undefined : createArrayReply,
  }),
  countTokens: ({ model }) => ({
    ...GENERATION,
    surface: "count_tokens",
    run: countTokens,
    readBytes: (blocks) => addTarget(unwrapCountBody(blocks), { model, stream: false }),
  }),
  embedContent: ({ model }) => embedRoute("embedContent", model),
  batchEmbedContents: ({ model }) => embedRoute("batchEmbedContents", model),
};

const GENERATION: MethodRoute = { surface: googleGemini.surface, wire: googleGemini, run: runRequest };

/** Embeddings are read and priced in OpenAI's form. */
function embedRoute(method: EmbedMethod, model: string): MethodRoute {
  return {
    surface: WIRES.embeddings.surface,
    wire: WIRES.embeddings,
    run: runRequest,
    readBytes: (blocks) => readEmbedBody(blocks, method, model),
    createReply: (options) => createEmbedReply(options, method),
  };
}

/**
 * Answers `POST` to a method of a model in Google's form: `{model}:generateContent` and its brothers. Others are
 * handled by `reject`.
 *
 * @see https://ai.google.dev/api
 */
export function geminiHandler(parts: HttpParts, reject: Handle): Handle {
  return (request) => {
    const target = targetOfPath(pathOf(request));
    const create = target && Object.hasOwn(METHODS, target.method) ? METHODS[target.method] : undefined;
    if (!target || !create) return reject(request);
    const query = new URLSearchParams(queryOf(request));
    const route = create({ model: target.model, query });
    const run = query.has("key") ? refuseKey : route.run;
    return answerModel(request, { ...route, run, path: `/v1beta/models/{model}:${target.method}` }, parts);
  };
}

/** Throws `key_in_url` for a query with a key: proxies and logs keep it. */
export function rejectKeyInUrl(request: Request): void {
  if (new URLSearchParams(queryOf(request)).has("key")) throw new GatewayError("key_in_url");
}

function refuseKey(): Promise<never> {
  return Promise.reject(new GatewayError("key_in_url"));
}

const ARRAY_FORMAT = asArrayFormat(googleGemini);

/** Creates the reply of a stream that is one JSON array instead of events. */
function createArrayReply(options: ReplyOptions): HttpReply {
  const reply = createReply({ ...options, wire: ARRAY_FORMAT, streamType: "application/json" });
  let isFirst = true;
  const print = (events: string): string => {
    const elements = printElements(events, isFirst);
    if (elements !== "") isFirst = false;
    return elements;
  };
  return withOutput(reply, {
    write: (events) => reply.write(print(events)),
    end(events) {
      const elements = print(events);
      reply.end(isFirst ? "[]" : `${elements}]`);
    },
  });
}

/** Creates the reply with embeddings, whose answer comes in OpenAI's form. Its errors are in Google's envelope. */
function createEmbedReply(options: ReplyOptions, method: EmbedMethod): HttpReply {
  const reply = createReply({ ...options, wire: googleGemini });
  return withOutput(reply, {
    write: (text) => reply.write(text),
    // The end of a request whose client is gone has no answer.
    end: (text) => reply.end(text === "" ? text : printEmbedAnswer(text, method)),
  });
}

/** Returns a reply whose output is printed in another way. */
function withOutput(reply: HttpReply, output: Pick<HttpReply, "write" | "end">): HttpReply {
  return {
    signal: reply.signal,
    response: reply.response,
    get status() {
      return reply.status;
    },
    setHeaders: (headers) => reply.setHeaders(headers),
    expectStream: (model) => reply.expectStream(model),
    beginStream: () => reply.beginStream(),
    fail: (thrown) => reply.fail(thrown),
    ...output,
  };
}
