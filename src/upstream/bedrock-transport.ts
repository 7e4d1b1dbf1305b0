import { joinBlocks } from "../domain/byte-blocks.ts";
import type { Surface } from "../domain/model.ts";
import { loadPart } from "../program-files.ts";
import { readVendor } from "../wire/bedrock-converse/model-id.ts";
import type { AwsSigner } from "./aws-signer.ts";
import { bedrockHost } from "./messages-hosts.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import type { BedrockConfig, CallBody, UpstreamCall } from "./upstream.ts";

const INVOKE: readonly Surface[] = ["messages"];
const CONVERSE: readonly Surface[] = ["converse"];
const TITAN: readonly Surface[] = ["titan_embeddings"];
const COHERE: readonly Surface[] = ["cohere_embeddings"];

/** Errors of status 400 that are not the request's: they concern the operator's account or the load. */
const STATUS_OF_ERROR: ReadonlyMap<string, number> = new Map([
  ["AccessDeniedException", 403],
  ["ExpiredTokenException", 403],
  ["IncompleteSignature", 403],
  ["InvalidSignatureException", 403],
  ["MissingAuthenticationToken", 403],
  ["NotAuthorized", 403],
  ["OptInRequired", 403],
  ["RequestExpired", 403],
  ["UnrecognizedClientException", 403],
  ["ServiceQuotaExceededException", 429],
  ["ThrottlingException", 429],
]);

/**
 * AWS Bedrock: Anthropic's models by InvokeModel, others by Converse. Calls carry an API key, or a signature
 * with the credentials of the SDK's chain.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_Operations_Amazon_Bedrock_Runtime.html
 */
export function createBedrockTransport(config: BedrockConfig): Transport {
  const { baseUrl, apiKey } = config;
  const { region, profile, api } = config.bedrock;
  let signing: Promise<AwsSigner> | undefined;
  let signer: AwsSigner | undefined;

  async function createSigner(): Promise<AwsSigner> {
    const { createAwsSigner } = await loadPart(() => import("./aws-signer.ts"));
    signer = createAwsSigner({ service: "bedrock", region, profile });
    return signer;
  }
  const loadSigner = (): Promise<AwsSigner> => {
    signing ??= createSigner().catch((error) => {
      // A failed load is tried again at the next call.
      signing = undefined;
      throw error;
    });
    return signing;
  };

  async function sign(url: string, call: UpstreamCall): Promise<TransportRequest> {
    const encoded = await call.body.take();
    const body = typeof encoded === "string" ? Buffer.from(encoded) : joinBlocks(encoded);
    const headers = await (await loadSigner()).sign({ url, headers: headersOf(call), body });
    return { url, headers, body: keepOnce(body, call.body) };
  }

  return {
    surfacesOf: (model) => embeddingsOf(model) ?? ((api ?? apiOf(model)) === "invoke" ? INVOKE : CONVERSE),
    messagesHost: bedrockHost(config.betaNames),
    request(call) {
      const url = `${baseUrl}${pathOf(call)}`;
      if (apiKey === "") return sign(url, call);
      return { url, headers: new Headers({ ...headersOf(call), authorization: `Bearer ${apiKey}` }) };
    },
    readAnswer(answer, { stream, surface }) {
      if (!answer.ok) return withTrueStatus(answer);
      if (surface === "cohere_embeddings") return withTokens(answer);
      return stream && isEventStream(answer) ? convert(answer) : answer;
    },
    mayRepeat(answer) {
      const dateMs = Date.parse(answer.headers.get("date") ?? "");
      return signer?.correct({ type: errorTypeOf(answer), dateMs }) ?? false;
    },
    async probe() {
      if (apiKey === "") await (await loadSigner()).requireCredentials();
      // A list would need permissions that credentials for models need not have.
      return { url: `${baseUrl}/ping`, headers: {}, isAnonymous: true };
    },
  };
}

/** Returns the format of a model of embeddings; `undefined` for any other. */
function embeddingsOf(model: string): readonly Surface[] | undefined {
  if (/(^|[./])amazon\.titan-embed/.test(model)) return TITAN;
  return /(^|[./])cohere\.embed/.test(model) ? COHERE : undefined;
}

/** Puts the tokens, which some models report in a header only, before the answer. */
function withTokens({ body, status, headers }: Response): Response {
  const tokens = headers.get("x-amzn-bedrock-input-token-count") ?? "";
  const count = /^\d{1,15}$/.test(tokens) ? tokens : "null";
  const wrap = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(`{"input_tokens":${count},"answer":`)),
    flush: (controller) => controller.enqueue(Buffer.from("}")),
  });
  const type = headers.get("content-type") ?? "application/json";
  return new Response(body?.pipeThrough(wrap) ?? null, { status, headers: { "content-type": type } });
}

function apiOf(model: string): "invoke" | "converse" {
  return readVendor(model) === "anthropic" ? "invoke" : "converse";
}

/** The id of a model may be an ARN, whose colons and slashes are encoded. */
function pathOf({ surface, path, model, stream }: UpstreamCall): string {
  if (surface === "converse") return path;
  return `/model/${encodeURIComponent(model)}/${stream ? "invoke-with-response-stream" : "invoke"}`;
}

function headersOf({ stream }: UpstreamCall): Record<string, string> {
  const accept = stream ? "application/vnd.amazon.eventstream" : "application/json";
  return { "content-type": "application/json", accept, "accept-encoding": "identity" };
}

/** Keeps the bytes that were signed until they are sent; a body that is sent again is encoded again. */
function keepOnce(body: Uint8Array<ArrayBuffer>, origin: CallBody): CallBody {
  let kept: readonly Uint8Array[] | undefined = [body];
  return {
    bytes: body.byteLength,
    take() {
      const taken = kept ?? origin.take();
      kept = undefined;
      return taken;
    },
  };
}

function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("application/vnd.amazon.eventstream") ?? false;
}

async function convert({ body, status, headers }: Response): Promise<Response> {
  const { convertEventStream } = await loadPart(() => import("./bedrock-events.ts"));
  return new Response(body && convertEventStream(body), { status, headers });
}

/** Returns the name of the exception, without the address that AWS may append. */
function errorTypeOf({ headers }: Response): string {
  const [type = ""] = (headers.get("x-amzn-errortype") ?? "").split(":");
  return type;
}

function withTrueStatus(answer: Response): Response {
  const status = answer.status === 400 ? STATUS_OF_ERROR.get(errorTypeOf(answer)) : undefined;
  return status === undefined ? answer : new Response(answer.body, { status, headers: answer.headers });
}
