import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Json, objectAt } from "../strict-json.ts";
import { findConverseProblem, findInvokeProblem } from "./body-rules.ts";
import { type Expected, findSignatureProblem } from "./sigv4.ts";

export const REGION = "eu-central-1";
export const API_KEY = "bedrock-api-key-YmVkcm9jaw";
/** The credentials that the scripted Bedrock accepts. */
export const ACCESS_KEY_ID = "AKIDEXAMPLE";
export const SECRET_ACCESS_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

type Api = "invoke" | "invoke-with-response-stream" | "converse" | "converse-stream";

/** A call that passed all checks. */
export interface BedrockCall {
  readonly api: Api;
  /** Decoded from the path. */
  readonly model: string;
  readonly isStreamed: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json;
}

/** One answer. A body of several pieces is an event stream, sent piece by piece. */
interface BedrockAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object | string | readonly Uint8Array[];
  /** Whether the connection is reset after the last piece. */
  readonly isReset?: boolean;
}

export type BedrockScript = (call: BedrockCall) => BedrockAnswer;

/** A Bedrock of one region on a loopback port. It checks every call as strictly as the real one is documented. */
export interface ScriptedBedrock {
  readonly url: string;
  /** Calls that passed the checks. */
  readonly calls: readonly BedrockCall[];
  /** Complaints about calls that were refused. */
  readonly complaints: readonly string[];
  /** Sets the scripts of a model: one per call, in order. The last one repeats. */
  on(model: string, ...scripts: readonly BedrockScript[]): void;
  /** Adds or replaces credentials, or removes them. */
  accept(keyId: string, secret: string, token?: string): void;
  reject(keyId: string, type: string): void;
  /** Moves its clock away from ours. */
  shiftClock(ms: number): void;
  reset(): void;
  stop(): Promise<void>;
}

const PATH = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream|converse|converse-stream)$/;

export async function startScriptedBedrock(): Promise<ScriptedBedrock> {
  const scripts = new Map<string, BedrockScript[]>();
  const calls: BedrockCall[] = [];
  const complaints: string[] = [];
  const rejected = new Map<string, string>();
  const secrets = new Map<string, { secret: string; token: string | undefined }>();
  let clockMs = 0;

  const check = (request: IncomingMessage, bytes: Buffer): BedrockCall => {
    const expected = { region: REGION, service: "bedrock", secrets, nowMs: Date.now() + clockMs };
    authenticate(request, bytes, { expected, rejected });
    const call = readCall(request, bytes);
    const problem = call.api.startsWith("invoke")
      ? findInvokeProblem(call.body)
      : findConverseProblem(call.body);
    if (problem !== undefined) throw new Refusal(400, "ValidationException", problem);
    return call;
  };

  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await Array.fromAsync(request));
    response.setHeader("date", new Date(Date.now() + clockMs).toUTCString());
    try {
      const call = check(request, bytes);
      calls.push(call);
      const left = scripts.get(call.model) ?? [];
      const script = (left.length > 1 ? left.shift() : left[0]) ?? unscripted;
      await send(response, script(call));
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      complaints.push(refusal.message);
      response.writeHead(refusal.status, {
        "x-amzn-errortype": refusal.type,
        "content-type": "application/json",
      });
      response.end(JSON.stringify({ message: refusal.message }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = objectAt(server.address(), "an address");

  const self: ScriptedBedrock = {
    url: `http://127.0.0.1:${Number(address.port)}`,
    calls,
    complaints,
    on: (model, ...given) => void scripts.set(model, [...given]),
    accept(keyId, secret, token) {
      rejected.delete(keyId);
      secrets.set(keyId, { secret, token });
    },
    reject: (keyId, type) => void rejected.set(keyId, type),
    shiftClock(ms) {
      clockMs = ms;
    },
    reset() {
      scripts.clear();
      calls.length = 0;
      complaints.length = 0;
      rejected.clear();
      secrets.clear();
      clockMs = 0;
      self.accept(ACCESS_KEY_ID, SECRET_ACCESS_KEY);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  self.reset();
  return self;
}

/** An answer that refuses a call. */
class Refusal extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

interface Authority {
  readonly expected: Expected;
  readonly rejected: ReadonlyMap<string, string>;
}

function authenticate(request: IncomingMessage, body: Buffer, { expected, rejected }: Authority): void {
  const authorization = request.headers.authorization ?? "";
  if (authorization === `Bearer ${API_KEY}`) return;
  const keyId = /Credential=([^/]+)/.exec(authorization)?.[1] ?? "";
  const { method = "", url: path = "", headers } = request;
  const type = rejected.get(keyId) ?? findSignatureProblem({ method, path, headers, body }, expected);
  if (type !== undefined)
    throw new Refusal(403, `${type}:http://internal.amazon.com/coral/`, `refused: ${type}`);
}

function readCall({ url = "", method, headers }: IncomingMessage, bytes: Buffer): BedrockCall {
  const match = PATH.exec(url);
  if (!match || method !== "POST")
    throw new Refusal(404, "UnknownOperationException", `unknown: ${method} ${url}`);
  const [, model = "", api = ""] = match;
  if (headers["content-type"] !== "application/json")
    throw new Refusal(400, "ValidationException", "content type");
  if (/[:]/.test(model)) throw new Refusal(400, "ValidationException", "an unencoded colon");
  const body = objectAt(JSON.parse(bytes.toString()), "a body");
  const isStreamed = api.endsWith("-stream");
  // Safe because the pattern of the path has exactly these values.
  return { api: api as Api, model: decodeURIComponent(model), isStreamed, headers, body };
}

async function send(
  response: ServerResponse,
  { status = 200, headers, body, isReset }: BedrockAnswer,
): Promise<void> {
  if (!Array.isArray(body)) {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
    return;
  }
  response.writeHead(status, { "content-type": "application/vnd.amazon.eventstream", ...headers });
  for (const piece of body) {
    response.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (isReset) response.destroy();
  else response.end();
}

function unscripted({ model }: BedrockCall): never {
  throw new Refusal(400, "ValidationException", `The provided model identifier is invalid: ${model}`);
}
