import { expect, test } from "bun:test";
import { createServer } from "node:https";
import { join } from "node:path";
import { createConnectionPools } from "../../src/upstream/bun-fetch.ts";
import { temporaryFolder } from "../ledger/samples.ts";
import { makeCertificates } from "../support/certificates.ts";

const BURST = 150;

test("a burst of calls over TLS reuses the connections of the burst before it", async () => {
  using certificates = makeCertificates();
  const folder = temporaryFolder();
  const authorityFile = join(folder.path, "authority.pem");
  await Bun.write(authorityFile, certificates.authority);
  let waiting: (() => void)[] = [];
  /** The connections that each burst has opened. */
  const opened: number[] = [];
  // Responds when the whole burst has arrived, so that it needs one connection per call.
  const server = createServer(certificates.server, (request, response) => {
    request.resume().on("end", () => {
      waiting.push(() => response.end("{}"));
      if (waiting.length < BURST) return;
      for (const answer of waiting) answer();
      waiting = [];
      opened.push(connections);
      connections = 0;
    });
  });
  let connections = 0;
  server.on("secureConnection", () => {
    connections += 1;
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;

  const child = Bun.spawn(
    [process.execPath, `${import.meta.dir}/bursts-child.ts`, `https://localhost:${port}`, String(BURST)],
    {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: authorityFile, BUN_CONFIG_MAX_HTTP_REQUESTS: "1000" },
      stderr: "inherit",
    },
  );
  expect(await child.exited).toBe(0);
  server.close();
  folder.remove();
  const [first = 0, ...later] = opened;
  expect(first).toBeGreaterThanOrEqual(BURST);
  expect(later).toHaveLength(5);
  // A connection may become idle late, on a busy machine; without pools, each burst opens 86 at least.
  expect(Math.min(...later)).toBeLessThan(BURST * 0.2);
});

test("calls fill the first pool before another is opened, and leave their pool when they end", async () => {
  let opened = 0;
  const pools = createConnectionPools(() => opened++);
  const ends: (() => void)[] = [];
  const take = () => pools.take({ onEnded: (listener) => void ends.push(listener) });
  const sessions = Array.from({ length: 120 }, take);
  expect(new Set(sessions).size).toBe(3);
  ends[0]?.();
  expect(sessions.indexOf(take())).toBe(0);
  expect(opened).toBe(3);
});
