import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ERRORS } from "../../src/errors.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { says } from "../support/says.ts";
import { gate } from "../support/script.ts";
import { scriptedConfig } from "../support/scripted-config.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, type ServeOptions, serveProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";
import { askChat, createPaidKey } from "./paid-key.ts";

const LIMITS = `limits: { requests_per_minute: 10000, concurrent_requests: 1000 }
account_limits: { requests_per_minute: 10000, concurrent_requests: 1000 }
drain_s: 2`;

let upstream: ScriptedUpstream;
let folder: string;
let secret: string;
let served: ServedProcess | undefined;

beforeEach(async () => {
  upstream = await startScriptedUpstream();
  folder = tempFolder();
  writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, LIMITS));
  secret = await createPaidKey(folder);
});
afterEach(async () => {
  served?.signal("SIGKILL");
  await served?.exitCode;
  await upstream.stop();
});

async function serve(options: Partial<ServeOptions> = {}): Promise<ServedProcess> {
  served = await serveProcess({ folder, ...options });
  return served;
}

function ask({ url }: ServedProcess, stream = false): Promise<Response> {
  return askChat(url, secret, stream);
}

async function accountAfterwards(): Promise<unknown> {
  return (await runTollgate(folder, ["account", "list", "--json"])).json().accounts;
}

/** Begins a stream, and stands still after some of its words until the gate opens. */
async function beginStream(gateway: ServedProcess): Promise<{ open(): void; rest: Promise<string> }> {
  const { opened, open } = gate();
  upstream.on("chat", says(undefined, { pauseAt: { bytes: 700, gate: opened } }));
  const response = await ask(gateway, true);
  expect(response.status).toBe(200);
  return { open, rest: response.text() };
}

describe("SIGTERM", () => {
  test("lets a running stream finish, takes nothing new, and exits with 0", async () => {
    const gateway = await serve();
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
    expect(await accountAfterwards()).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
  });

  test("ends what still runs at the drain limit, tells it why, and settles it", async () => {
    const gateway = await serve();
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
    const accounts = JSON.stringify(await accountAfterwards());
    expect(accounts).toContain('"held_usd":"0.00"');
    expect(accounts).not.toContain('"posted_usd":"100.00"');
  });

  test("of an idle gateway ends it at once", async () => {
    const patient = LIMITS.replace("drain_s: 2", "drain_s: 60");
    writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, patient));
    const gateway = await serve();
    await (await ask(gateway)).text();
    const startedAt = performance.now();
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(50_000);
    expect(gateway.stdout()).not.toContain(secret);
    expect(gateway.stdout()).not.toContain("provider-secret");
  });
});

describe("more than 256 upstream calls at once", () => {
  test.each([
    ["the entry file", {}],
    ["the script of package.json", { throughScript: true }],
  ])("all reach the upstream when it is started by %s", async (_name, options) => {
    const paths = {
      TOLLGATE_CONFIG: join(folder, "tollgate.yaml"),
      DATABASE_URL: `sqlite:${join(folder, "data/tollgate.db")}`,
    };
    const gateway = await serve({ environment: paths, ...options });
    const { opened, open } = gate();
    upstream.on("chat", says(undefined, { gate: opened }));
    const asker = Bun.spawn([process.execPath, "-e", ASK_400], {
      env: { BUN_CONFIG_MAX_HTTP_REQUESTS: "1000", URL: gateway.url, SECRET: secret },
      stdout: "pipe",
    });
    await upstream.waitForSeen(400);
    expect(upstream.openSockets).toBeGreaterThanOrEqual(400);
    open();
    expect(await new Response(asker.stdout).text()).toBe("400\n");
  });
});

/** Asks 400 times at once, from a process whose own fetch is not capped. */
const ASK_400 = `
const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Say hello." }] });
const init = { method: "POST", headers: { authorization: "Bearer " + process.env.SECRET }, body };
const all = await Promise.all(Array.from({ length: 400 }, async () => {
  const answer = await fetch(process.env.URL + "/v1/chat/completions", init);
  await answer.text();
  return answer.status;
}));
console.log(all.filter((status) => status === 200).length);
`;
