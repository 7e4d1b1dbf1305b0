import { createServer, type Socket } from "node:net";
import { createRequestReader, type ReadRequest } from "./request-reader.ts";
import { playScript, type Script, type ScriptRequest } from "./script.ts";
import { answerWith } from "./scripted-answers.ts";

/** A complete request that the upstream received, and the fate of its client. */
interface SeenRequest extends ScriptRequest {
  readonly receivedAtMs: number;
  /**
   * When the client closed or reset the connection before the end of the answer. `undefined` if it did not.
   */
  readonly disconnectedAtMs: number | undefined;
  /** Resolves when the script has ended or the client has disconnected. */
  readonly over: Promise<void>;
}

/** A provider that plays scripts, on a loopback port. */
export interface ScriptedUpstream {
  /** `openaiUrl` and `anthropicUrl` are values for `base_url` of a configuration; `url` has no path. */
  readonly url: string;
  readonly openaiUrl: string;
  readonly anthropicUrl: string;
  readonly seen: readonly SeenRequest[];
  readonly openSockets: number;
  /** Sets the scripts of an upstream model: one per call, in order. The last one repeats. */
  on(model: string, ...scripts: readonly Script[]): void;
  /** Removes all scripts and seen requests. Running answers continue. */
  reset(): void;
  /** Resolves when this many requests have arrived. Rejects after `withinMs`, by default two minutes. */
  waitForSeen(count: number, withinMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the upstream. A model without a script answers a short text with usage. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const scripts = new Map<string, Script[]>();
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const next = (model: string | undefined) => takeScript(scripts.get(model ?? ""));

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    serve(socket, (request, over) => {
      seen.push(over);
      return next(request.model);
    });
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve);
  await listening;
  const url = `http://127.0.0.1:${portOf(server.address())}`;

  return {
    url,
    openaiUrl: `${url}/v1`,
    anthropicUrl: url,
    seen,
    get openSockets() {
      return sockets.size;
    },
    on: (model, ...given) => void scripts.set(model, [...given]),
    reset() {
      scripts.clear();
      seen.length = 0;
    },
    async waitForSeen(count, withinMs = 120_000) {
      const deadline = performance.now() + withinMs;
      while (seen.length < count) {
        if (performance.now() > deadline) throw new Error(`Saw ${seen.length} of ${count} upstream requests`);
        await Bun.sleep(2);
      }
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      const { promise, resolve: closed } = Promise.withResolvers<void>();
      server.close(() => closed());
      await promise;
    },
  };
}

type Choose = (request: ScriptRequest, seen: SeenRequest) => Script;

function serve(socket: Socket, choose: Choose): void {
  const reader = createRequestReader();
  let busy: Promise<unknown> = Promise.resolve();
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  socket.on("close", () => leave());
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    for (const request of reader.push(Buffer.from(bytes))) {
      busy = busy.then(() => answerOne({ socket, gone }, describe(request), choose));
    }
  });
}

async function answerOne(
  { socket, gone }: { socket: Socket; gone: Promise<void> },
  request: ScriptRequest,
  choose: Choose,
): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const seen = {
    ...request,
    receivedAtMs: Date.now(),
    disconnectedAtMs: undefined as number | undefined,
    over,
  };
  const outcome = await playScript(socket, gone, choose(request, seen)(request));
  if (outcome === "disconnected") seen.disconnectedAtMs = Date.now();
  resolve();
}

function takeScript(scripts: Script[] | undefined): Script {
  const first = scripts?.[0];
  if (!scripts || !first) return answerWith();
  if (scripts.length > 1) scripts.shift();
  return first;
}

function describe({ method, target, headers, body }: ReadRequest): ScriptRequest {
  const bodyText = body.toString("utf8");
  const json = parseObject(bodyText);
  const options = json.stream_options;
  return {
    method,
    target,
    headers,
    bodyText,
    protocol: /\/messages(\?|\/|$)/.test(target) ? "anthropic" : "openai",
    model: typeof json.model === "string" ? json.model : fieldOf(bodyText, "model"),
    stream: json.stream === true,
    includeUsage: typeof options === "object" && options !== null && "include_usage" in options,
  };
}

/** Returns a text field of a form; `undefined` for another body. */
export function fieldOf(bodyText: string, name: string): string | undefined {
  const [, value] = bodyText.split(`name="${name}"\r\n\r\n`);
  return value?.slice(0, value.indexOf("\r\n"));
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function portOf(address: unknown): number {
  if (typeof address !== "object" || address === null || !("port" in address)) {
    throw new Error("The scripted upstream does not listen on a TCP port");
  }
  return Number(address.port);
}
