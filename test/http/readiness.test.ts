import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { type Check, createReadiness } from "../../src/http/readiness.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";
import { readSamples } from "../telemetry/samples.ts";

const succeed: Check = async () => ({ ok: true });
const reject: Check = () => Promise.reject(new Error("10.0.0.5 refused the connection"));
const hang: Check = () => new Promise(() => undefined);

test("a gateway is ready only while every check succeeds", async () => {
  expect(await createReadiness({ database: succeed, ledger: succeed })()).toEqual({
    isReady: true,
    checks: { database: { ok: true }, ledger: { ok: true } },
  });
  const full = async () => ({ ok: false, reason: "disk_full", free_bytes: 0 });
  expect(await createReadiness({ database: succeed, outbox: full })()).toEqual({
    isReady: false,
    checks: { database: { ok: true }, outbox: { ok: false, reason: "disk_full", free_bytes: 0 } },
  });
});

test("a check that rejects shows no text of its fault", async () => {
  const { checks } = await createReadiness({ database: reject })();
  expect(checks).toEqual({ database: { ok: false, reason: "failed" } });
});

test("a check that never ends counts as failed after a while, and hides no other check", async () => {
  const isReady = createReadiness({ database: hang, ledger: succeed, outbox: reject }, { checkMsMax: 20 });
  expect(await isReady()).toEqual({
    isReady: false,
    checks: {
      database: { ok: false, reason: "no_answer" },
      ledger: { ok: true },
      outbox: { ok: false, reason: "failed" },
    },
  });
});

test("a hundred concurrent readiness requests run one check", async () => {
  let asked = 0;
  const isReady = createReadiness({
    database: async () => {
      asked += 1;
      return { ok: true };
    },
  });
  await Promise.all(Array.from({ length: 100 }, isReady));
  expect(asked).toBe(1);
});

test("a change of the failed parts is reported once", async () => {
  const changes: string[] = [];
  let isUp = false;
  const check: Check = async () => ({ ok: isUp });
  const isReady = createReadiness(
    { database: check, ledger: check, outbox: succeed },
    { onChange: (failed) => changes.push(failed.join()), sharedMs: 0 },
  );
  for (const next of [false, false, true, true]) {
    isUp = next;
    await isReady();
  }
  expect(changes).toEqual(["database,ledger", ""]);
});

test("a scrape shows each part of /readyz, and the free space of the outbox's disk while it can be read", async () => {
  const dataFolder = tempFolder();
  const metricsListen = { host: "127.0.0.1", port: 0 };
  const gateway = await startTestGateway({ config: { dataFolder, metricsListen } });
  const scrape = async () =>
    readSamples(await (await fetch(`http://${gateway.tollgate.metricsAddress}/metrics`)).text());
  const ready = (samples: ReadonlyMap<string, number>) =>
    ["database", "ledger", "limiter", "outbox"].map((check) =>
      samples.get(`tollgate_ready{check="${check}"}`),
    );

  await until(async () => ready(await scrape()).join() === "1,1,1,1");
  expect((await scrape()).get("tollgate_outbox_free_bytes")).toBeGreaterThan(0);

  renameSync(join(dataFolder, "journal"), join(dataFolder, "away"));
  await until(async () => ready(await scrape()).join() === "1,1,1,0");
  expect((await scrape()).has("tollgate_outbox_free_bytes")).toBe(false);

  renameSync(join(dataFolder, "away"), join(dataFolder, "journal"));
  await until(async () => ready(await scrape()).join() === "1,1,1,1");
  await gateway.stop();
});
