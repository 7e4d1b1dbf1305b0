import { createServer, type Server, type Socket } from "node:net";
import { createRequestReader, type ReadRequest } from "../../support/request-reader.ts";
import { answer, playScript, type ScriptRequest, type Step } from "../../support/script.ts";
import { type AnswerRequest, answerOf, type FuzzAnswer, type UpstreamFormat } from "../cases/fuzz-answer.ts";
import type { FuzzCase } from "../cases/fuzz-case.ts";
import { candidatesOf } from "../read/expected.ts";

/** A call that the upstream got from the case of a lane. */
export interface UpstreamCall {
  readonly format: UpstreamFormat;
  /** The request body from the gateway. */
  readonly body: string;
  readonly given: FuzzAnswer;
}

/** Plays one case at a time. Its name is part of the upstream URL, which identifies the case. */
export interface Lane {
  /** Such as "LANE07". */
  readonly name: string;
  playing: FuzzCase | undefined;
  readonly calls: UpstreamCall[];
}

export interface FuzzUpstream {
  /** The base URL of a lane's upstreams, without a final slash. */
  urlOf(lane: Lane): string;
  stop(): Promise<void>;
}

const FORMS: readonly (readonly [ending: string, format: UpstreamFormat])[] = [
  ["/chat/completions", "chat"],
  ["/messages/count_tokens", "count_tokens"],
  ["/messages", "messages"],
  ["/responses", "responses"],
  ["/embeddings", "embeddings"],
  [":generateContent", "gemini"],
  [":streamGenerateContent", "gemini"],
];

/** Starts upstreams of all formats on a loopback port. They answer as the case of a lane decides. */
export async function startFuzzUpstream(lanes: readonly Lane[]): Promise<FuzzUpstream> {
  const byName = new Map(lanes.map((lane) => [lane.name, lane]));
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    serve(socket, (request) => answerTo(request, byName));
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve);
  await listening;
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    urlOf: ({ name }) => `${url}/${name}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      const { promise, resolve: closed } = Promise.withResolvers<void>();
      server.close(() => closed());
      await promise;
    },
  };
}

function serve(
  socket: Socket,
  stepsFor: (request: ReadRequest) => Iterable<Step> | AsyncIterable<Step>,
): void {
  const reader = createRequestReader();
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  let busy: Promise<unknown> = Promise.resolve();
  socket.on("close", () => leave());
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    for (const request of reader.push(Buffer.from(bytes))) {
      // A call counts when it arrives. Counted when the socket is free, it would count for a later case.
      const steps = stepsFor(request);
      busy = busy.then(() => playScript(socket, gone, steps));
    }
  });
}

function answerTo(
  request: ReadRequest,
  lanes: ReadonlyMap<string, Lane>,
): Iterable<Step> | AsyncIterable<Step> {
  const path = request.target.split("?")[0] ?? "";
  const lane = lanes.get(path.split("/")[1] ?? "");
  const format = FORMS.find(([ending]) => path.endsWith(ending))?.[1];
  if (!lane?.playing || !format) return answer({ status: 404, body: "" })(NO_REQUEST);
  const body = request.body.toString();
  const given = answerOf(lane.playing.id, {
    ...answerRequestOf(body, path),
    format,
    call: lane.calls.length,
  });
  lane.calls.push({ format, body, given });
  return given.endless === undefined ? answer(given.answer)(NO_REQUEST) : endlessly(given, given.endless);
}

function answerRequestOf(body: string, path: string): Pick<AnswerRequest, "stream" | "choices"> {
  const { stream, n = candidatesOf(body) } = JSON.parse(body);
  return { stream: stream === true || path.endsWith(":streamGenerateContent"), choices: n ?? 1 };
}

async function* endlessly({ answer: given }: FuzzAnswer, again: string): AsyncGenerator<Step> {
  for await (const step of answer({ ...given, framing: "until_close" })(NO_REQUEST)) {
    if (!("leave" in step)) yield step;
  }
  for (;;) {
    yield { send: again };
    yield { waitMs: 2 };
  }
}

/** The answers do not depend on the request. */
const NO_REQUEST: ScriptRequest = {
  method: "POST",
  target: "",
  headers: {},
  bodyText: "",
  protocol: "openai",
  model: undefined,
  stream: false,
  includeUsage: false,
};

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The upstream does not listen");
  return address.port;
}
