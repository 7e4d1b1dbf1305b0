import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { ServedProcess } from "../support/served-process.ts";
import { until } from "../support/until.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

let fixture: ProcessFixture;
beforeEach(async () => {
  fixture = await openProcessFixture("drain_s: 5");
});
afterEach(() => fixture.close());

/** Sends a request for a model that does not exist. */
async function refuse({ url }: ServedProcess): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${fixture.secret}` },
    body: JSON.stringify({ model: "none", messages: [{ role: "user", content: "x" }] }),
  });
  expect(response.status).toBe(404);
  await response.text();
}

/** The refused requests in the database: their sum, and the gateways that counted. */
function stored(): { sum: number; gateways: number } {
  const client = new Database(join(fixture.folder, "data", "tollgate.db"), { readonly: true });
  const query =
    "SELECT coalesce(sum(count), 0) AS sum, count(DISTINCT gateway_id) AS gateways FROM refused_requests";
  const row = client.query<{ sum: number; gateways: number }, []>(query).get();
  client.close();
  return row ?? { sum: 0, gateways: 0 };
}

async function untilStored(sum: number): Promise<void> {
  const explain = () => `Stored ${stored().sum} of ${sum} refused requests`;
  await until(() => stored().sum >= sum, explain);
}

test("a killed gateway loses only the refused requests since its last write", async () => {
  const gateway = await fixture.serve();
  for (let count = 0; count < 3; count += 1) await refuse(gateway);
  await untilStored(3);
  await refuse(gateway);
  gateway.signal("SIGKILL");
  await gateway.exitCode;
  const before = stored().sum;
  expect(before).toBeWithin(3, 5);
  const next = await fixture.serve();
  await refuse(next);
  next.signal("SIGTERM");
  expect(await next.exitCode).toBe(0);
  expect(stored().sum).toBe(before + 1);
});

test("two gateways on one database count the refused requests of one key together", async () => {
  const [one, other] = await Promise.all([fixture.serve(), fixture.serve()]);
  await Promise.all([one, other].flatMap((gateway) => [refuse(gateway), refuse(gateway), refuse(gateway)]));
  await untilStored(6);
  expect(stored()).toEqual({ sum: 6, gateways: 2 });
});
