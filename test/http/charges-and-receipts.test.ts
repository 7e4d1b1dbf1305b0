import { describe, expect, test } from "bun:test";
import type { Cause } from "../../src/errors.ts";
import type { ChargeSource, HoldState } from "../../src/ledger/ledger.ts";
import { dataOf, objectOf, post, SURFACES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import type { ModelOutput } from "../support/model-output.ts";
import { answer, resetAtOnce, type Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";

const gateway = gatewayForTests();

/** 11 input tokens at 1,000 nano-USD and 7 output tokens at 2,000. */
const REPORTED = 25_000n;

interface Row {
  readonly name: string;
  readonly script: Script;
  readonly stream?: boolean;
  /** The cause of the error that the client gets; `undefined` for a success. */
  readonly cause?: Cause;
  readonly state: HoldState;
  readonly source: ChargeSource;
  readonly charge: bigint | "some";
  readonly outcome: string;
}

const hello = (more: Partial<ModelOutput> = {}): Script =>
  answerWith({ text: "Hello there, friend.", usage: { input: 11, output: 7 }, ...more });
const settled = { state: "settled", source: "reported" } as const;
const released = { state: "released", source: "none", charge: 0n } as const;
const estimated = { state: "settled", source: "estimated", charge: "some", outcome: "ok" } as const;

const ROWS: readonly Row[] = [
  { name: "finished with usage", script: hello(), ...settled, charge: REPORTED, outcome: "ok" },
  {
    name: "finished with a usage of zero",
    script: hello({ usage: { input: 0, output: 0 } }),
    ...settled,
    charge: 0n,
    outcome: "ok",
  },
  {
    name: "finished with more input than was held for",
    script: hello({ usage: { input: 150_000, output: 7 } }),
    ...settled,
    charge: 150_014_000n,
    outcome: "ok",
  },
  { name: "finished without usage", script: hello({ usage: undefined }), ...estimated },
  { name: "finished with negative usage", script: hello({ usage: { input: -5, output: 7 } }), ...estimated },
  {
    name: "finished with a fraction of a token",
    script: hello({ usage: { input: 11, output: 7.5 } }),
    ...estimated,
  },
  {
    name: "finished with more input than fits the context",
    script: hello({ usage: { input: 700_000, output: 7 } }),
    ...estimated,
    charge: 200_014_000n,
    outcome: "ok",
  },
  {
    name: "finished with far more output than its limit",
    script: hello({ usage: { input: 11, output: 5_000 } }),
    ...estimated,
    // Providers count differently: up to a tenth above the limit is accepted.
    charge: 11_000n + 1_100n * 2_000n,
    outcome: "ok",
  },
  {
    name: "failed before output",
    script: resetAtOnce,
    cause: "upstream_unavailable",
    ...released,
    outcome: "upstream_unavailable",
  },
  {
    name: "was rejected by the upstream",
    script: answer({ status: 400, body: '{"error":{"message":"no"}}' }),
    cause: "rejected_by_upstream",
    ...released,
    outcome: "invalid_request",
  },
  {
    name: "was empty with usage",
    script: answerWith({ usage: { input: 11, output: 7 } }),
    cause: "empty_charged",
    ...settled,
    charge: REPORTED,
    outcome: "empty_completion",
  },
  {
    name: "was empty without usage",
    script: answerWith({}),
    cause: "empty_released",
    ...released,
    outcome: "empty_completion",
  },
];

describe.each(SURFACES)("an answer on $path", (surface) => {
  describe.each([false, true])("(streamed: %p)", (stream) => {
    test.each([...ROWS])(
      "is charged correctly when it $name",
      async ({ script, cause, state, source, charge, outcome }) => {
        const before = await gateway.balances();
        gateway.upstream.on(surface.model, script);
        const response = await post(gateway, surface, { stream });
        if (cause) await expectError(response, surface, cause);
        else {
          expect(response.status).toBe(200);
          await response.text();
        }
        const receipt = await gateway.receiptOf(response);
        expect(receipt).toMatchObject({ state, outcome: { outcome, source }, late: false });
        if (charge === "some") expect(receipt.captured).toBeGreaterThan(0n);
        else expect(receipt.captured).toBe(charge);
        const after = await gateway.balances();
        expect(after).toMatchObject({ held: 0n, posted: before.posted - receipt.captured });
        if (source === "none") expect(receipt.outcome?.attempts).toHaveLength(1);
      },
    );

    test("with reasoning alone is empty, and is charged as reported", async () => {
      gateway.upstream.on(
        surface.model,
        answerWith({ reasoning: "Let me think.", usage: { input: 11, output: 7 } }),
      );
      const response = await post(gateway, surface, { stream });
      if (!stream) await expectError(response, surface, "empty_charged");
      else {
        expect(response.status).toBe(200);
        expect((await dataOf(response)).at(-1)).toMatchObject({ error: { type: expect.any(String) } });
      }
      const receipt = await gateway.receiptOf(response);
      expect(receipt).toMatchObject({ captured: REPORTED, outcome: { outcome: "empty_completion" } });
    });

    test("with a tool call and no text is a success", async () => {
      const tool = { name: "look_up", arguments: '{"city":"Oslo"}' };
      gateway.upstream.on(surface.model, answerWith({ tool, usage: { input: 11, output: 7 } }));
      const response = await post(gateway, surface, { stream });
      expect(response.status).toBe(200);
      await response.text();
      expect((await gateway.receiptOf(response)).captured).toBe(REPORTED);
    });
  });

  test("without usage is charged by a count of its text, whole or streamed", async () => {
    gateway.upstream.on(surface.model, hello({ usage: undefined }));
    const usages = [];
    for (const stream of [false, true]) {
      const response = await post(gateway, surface, { stream });
      await response.text();
      usages.push((await gateway.receiptOf(response)).outcome?.usage);
    }
    expect(usages[0]).toEqual(usages[1]);
    expect(usages[0]).toMatchObject({ outputTokens: 5 });
    expect(usages[0]?.inputTokens).toBeWithin(3, 12);
  });

  test("that costs more than its hold is charged in full and may overdraw the wallet", async () => {
    const { secret, key } = await gateway.newPayer("0.01");
    gateway.upstream.on(surface.model, hello({ usage: { input: 150_000, output: 7 } }));
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    expect((await gateway.balances(key.accountId)).posted).toBe(10_000_000n - 150_014_000n);
    await expectError(await post(gateway, surface, { secret }), surface, "wallet_empty");
  });
});

describe("a receipt", () => {
  const read = (id: string, secret: string) =>
    fetch(`${gateway.url}/v1/receipts/${id}`, { headers: { authorization: `Bearer ${secret}` } });

  test.each(SURFACES)(
    "of $path reports key, surface, model, price, tokens, charge and attempts",
    async (surface) => {
      const response = await post(gateway, surface);
      const id = response.headers.get("x-request-id") ?? "";
      expect(await objectOf(await read(id, gateway.secret))).toMatchObject({
        request_id: id,
        state: "settled",
        surface: surface.name,
        model: surface.model,
        upstream: `scripted-${surface.name === "chat" ? "openai" : "anthropic"}`,
        outcome: "ok",
        charged_usd: "0.000025",
        charge_source: "reported",
        usage: { input_tokens: 11, output_tokens: 7, cached_input_tokens: 0 },
        price_usd_per_million_tokens: { input: "1.00", output: "2.00" },
        attempts: [{ status: 200 }],
      });
    },
  );

  test("is not found by another account, or by an id that does not exist", async () => {
    const response = await post(gateway, SURFACES[0]);
    const id = response.headers.get("x-request-id") ?? "";
    const stranger = await gateway.newPayer("1");
    await expectError(await read(id, stranger.secret), SURFACES[0], "unknown_receipt");
    for (const wrong of ["x", "01a1fcb8-617b-7027-9aa9-28f5cbc8cb23", "'%20OR%201=1", "%00", "..%2fkey"]) {
      await expectError(await read(wrong, gateway.secret), SURFACES[0], "unknown_receipt");
    }
    await expectError(await read(id, "sk-tg-wrong"), SURFACES[0], "unknown_key");
  });

  test("does not exist for a request without a hold", async () => {
    const { secret, key } = await gateway.newPayer("0");
    const refused = await post(gateway, SURFACES[0], { secret });
    expect(refused.status).toBe(402);
    await expect(gateway.receiptOf(refused, key.accountId)).rejects.toThrow("no receipt");
  });
});

test("the log marks a usage report that cannot be counted, and only such a report", async () => {
  const lineOf = (response: Response) =>
    gateway.log.about(response.headers.get("x-request-id") ?? "").find(({ event }) => event === "request");
  gateway.upstream.on("chat", answerWith({ text: "Hello.", usage: { input: 11, output: -1 } }), hello());
  expect(lineOf(await post(gateway, SURFACES[0]))).toMatchObject({ disbelieved: true });
  expect(lineOf(await post(gateway, SURFACES[0]))).not.toHaveProperty("disbelieved");
});
