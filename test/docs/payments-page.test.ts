import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { CALLER_SECRET } from "../support/signed-call.ts";
import { CALLER_YAML, SIGNED_CALLS } from "./payment-blocks.ts";
import { createReaderShell } from "./reader-shell.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
const shell = createReaderShell(folder);
const TOLLGATE_CONFIG = join(folder, "tollgate.yaml");
let served: ServedProcess;

beforeAll(async () => {
  writeFileSync(TOLLGATE_CONFIG, CALLER_YAML.text);
  const environment = { ...shell.environment, TOLLGATE_CONFIG, SHOP_SECRET: CALLER_SECRET };
  served = await startServedProcess({ folder, environment });
});

afterAll(async () => {
  served.signal("SIGTERM");
  await served.exitCode;
  rmSync(folder, { recursive: true });
});

test("the signed calls of the page top up a wallet and take a part back, once", async () => {
  const made = await shell.paste("bun tollgate account create --name acme --json", {});
  const ACCOUNT: string = JSON.parse(made.stdout).id;
  const environment = { BASE: served.url, SECRET: CALLER_SECRET, ACCOUNT };
  for (const replayed of [false, true]) {
    const { exitCode, stdout, stderr } = await shell.paste(SIGNED_CALLS.text, environment);
    expect(exitCode, stderr).toBe(0);
    const answers = stdout.replaceAll("}{", "}\n{").split("\n");
    const common = { account_id: ACCOUNT, left_usd: "20.00", replayed };
    const [first, second] = answers.map((answer): unknown => JSON.parse(answer));
    // The first answer of all comes before anything is taken back.
    const left = replayed ? "20.00" : "25.00";
    expect(first).toEqual({ ...common, id: "signed:shop:order-17", amount_usd: "25.00", left_usd: left });
    expect(second).toEqual({ ...common, id: "reversal:shop:refund-17", amount_usd: "5.00" });
  }
  const wallet = await shell.paste("bun tollgate wallet --account acme --json", {});
  expect(wallet.stdout).toContain('"20.00"');
});

test("a call of the page with another secret is refused, and fails the command", async () => {
  const SECRET = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const { exitCode, stdout } = await shell.paste(SIGNED_CALLS.text, {
    BASE: served.url,
    SECRET,
    ACCOUNT: "a",
  });
  expect(exitCode).not.toBe(0);
  expect(stdout).toContain("wrong, or out of date");
});
