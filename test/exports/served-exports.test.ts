import { afterEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const SECRET = "a-secret-of-an-export";

let closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
});

/** A receiver that checks each signature, and answers while `isOpen`. */
function startReceiver() {
  const state = { isOpen: false, tries: 0, lines: [] as string[] };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      const [, t, v1] = /^t=(\d+),v1=(\w+)$/.exec(request.headers.get("tollgate-signature") ?? "") ?? [];
      if (createHmac("sha256", SECRET).update(`${t}.${body}`).digest("hex") !== v1)
        return new Response("", { status: 401 });
      state.tries += 1;
      state.lines.push(...body.trimEnd().split("\n"));
      if (!state.isOpen) await new Promise(() => undefined);
      return new Response(null, { status: 204 });
    },
  });
  closers.push(() => server.stop(true));
  return { state, url: `http://127.0.0.1:${server.port}/` };
}

function configFile(folder: string, url: string): string {
  const path = join(folder, "tollgate.yaml");
  writeFileSync(
    path,
    `exports:
  warehouse: { kind: file, path: ${join(folder, "usage.jsonl")} }
  billing: { kind: http, url: "${url}", secret: "\${EXPORT_SECRET}" }
`,
  );
  return path;
}

async function chat({ url }: ServedProcess, secret: string): Promise<string> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return answer.headers.get("x-request-id") ?? "";
}

test("a killed gateway repeats what the receiver may not have, and misses nothing", async () => {
  const folder = tempFolder();
  const { state, url } = startReceiver();
  const metricsPort = await freePort();
  const environment = {
    TOLLGATE_CONFIG: configFile(folder, url),
    EXPORT_SECRET: SECRET,
    METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
  };
  const first = await startServedProcess({ folder, environment });
  closers.push(() => first.signal("SIGKILL"));
  const findSecret = () => /sk-tg-[\w-]{43}/.exec(first.stderr())?.[0];
  await until(() => findSecret() !== undefined);
  const secret = findSecret() ?? "";
  const paid = [await chat(first, secret), await chat(first, secret)];
  // The receiver has the batch and does not answer.
  await until(() => paid.every((id) => state.lines.join().includes(id)) || state.tries > 0);
  const path = join(folder, "usage.jsonl");
  await until(() => paid.every((id) => readFileSync(path, { encoding: "utf8", flag: "a+" }).includes(id)));
  first.signal("SIGKILL");
  await first.exitCode;

  const delivered = [...state.lines];
  state.isOpen = true;
  const second = await startServedProcess({ folder, environment });
  closers.push(() => second.signal("SIGKILL"));
  paid.push(await chat(second, secret));
  await until(() => paid.every((id) => state.lines.slice(delivered.length).join().includes(id)));
  expect(state.lines.slice(delivered.length)).toEqual(expect.arrayContaining(delivered));
  // The last line may be half written.
  const readLines = () => readFileSync(path, "utf8").split("\n").slice(0, -1);
  await until(() => readLines().some((line) => line.includes(paid[2] ?? "")));
  const lines = readLines().map((line) => JSON.parse(line));
  for (const id of paid) {
    const [line] = lines.filter(({ receipt }) => receipt?.request_id === id);
    expect(line).toMatchObject({
      schema_version: 1,
      type: "receipt",
      account_name: "demo",
      receipt: { state: "settled" },
    });
  }

  const scrape = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  await until(async () => /tollgate_export_lag_seconds\{export="billing"\} 0\n/.test(await scrape()));
  expect(await scrape()).toMatch(/tollgate_export_lines_total\{export="billing"\} [1-9]/);
  expect(second.stdout()).not.toContain(SECRET);
  second.signal("SIGTERM");
  expect(await second.exitCode).toBe(0);
});
