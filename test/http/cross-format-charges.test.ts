import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../src/domain/usage.ts";
import type { Cause } from "../../src/errors.ts";
import type { Receipt } from "../../src/ledger/records.ts";
import { dataOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import {
  answerNeutrally,
  FORMAT_PAIRS,
  postTo,
  readReply,
  TRANSLATED_PAIRS,
} from "../support/format-pairs/format-pair.ts";
import { type NeutralAnswer, nanosOf, neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, gate, resetAtOnce, type Script } from "../support/script.ts";

const gateway = gatewayForTests();

const USAGE = { input: 10, cached: 4, written: 3, output: 7 };
const call = { id: "call_1", name: "look_up", input: {} };

interface Row {
  readonly name: string;
  readonly script: Script;
  /** The cause of the error that the client gets; `undefined` for a success. */
  readonly cause?: Cause;
  readonly source: "reported" | "estimated" | "none";
  readonly charge: bigint | "some";
  readonly outcome: string;
}

const paid = { source: "reported", charge: nanosOf(USAGE) } as const;
const free = { source: "none", charge: 0n } as const;
const answerUsage = (more: Partial<NeutralAnswer>) =>
  answerNeutrally(neutralAnswer({ usage: USAGE, ...more }));
const nothing = { text: "", reasoning: "" };

const ROWS: readonly Row[] = [
  { name: "an answer with usage of every class", script: answerUsage({}), ...paid, outcome: "ok" },
  {
    name: "a tool call alone",
    script: answerUsage({ text: "", calls: [call], finish: "tool_calls" }),
    ...paid,
    outcome: "ok",
  },
  {
    name: "a refusal alone",
    script: answerUsage({ text: "", refusal: "No.", finish: "content_filter" }),
    ...paid,
    outcome: "ok",
  },
  {
    name: "a filtered answer without a word",
    script: answerUsage({ text: "", finish: "content_filter" }),
    ...paid,
    outcome: "ok",
  },
  {
    name: "an answer without usage",
    script: answerUsage({ usage: undefined }),
    source: "estimated",
    charge: "some",
    outcome: "ok",
  },
  {
    name: "an impossible usage",
    script: answerUsage({ usage: { ...USAGE, cached: 1_000_000 } }),
    source: "estimated",
    charge: "some",
    outcome: "ok",
  },
  {
    name: "an empty answer with usage",
    script: answerUsage(nothing),
    cause: "empty_charged",
    ...paid,
    outcome: "empty_completion",
  },
  {
    name: "an empty answer without usage",
    script: answerUsage({ ...nothing, usage: undefined }),
    cause: "empty_released",
    ...free,
    outcome: "empty_completion",
  },
  {
    name: "an empty answer cut off by the token limit",
    script: answerUsage({ ...nothing, finish: "length" }),
    cause: "empty_charged",
    ...paid,
    outcome: "empty_completion",
  },
  {
    name: "a reset",
    script: resetAtOnce,
    cause: "upstream_unavailable",
    ...free,
    outcome: "upstream_unavailable",
  },
  {
    name: "an answer in the client's own format",
    script: (request) =>
      answerUsage({})({ ...request, protocol: request.protocol === "openai" ? "anthropic" : "openai" }),
    cause: "upstream_unavailable",
    ...free,
    outcome: "upstream_unavailable",
  },
];

describe.each(TRANSLATED_PAIRS)("a $surface.name client of an $upstream upstream", (pair) => {
  describe.each([false, true])("(streamed: %p)", (stream) => {
    test.each([...ROWS])(
      "is charged correctly for $name",
      async ({ script, cause, source, charge, outcome }) => {
        const before = await gateway.balances();
        gateway.upstream.on(pair.model, script);
        const response = await postTo(gateway, pair, { stream });
        if (cause) await expectError(response, pair.surface, cause);
        else {
          expect(response.status).toBe(200);
          await response.text();
        }
        const receipt = await gateway.receiptOf(response);
        expect(receipt.outcome).toMatchObject({ outcome, source });
        if (charge === "some") expect(receipt.captured).toBeGreaterThan(0n);
        else expect(receipt.captured).toBe(charge);
        const after = await gateway.balances();
        expect(after).toMatchObject({ held: 0n, posted: before.posted - receipt.captured });
      },
    );

    test("is charged for reasoning alone, which is an empty answer", async () => {
      gateway.upstream.on(pair.model, answerUsage({ text: "", reasoning: "Let me think." }));
      const thinking =
        pair.surface.name === "messages" ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {};
      const response = await postTo(gateway, pair, { stream, ...thinking });
      if (!stream) await expectError(response, pair.surface, "empty_charged");
      else {
        expect(response.status).toBe(200);
        expect((await dataOf(response)).at(-1)).toMatchObject({ error: { type: expect.any(String) } });
      }
      const receipt = await gateway.receiptOf(response);
      expect(receipt).toMatchObject({ captured: nanosOf(USAGE), outcome: { outcome: "empty_completion" } });
    });

    test("is charged for the received part of an answer that breaks off", async () => {
      const text = "word ".repeat(400);
      const cutAt = stream ? 9_000 : 1_000;
      gateway.upstream.on(
        pair.model,
        answerNeutrally(neutralAnswer({ text, usage: USAGE }), { cutAt, end: "close", lingerMs: 1_000 }),
      );
      const response = await postTo(gateway, pair, { stream });
      if (!stream) return expectError(response, pair.surface, "upstream_unavailable");
      const [first, last] = await firstAndLast(response);
      expect(first).not.toHaveProperty("error");
      expect(last).toHaveProperty("error");
      const { captured, outcome } = await gateway.receiptOf(response);
      expect(outcome).toMatchObject({ outcome: "upstream_unavailable", source: "estimated" });
      expect(captured).toBeGreaterThan(nanosOf({ ...USAGE, input: 0, output: 10 }));
    });
  });

  test("case 40: pays for the received part when it disconnects, and the upstream call is cancelled", async () => {
    const { opened, open } = gate();
    const pauseAt = { bytes: 2_000, gate: opened };
    const text = "word ".repeat(400);
    gateway.upstream.on(pair.model, answerNeutrally(neutralAnswer({ text, usage: USAGE }), { pauseAt }));
    const controller = new AbortController();
    const response = await postTo(gateway, pair, { stream: true, signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await gateway.upstream.seen[0]?.over;
    expect(gateway.upstream.seen[0]?.disconnectedAtMs).toBeNumber();
    open();
    while (!isLogged(response)) await Bun.sleep(2);
    const { captured, outcome } = await gateway.receiptOf(response);
    expect(outcome).toMatchObject({ outcome: "client_closed", source: "estimated" });
    expect(captured).toBeGreaterThan(0n);
  });
});

/** Whether the request has ended and is settled. */
function isLogged({ headers }: Response): boolean {
  return gateway.log.about(headers.get("x-request-id") ?? "").some(({ event }) => event === "request");
}

async function firstAndLast(response: Response) {
  const frames = await dataOf(response);
  return [frames[0], frames.at(-1)];
}

describe("for every pair of formats", () => {
  test.each(FORMAT_PAIRS)(
    "$surface.name to $upstream takes the right hold, charge and cost headers",
    async (pair) => {
      const { surface, model, upstream } = pair;
      gateway.upstream.on(model, answerUsage({}));
      const before = await gateway.balances();
      const response = await postTo(gateway, pair, { max_tokens: 100 });
      const asked = JSON.stringify(surface.body({ model, stream: false, max_tokens: 100 }));
      const sent = gateway.upstream.seen.at(-1)?.bodyText ?? "";
      const bytes = Math.max(Buffer.byteLength(asked), pair.isTranslated ? Buffer.byteLength(sent) : 0);
      await response.text();
      const receipt: Receipt = await gateway.receiptOf(response);
      // 2,000 nano-USD per input token, the highest rate, and per output token.
      expect(receipt.granted).toBe(BigInt(Math.ceil(bytes / 2)) * 2_000n + 200_000n);
      expect(receipt).toMatchObject({
        state: "settled",
        captured: nanosOf(USAGE),
        request: { surface: surface.name, model },
        outcome: {
          outcome: "ok",
          upstream: `scripted-${upstream}`,
          upstreamModel: model,
          usage: { ...NO_USAGE, inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 3, outputTokens: 7 },
        },
      });
      expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.00002815");
      expect(Number(response.headers.get("x-tollgate-balance-usd"))).toBeCloseTo(
        Number(before.posted - receipt.captured) / 1e9,
        9,
      );
    },
  );

  test.each(FORMAT_PAIRS)(
    "$surface.name to $upstream gets an output limit when the client sets none",
    async (pair) => {
      for (const stream of [false, true]) {
        const response = await postTo(gateway, pair, { max_tokens: undefined, stream });
        await response.text();
        expect(response.headers.get("x-tollgate-max-tokens")).toBe("1000");
        const sent = JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "");
        expect(sent.max_tokens ?? sent.max_completion_tokens).toBe(1_000);
      }
    },
  );

  test("an answer without usage is counted equally", async () => {
    const usages = [];
    // Five words, whose count equals their estimate. A busy gateway may estimate.
    for (const pair of FORMAT_PAIRS) {
      for (const stream of [false, true]) {
        gateway.upstream.on(pair.model, answerUsage({ usage: undefined }));
        const response = await postTo(gateway, pair, { stream });
        await response.text();
        usages.push((await gateway.receiptOf(response)).outcome?.usage);
      }
    }
    expect(usages[0]).toMatchObject({ outputTokens: 5 });
    expect(new Set(usages.map((usage) => JSON.stringify(usage))).size).toBe(1);
  });

  test("an answer without usage reaches the client", async () => {
    for (const pair of FORMAT_PAIRS) {
      gateway.upstream.on(pair.model, answerUsage({ usage: undefined }));
      const whole = await readReply(await postTo(gateway, pair), pair);
      expect(whole).toMatchObject({ text: "Hello there, friend.", finish: "stop" });
    }
  });

  test("a rejected request is a client error with a message of the gateway", async () => {
    for (const pair of FORMAT_PAIRS) {
      gateway.upstream.on(pair.model, answer({ status: 422, body: '{"detail":"no"}' }));
      await expectError(await postTo(gateway, pair), pair.surface, "rejected_by_upstream");
    }
  });
});
