import { expect } from "bun:test";
import type { TestGateway } from "../../support/test-gateway.ts";
import { outcomeCode } from "./outcomes.ts";
import type { Played } from "./play-cell.ts";
import { secrets } from "./speak.ts";

/** Clocks are read apart, and timers may fire a millisecond early. */
const GRAIN_MS = 3;

/** Checks each attempt where it leaves a trace: on the receipt, at the upstream and in the log. */
export async function expectAttempts(gateway: TestGateway, played: Played): Promise<void> {
  await expectReceipt(gateway, played);
  await expectCalls(gateway, played);
  expectLog(gateway, played);
}

async function expectReceipt(gateway: TestGateway, played: Played): Promise<void> {
  const { response, payer, cell, first, last, ms } = played;
  const { outcome } = await gateway.receiptOf(response, payer.accountId);
  const attempts = outcome?.attempts ?? [];
  const rescue = { upstream: cell.reserve, status: 200, ms: expect.any(Number) };
  expect(attempts).toEqual([
    { upstream: cell.id, status: first.status, ms: expect.any(Number) },
    ...(last === first ? [] : [rescue]),
  ]);
  expect(attempts[0]?.ms).toBeWithin(Math.max(0, first.takesMs - GRAIN_MS), ms + GRAIN_MS);
  expect(attempts.reduce((sum, attempt) => sum + attempt.ms, 0)).toBeLessThan(ms + GRAIN_MS);
}

/** The upstream saw the call, where it could, and none of them goes on. */
async function expectCalls({ upstream }: TestGateway, { cell, first, last }: Played): Promise<void> {
  const { at, isCut } = cell.scene;
  const seen = upstream.seen.filter(({ model }) => model === cell.id);
  expect(seen).toHaveLength(at ? 0 : 1);
  expect(upstream.seen.filter(({ model }) => model === `${cell.id}.second`)).toHaveLength(
    last === first ? 0 : 1,
  );
  const over = Promise.all(seen.map((call) => call.over)).then(() => "over");
  expect(await Promise.race([over, Bun.sleep(120_000)])).toBe("over");
  if (isCut) expect(seen.map(({ hungUpAtMs }) => hungUpAtMs)).not.toContain(undefined);
}

/** One line for the attempt that failed, with its reason, and one for the request. */
function expectLog({ log }: TestGateway, { response, cell, first, last }: Played): void {
  const lines = log.about(response.headers.get("x-request-id") ?? "");
  secrets.expectNone(JSON.stringify(lines));
  const failures = lines.filter(({ event }) => event === "attempt failed");
  expect(failures).toHaveLength(first.logged ? 1 : 0);
  for (const failure of failures) {
    const { logged: cause, status } = first;
    expect(failure).toMatchObject({ upstream: cell.id, cause, status });
    // A refusal's status and a cause of its own say why; all others need the limit or the fault.
    const isSaid = (status !== 0 && status !== 200) || cause === "answer_too_large";
    if (!isSaid) expect(failure.timeout ?? failure.fault).toBeString();
  }
  expect(lines.filter(({ event }) => event === "request")).toMatchObject([
    {
      surface: cell.surface.name,
      model: cell.id,
      upstream: last === first ? cell.id : cell.reserve,
      attempts: last === first ? 1 : 2,
      outcome: outcomeCode(last),
    },
  ]);
}
