import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { CALLER_SECRET, signCall } from "../support/signed-call.ts";
import { until } from "../support/until.ts";
import { CALLER_YAML, SIGNED_CALLS } from "./payment-blocks.ts";
import { createReaderShell } from "./reader-shell.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
const shell = createReaderShell(folder);
const TOLLGATE_CONFIG = join(folder, "tollgate.yaml");
/** As in the block of the page. */
const PLACEHOLDER = `\${SHOP_SECRET}`;
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

test("a secret that is rotated in the file applies to the running gateway", async () => {
  const next = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
  const call = async (secret: string) => {
    const body = JSON.stringify({ type: "reversal", id: "none", payment: "none", amount_usd: "1" });
    const url = `${served.url}/console/api/signed/shop`;
    return (await fetch(url, { method: "POST", headers: signCall(body, { secret }), body })).status;
  };
  expect([await call(CALLER_SECRET), await call(next)]).toEqual([404, 400]);
  const both = `secret: ${next}\n      old_secret: ${PLACEHOLDER}`;
  writeFileSync(
    TOLLGATE_CONFIG,
    CALLER_YAML.text.replace(`secret: ${PLACEHOLDER}`, () => both),
  );
  await until(async () => (await call(next)) === 404);
  expect(await call(CALLER_SECRET)).toBe(404);
  writeFileSync(TOLLGATE_CONFIG, CALLER_YAML.text.replace(PLACEHOLDER, next));
  await until(async () => (await call(CALLER_SECRET)) === 400);
  expect(await call(next)).toBe(404);
});
