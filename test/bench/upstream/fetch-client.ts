import { readBounded, textOf } from "../../../src/gateway/read-bounded.ts";
import { createConnectionPools } from "../../../src/upstream/bun-fetch.ts";
import { createHealth } from "../../../src/upstream/cooldown.ts";
import { createHttpUpstream } from "../../../src/upstream/http-upstream.ts";
import { callBodyOf } from "../../support/call-body.ts";
import type { Client } from "./client.ts";

const NEVER_MS = 900_000;
/** Nobody asks the health here. */
const CIRCUIT_FAILURES = 5;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Bun's fetch, through the gateway's own upstream and read as the gateway reads. */
export async function createFetchClient(url: string): Promise<Client> {
  let pools = 0;
  const upstream = createHttpUpstream(
    {
      name: "bench",
      protocol: "openai",
      baseUrl: `${url}/v1`,
      apiKey: "bench",
      timeouts: { connectMs: NEVER_MS, firstOutputMs: NEVER_MS, idleMs: NEVER_MS, totalMs: NEVER_MS },
      outputLimitField: undefined,
      hasResponses: false,
      circuitFailures: CIRCUIT_FAILURES,
    },
    {
      health: createHealth({ failuresMax: CIRCUIT_FAILURES, clock: () => performance.now() }),
      pools: createConnectionPools(() => pools++),
    },
  );
  return async ({ kind, body, signal }) => {
    const call = {
      surface: "chat",
      path: "/chat/completions",
      body: callBodyOf(body),
      stream: kind === "stream",
      headers: {},
      query: "",
    } as const;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const answer = await upstream.send(call, { signal, connecting() {}, connected() {}, ended });
    return {
      status: answer.status,
      async text() {
        const body = await readBounded(answer, ANSWER_BYTES_MAX).finally(end);
        return body ? textOf(body) : "";
      },
      read: (onPiece) => readPieces(answer, onPiece).finally(end),
    };
  };
}

async function readPieces({ body }: Response, onPiece: (bytes: Uint8Array) => void): Promise<void> {
  const reader = body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) return;
    onPiece(piece.value);
  }
}
