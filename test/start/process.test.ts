import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { ERRORS } from "../../src/errors.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import type { ScriptedUpstream } from "../support/scripted-upstream.ts";
import type { ServedProcess } from "../support/served-process.ts";
import { until } from "../support/until.ts";
import { askChat } from "./paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

const LIMITS = `limits: { requests_per_minute: 1000000, concurrent_requests: 1000 }
account_limits: { requests_per_minute: 1000000, concurrent_requests: 1000 }
drain_s: 2`;

let fixture: ProcessFixture;
let upstream: ScriptedUpstream;
let secret: string;
beforeEach(async () => {
  fixture = await openProcessFixture(LIMITS);
  ({ upstream, secret } = fixture);
});
afterEach(() => fixture.close());

function ask({ url }: ServedProcess, stream = false): Promise<Response> {
  return askChat(url, secret, stream);
}

/** Starts a stream that pauses after 700 bytes until `open`. */
async function beginStream(gateway: ServedProcess): Promise<{ open(): void; rest: Promise<string> }> {
  const { opened, open } = gate();
  upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
  const response = await ask(gateway, true);
  expect(response.status).toBe(200);
  return { open, rest: response.text() };
}

describe("SIGTERM", () => {
  test("lets a running stream finish, accepts no new request, and exits with 0", async () => {
    fixture.configure(LIMITS.replace("drain_s: 2", "drain_s: 120"));
    const gateway = await fixture.serve();
    const { open, rest } = await beginStream(gateway);
    gateway.signal("SIGTERM");
    await until(() => gateway.stdout().includes('"draining"'));
    expect(
      await fetch(`${gateway.url}/readyz`).then(
        ({ status }) => status,
        () => "closed",
      ),
    ).not.toBe(200);
    open();
    expect(await rest).toEndWith("data: [DONE]\n\n");
    expect(await gateway.exitCode).toBe(0);
    expect(await fixture.accounts()).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
  });

  test("ends a running stream at the drain limit with an error, and settles it", async () => {
    const gateway = await fixture.serve();
    const { rest } = await beginStream(gateway);
    const startedAt = performance.now();
    gateway.signal("SIGTERM");
    const { error } = JSON.parse((await rest).trim().split("data: ").at(-1) ?? "");
    expect(error).toEqual({
      message: ERRORS.shutting_down_charged.message,
      type: "server_error",
      code: "internal_error",
    });
    expect(await gateway.exitCode).toBe(0);
    expect(performance.now() - startedAt).toBeWithin(1_900, 60_000);
    const accounts = JSON.stringify(await fixture.accounts());
    expect(accounts).toContain('"held_usd":"0.00"');
    expect(accounts).not.toContain('"posted_usd":"100.00"');
  });

  test("ends an idle gateway at once", async () => {
    fixture.configure(LIMITS.replace("drain_s: 2", "drain_s: 60"));
    const gateway = await fixture.serve();
    await (await ask(gateway)).text();
    const startedAt = performance.now();
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(50_000);
    expect(gateway.stdout()).not.toContain(secret);
    expect(gateway.stdout()).not.toContain("provider-secret");
  });
});

describe("SIGTERM with a drain delay", () => {
  test("reports draining, still answers, and closes each connection after its response", async () => {
    fixture.configure(LIMITS.replace("drain_s: 2", "drain_delay_s: 300\ndrain_s: 2"));
    const gateway = await fixture.serve();
    const { open, rest } = await beginStream(gateway);
    gateway.signal("SIGTERM");
    await until(() => gateway.stdout().includes('"draining"'));
    const readiness = await fetch(`${gateway.url}/readyz`);
    expect(readiness.status).toBe(503);
    expect(await readiness.json()).toMatchObject({ status: "draining", checks: { ledger: { ok: true } } });
    open();
    expect(await rest).toEndWith("data: [DONE]\n\n");
    for (const stream of [false, true]) {
      const answer = await ask(gateway, stream);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("connection")).toBe("close");
      await answer.text();
    }
    expect((await fetch(`${gateway.url}/nothing`)).headers.get("connection")).toBe("close");
  });

  test("refuses connections after the delay, and exits with 0", async () => {
    fixture.configure(LIMITS.replace("drain_s: 2", "drain_delay_s: 1\ndrain_s: 2"));
    const gateway = await fixture.serve();
    const signalledAt = performance.now();
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
    expect(performance.now() - signalledAt).toBeGreaterThan(999);
    expect(await fetch(gateway.url).catch(() => "refused")).toBe("refused");
  });
});

describe("SIGTERM while a body is in transit", () => {
  const unfinished = (path: string, framing: string) =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\n${framing}\r\n\r\n`;

  /** Starts a gateway with a drain limit of 600 s, and sends each text on a connection of its own. */
  async function serveAndSend(
    texts: readonly string[],
  ): Promise<{ gateway: ServedProcess; received: string[] }> {
    fixture.configure(LIMITS.replace("drain_s: 2", "drain_s: 600"));
    const gateway = await fixture.serve();
    const { hostname, port } = new URL(gateway.url);
    const received = texts.map(() => "");
    sockets = texts.map((_, index) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on("error", () => {});
      socket.on("data", (data) => {
        received[index] += data.toString("latin1");
      });
      return socket;
    });
    await Promise.all(
      sockets.map((socket, index) => new Promise((sent) => socket.write(texts[index] ?? "", sent))),
    );
    // A response on a later connection proves that the gateway has accepted the earlier ones.
    await (await ask(gateway)).text();
    return { gateway, received };
  }
  let sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
  });

  test("rejects a body that does not arrive within 2 s, before the drain limit", async () => {
    const { gateway, received } = await serveAndSend([
      unfinished("/v1/chat/completions", "content-length: 3000"),
      unfinished("/v1/chat/completions", "connection: close\r\ncontent-length: 3000"),
      unfinished("/v1/chat/completions", "content-length: 3000000"),
      `${unfinished("/v1/chat/completions", "transfer-encoding: chunked")}5\r\n{"mod\r\n`,
    ]);
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
    for (const answer of received) {
      expect(answer).toStartWith("HTTP/1.1 500");
      expect(answer).toContain(ERRORS.shutting_down.message);
    }
  });

  test("waits neither for headers nor for a body that no route reads", async () => {
    const { gateway } = await serveAndSend([
      "POST /v1/chat/completions HTTP/1.1\r\nhos",
      unfinished("/nothing", "content-length: 3000"),
      unfinished("/v1/files", "content-length: 3000"),
      `${unfinished("/nothing", "connection: close\r\ncontent-length: 3000")}x`,
    ]);
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
  });

  test("answers a request whose body still arrives", async () => {
    const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Say hello." }] });
    const half = unfinished("/v1/chat/completions", `content-length: ${body.length}`) + body.slice(0, 10);
    const { gateway, received } = await serveAndSend([half]);
    gateway.signal("SIGTERM");
    await until(() => gateway.stdout().includes('"draining"'));
    for (const socket of sockets) socket.write(body.slice(10));
    expect(await gateway.exitCode).toBe(0);
    expect(received[0]).toStartWith("HTTP/1.1 200");
  });
});

describe("more than 256 upstream calls at once", () => {
  test.each([
    ["the entry file", {}],
    ["the script of package.json", { throughScript: true }],
  ])("all reach the upstream of a gateway started by %s", async (_name, options) => {
    const { folder } = fixture;
    const paths = {
      TOLLGATE_CONFIG: join(folder, "tollgate.yaml"),
      DATABASE_URL: `sqlite:${join(folder, "data/tollgate.db")}`,
    };
    const gateway = await fixture.serve({ environment: paths, ...options });
    const { opened, open } = gate();
    upstream.on("chat", answerWith(undefined, { gate: opened }));
    const sender = Bun.spawn([process.execPath, "-e", SEND_400], {
      env: { BUN_CONFIG_MAX_HTTP_REQUESTS: "1000", URL: gateway.url, SECRET: secret },
      stdout: "pipe",
    });
    await upstream.waitForSeen(400);
    expect(upstream.openSockets).toBeGreaterThanOrEqual(400);
    open();
    expect(await new Response(sender.stdout).text()).toBe("400\n");
  });
});

/** Sends 400 concurrent requests, from a process whose own fetch is not capped. */
const SEND_400 = `
const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Say hello." }] });
const init = { method: "POST", headers: { authorization: "Bearer " + process.env.SECRET }, body };
const all = await Promise.all(Array.from({ length: 400 }, async () => {
  const answer = await fetch(process.env.URL + "/v1/chat/completions", init);
  await answer.text();
  return answer.status;
}));
console.log(all.filter((status) => status === 200).length);
`;
