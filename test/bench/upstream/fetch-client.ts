import { readBounded } from "../../../src/gateway/read-bounded.ts";
import { createHealth } from "../../../src/upstream/health.ts";
import { createHttpUpstream } from "../../../src/upstream/http-upstream.ts";
import type { Client } from "./client.ts";

const NEVER_MS = 900_000;
/** Nobody asks the health here. */
const CIRCUIT_FAILURES = 5;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Bun's fetch, through the gateway's own upstream and read as the gateway reads. */
export async function createFetchClient(url: string): Promise<Client> {
  const upstream = createHttpUpstream(
    {
      name: "bench",
      protocol: "openai",
      baseUrl: `${url}/v1`,
      apiKey: "bench",
      timeouts: { connectMs: NEVER_MS, firstOutputMs: NEVER_MS, idleMs: NEVER_MS, totalMs: NEVER_MS },
      outputLimitField: undefined,
      circuitFailures: CIRCUIT_FAILURES,
    },
    createHealth({ failuresMax: CIRCUIT_FAILURES, clock: () => performance.now() }),
  );
  return async ({ kind, body, signal }) => {
    const call = {
      protocol: "openai",
      path: "/chat/completions",
      body,
      stream: kind === "stream",
      headers: {},
      query: "",
    } as const;
    const answer = await upstream.send(call, { signal, connecting() {}, connected() {} });
    return {
      status: answer.status,
      text: async () => (await readBounded(answer, ANSWER_BYTES_MAX)) ?? "",
      read: (onPiece) => readPieces(answer, onPiece),
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
