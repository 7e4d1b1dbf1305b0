import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../support/otlp/receiver.ts";
import {
  type LedgerProcess,
  type ServedProcess,
  serveLedgerProcess,
  startBesideLedger,
} from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

let receiver: OtlpReceiver;
let ledger: LedgerProcess | undefined;
let gateway: ServedProcess | undefined;
beforeAll(async () => {
  receiver = startOtlpReceiver();
  const folder = tempFolder();
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: "100000" };
  ledger = await serveLedgerProcess({ folder, environment: traces });
  const token = readFileSync(join(folder, "data/ledger-token"), "utf8").trim();
  const remote = { LEDGER_URL: `grpc://${ledger.address}`, LEDGER_TOKEN: token };
  gateway = await startBesideLedger({ folder: tempFolder(), environment: { ...traces, ...remote } });
});
afterAll(async () => {
  // The gateway is undefined when it did not start.
  for (const each of [gateway, ledger]) {
    each?.signal("SIGKILL");
    await each?.exitCode;
  }
  await receiver.stop();
});

test("a request has the commands of a remote ledger in its trace, and SIGTERM exports what waits", async () => {
  const printed = () => gateway?.stderr() ?? "";
  await until(() => printed().includes("sk-tg-"));
  const secret = /sk-tg-[\w-]{43}/.exec(printed())?.[0] ?? "";
  const answer = await fetch(`${gateway?.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": secret },
    body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  for (const each of [gateway, ledger]) {
    each?.signal("SIGTERM");
    expect(await each?.exitCode).toBe(0);
  }
  const id = answer.headers.get("x-request-id");
  const spans = await receiver.trace(({ attributes }) => attributes["tollgate.request_id"] === id);
  const byName = (name: string): ReceivedSpan | undefined => spans.find((span) => span.name === name);
  for (const [verb, method] of [
    ["hold", "CreateHold"],
    ["settle", "SettleHold"],
  ]) {
    const command = byName(`tollgate.ledger.v1.LedgerService/${method}`);
    expect(command).toMatchObject({
      service: "tollgate-ledger",
      kind: "server",
      parentSpanId: byName(verb ?? "")?.spanId,
      attributes: { "rpc.system": "grpc", "rpc.method": method },
    });
  }
  expect(byName("chat demo")?.attributes["tollgate.outcome"]).toBe("ok");
});
