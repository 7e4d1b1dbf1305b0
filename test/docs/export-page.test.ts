import { expect, test } from "bun:test";
import { join } from "node:path";
import { signBody } from "../../src/domain/signature.ts";
import { printLine } from "../../src/exports/line.ts";
import { loadYaml } from "../config/temp-config.ts";
import { FACTS, holdIdOf, NOON_MS } from "../ledger/samples.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { EXPORT_YAML, EXPORTED_LINE, VERIFY_EXPORT } from "./export-blocks.ts";

/** The names of all members of a value, sorted, with those of objects inside. */
function membersOf(value: unknown, path = ""): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([name, member]) => membersOf(member, `${path}.${name}`));
}

test("the line of the page has the members of a line", () => {
  const holdId = holdIdOf("shown");
  const line = printLine({
    walletId: "acme",
    accountName: "acme",
    keyName: "laptop",
    transfer: {
      ...{ seq: 2, transferId: holdId, kind: "settlement", amount: -5n, postedAfter: 7n, holdId },
      createdAtMs: NOON_MS,
    },
    receipt: {
      ...{ holdId, walletId: "acme", keyId: "k1", scopes: [], state: "settled", late: false },
      ...{ granted: 9n, captured: 5n, refunded: 0n, createdAtMs: NOON_MS, resolvedAtMs: NOON_MS },
      ...{ request: { surface: "chat", model: "demo" }, outcome: FACTS, metadata: undefined },
    },
    move: { positions: new Map() },
  });
  expect(membersOf(JSON.parse(EXPORTED_LINE.text))).toEqual(membersOf(JSON.parse(line.text)));
});

test("the exports of the page load", () => {
  const { exports } = loadYaml(EXPORT_YAML.text, { EXPORT_SECRET: "sixteen-characters" });
  expect(exports?.map(({ name }) => name)).toEqual(["warehouse", "billing", "collector"]);
});

test("the code of the page accepts a signature, and no other", async () => {
  const path = join(tempFolder(), "verify.mjs");
  await Bun.write(path, `${VERIFY_EXPORT.text}\nexport { isGenuine };`);
  const { isGenuine }: { isGenuine: (secret: string, header: string, bytes: Uint8Array) => boolean } =
    await import(path);
  const bytes = Bun.gzipSync('{"a":1}\n');
  const nowMs = Date.now();
  expect(isGenuine("s", signBody("s", bytes, nowMs), bytes)).toBe(true);
  expect(isGenuine("s", signBody("other", bytes, nowMs), bytes)).toBe(false);
  expect(isGenuine("s", signBody("s", bytes, nowMs - 600_000), bytes)).toBe(false);
  expect(isGenuine("s", signBody("s", Bun.gzipSync("{}"), nowMs), bytes)).toBe(false);
});
