/** What a client saw of one request. */
export interface Sent {
  readonly group: string;
  readonly startedMs: number;
  readonly endedMs: number;
  /**
   * "answered", a status with its error code such as "429 rate_limit_exceeded", "cut" for an answer without its
   * end, or "no answer" for a connection closed before the headers.
   */
  readonly result: string;
  /** The id of its receipt; "" without headers. */
  readonly requestId: string;
  /** The cost that the headers name; `undefined` for streams. */
  readonly costUsd: string | undefined;
}

/** Clients that send requests in a loop, whatever the answers. */
export interface ClientGroup {
  readonly name: string;
  readonly secret: string;
  readonly clients: number;
  /** Mean pause between two requests of one client; each is between 50 % and 150 % of it. */
  readonly pauseMs: number;
}

export interface Clients {
  /** Every request that has ended, in the order of ending. */
  readonly sent: readonly Sent[];
  /** Resolves when the last request has ended. */
  stop(): Promise<void>;
}

const PATHS = ["/v1/chat/completions", "/v1/messages"];
const WHOLE = /"(finish_reason|stop_reason)":\s*"/;
const END_OF_STREAM = /(data: \[DONE\]|"type":"message_stop"\})\n\n$/;

/** Starts clients on both surfaces, half of which stream. */
export function startClients(url: string, groups: readonly ClientGroup[]): Clients {
  const sent: Sent[] = [];
  let isStopped = false;
  const work = async ({ name, secret, pauseMs }: ClientGroup, client: number) => {
    await Bun.sleep(Math.random() * pauseMs);
    const path = PATHS[client % 2] ?? "";
    for (let round = client >> 1; !isStopped; round += 1) {
      const startedMs = Date.now();
      const seen = await sendOne(`${url}${path}`, { secret, stream: round % 2 === 0, text: name });
      sent.push({ group: name, startedMs, endedMs: Date.now(), ...seen });
      await Bun.sleep(pauseMs * (0.5 + Math.random()));
    }
  };
  const all = groups.flatMap((group) =>
    Array.from({ length: group.clients }, (_, client) => work(group, client)),
  );
  return {
    sent,
    async stop() {
      isStopped = true;
      await Promise.all(all);
    },
  };
}

interface OneRequest {
  readonly secret: string;
  readonly stream: boolean;
  readonly text: string;
}

type Seen = Pick<Sent, "result" | "requestId" | "costUsd">;

/** Sends one request and reads its answer to the end. Never rejects. */
async function sendOne(url: string, { secret, stream, text }: OneRequest): Promise<Seen> {
  const messages = [{ role: "user", content: text }];
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: "chat", max_tokens: 50, stream, messages }),
  }).catch(() => undefined);
  if (!response) return { result: "no answer", requestId: "", costUsd: undefined };
  const { headers } = response;
  const seen = {
    requestId: headers.get("x-request-id") ?? "",
    costUsd: headers.get("x-tollgate-cost-usd") ?? undefined,
  };
  const body = await response.text().catch(() => undefined);
  if (body === undefined) return { ...seen, result: "cut" };
  return { ...seen, result: resultOf(response, body, stream) };
}

function resultOf({ ok, status, headers }: Response, body: string, stream: boolean): string {
  if (ok) {
    const code = /"(?:code|error_code)":\s*"(\w+)"/.exec(body)?.[1];
    if (stream && code) return `error event ${code}`;
    return (stream ? END_OF_STREAM : WHOLE).test(body) ? "answered" : "cut";
  }
  const code = /"(?:code|error_code)":\s*"(\w+)"/.exec(body)?.[1] ?? "without a code";
  const hasWait = headers.has("retry-after");
  return `${status} ${code}${status === 429 && !hasWait ? " without retry-after" : ""}`;
}
