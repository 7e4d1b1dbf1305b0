import { afterEach, expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  type LedgerProcess,
  type ServedProcess,
  serveLedgerProcess,
  startBesideLedger,
} from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";
import { askChat } from "./paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

let fixture: ProcessFixture | undefined;
let ledger: LedgerProcess | undefined;
let remote: ServedProcess | undefined;
afterEach(async () => {
  await fixture?.close();
  remote?.signal("SIGKILL");
  await remote?.exitCode;
  ledger?.signal("SIGKILL");
  await ledger?.exitCode;
});

function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

async function untilReloads({ stdout }: Pick<LedgerProcess, "stdout">, count: number): Promise<void> {
  await until(() => stdout().split("configuration reloaded").length > count);
}

test("an upstream's key is rotated without a restart, and a running request keeps its own", async () => {
  fixture = await openProcessFixture("");
  const { upstream, folder, secret, serve } = fixture;
  const config = join(folder, "tollgate.yaml");
  replaceFile(config, (await Bun.file(config).text()).replace(/api_key: [\w-]+/, `api_key: "\${UP_KEY}"`));
  const file = join(folder, "up-key");
  writeFileSync(file, "first-key\n");
  const gateway = await serve({ environment: { UP_KEY_FILE: "up-key" } });
  const { opened, open } = gate();
  upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
  const running = await askChat(gateway.url, secret, true);
  replaceFile(file, "second-key\n");
  process.kill(gateway.pid, "SIGHUP");
  await untilReloads(gateway, 1);
  expect((await askChat(gateway.url, secret)).status).toBe(200);
  open();
  expect(await running.text()).toEndWith("data: [DONE]\n\n");
  expect(upstream.seen.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer first-key",
    "Bearer second-key",
  ]);
  replaceFile(file, "");
  await until(() => gateway.stdout().includes("UP_KEY_FILE names a file that is empty"));
  expect((await askChat(gateway.url, secret)).status).toBe(200);
  expect(upstream.seen.at(-1)?.headers.authorization).toBe("Bearer second-key");
  expect(gateway.stdout() + gateway.stderr()).not.toMatch(/first-key|second-key/);
});

test("the ledger token is rotated over gateway and ledger, in either order, without a failed call", async () => {
  const ledgerFolder = tempFolder();
  const environment = { LEDGER_TOKEN_FILE: "token" };
  const tokens = ["first-token-of-16", "second-token-of-16", "third-token-of-16"] as const;
  writeFileSync(join(ledgerFolder, "token"), `${tokens[0]}\n`);
  const served = await serveLedgerProcess({ folder: ledgerFolder, environment });
  ledger = served;
  const { gateway, secret } = await serveRemote(
    { ...environment, LEDGER_URL: `grpc://${served.address}` },
    tokens[0],
  );
  remote = gateway;
  const write = async (owner: "gateway" | "ledger", text: string, count: number) => {
    replaceFile(join(owner === "ledger" ? ledgerFolder : gateway.folder, "token"), text);
    await untilReloads(owner === "ledger" ? served : gateway, count);
    // Waits for a request that began after the step.
    const asked = statuses.length + 4;
    await until(() => statuses.length >= asked);
  };
  let isOver = false;
  const statuses: number[] = [];
  const asking = askUntil(gateway, secret, statuses, () => isOver);
  // First the gateway learns each step first, then the ledger.
  await write("gateway", `${tokens[1]}\n${tokens[0]}\n`, 1);
  await write("ledger", `${tokens[1]}\n${tokens[0]}\n`, 1);
  await write("gateway", `${tokens[1]}\n`, 2);
  await write("ledger", `${tokens[1]}\n`, 2);
  await write("ledger", `${tokens[2]}\n${tokens[1]}\n`, 3);
  await write("gateway", `${tokens[2]}\n${tokens[1]}\n`, 3);
  await write("ledger", `${tokens[2]}\n`, 4);
  await write("gateway", `${tokens[2]}\n`, 4);
  isOver = true;
  await asking;
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(gateway.stdout() + served.stdout()).not.toMatch(/-token-of-16/);
});

/** Starts a gateway with the demo model, whose ledger is elsewhere. */
async function serveRemote(environment: Record<string, string>, token: string) {
  const folder = tempFolder();
  writeFileSync(join(folder, "token"), `${token}\n`);
  // A fast machine asks more often than the default limit allows.
  writeFileSync(join(folder, "tollgate.yaml"), "limits: { requests_per_minute: 1000000 }\n");
  const gateway = await startBesideLedger({ folder, environment });
  await until(() => gateway.stderr().includes("sk-tg-"));
  const secret = /sk-tg-[\w-]{43}/.exec(gateway.stderr())?.[0] ?? "";
  return { gateway: { ...gateway, folder }, secret };
}

/** Asks until told, and adds the status of each answer. */
async function askUntil(
  { url }: ServedProcess,
  secret: string,
  statuses: number[],
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": secret },
      body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hello" }] }),
    });
    await answer.text();
    const key = await fetch(`${url}/v1/key`, { headers: { "x-api-key": secret } });
    await key.text();
    statuses.push(answer.status, key.status);
  }
}
