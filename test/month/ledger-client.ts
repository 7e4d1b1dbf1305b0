import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** The ledger's gRPC service as another process sees it. */
export interface LedgerClient {
  /** Calls a method with the names of the proto in camel case. Throws with the message of a failed call. */
  // biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads.
  call(method: string, request: object): Promise<any>;
  close(): Promise<void>;
}

/** Starts the process of the client. One call runs at a time. */
export function startLedgerClient(address: string, token: string): LedgerClient {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "ledger-client-child.ts"), address, token],
    {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const lines = createInterface({ input: Readable.fromWeb(child.stdout as never) })[Symbol.asyncIterator]();
  return {
    async call(method, request) {
      child.stdin.write(`${JSON.stringify({ method, request })}\n`);
      child.stdin.flush();
      const { value } = await lines.next();
      const { error, answer } = JSON.parse(value ?? '{"error":"the client has ended"}');
      if (error) throw new Error(`${method}: ${error}`);
      return answer;
    },
    async close() {
      child.stdin.end();
      await child.exited;
    },
  };
}
