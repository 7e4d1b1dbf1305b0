import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { issueKey, type NewKey, revokeKey } from "../../../src/accounts/keys/keys.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { createSseDecoder } from "../../../src/wire/sse.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { gate } from "../../support/script.ts";
import { answerWith } from "../../support/scripted-answers.ts";
import { consoleForTests } from "./open-consoles.ts";

interface PlaygroundEvent {
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads.
  readonly data: any;
}

/** Reads the events of a stream as they come. */
async function* eventsOf(response: Response): AsyncGenerator<PlaygroundEvent> {
  const decoder = createSseDecoder();
  // Without a network between, the body is text.
  for await (const bytes of response.body ?? []) {
    for (const { event, data } of decoder.push(Buffer.from(bytes))) yield { event, data: JSON.parse(data) };
  }
}

async function readAll(response: Response): Promise<readonly PlaygroundEvent[]> {
  const events: PlaygroundEvent[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

const textOf = (events: readonly PlaygroundEvent[], name = "delta") =>
  events.flatMap(({ event, data }) => (event === name ? data.text : [])).join("");

const image = (url: string) => ({ type: "image_url", image_url: { url } });

describe.each(DIALECTS)("the playground on %s", (dialect) => {
  const console = consoleForTests(dialect);
  let account: Account;
  let owner: Actor;
  beforeAll(async () => {
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
    const amount = parseUsd("10");
    await console.parts.ledger.topUp({ walletId: account.id, topUpId: "t", amount });
  });
  beforeEach(() => console.gateway.upstream.reset());

  const newKey = async (more: Partial<NewKey> = {}) =>
    (await issueKey(console.parts, { accountId: account.id, name: "k", ...more })).key;
  const body = (key: string, more: object = {}) => ({
    key,
    model: "chat",
    messages: [{ role: "user", content: "Hi" }],
    ...more,
  });
  const ask = (sent: object, how: { actor?: Actor; signal?: AbortSignal } = {}) =>
    console.open(how.actor ?? owner, "POST", `/accounts/${account.id}/playground`, sent, how);
  const refusalOf = async (response: Response) => {
    const { error } = await response.json();
    return [response.status, error.code];
  };

  test.each(["chat", "claude"])("streams the answer of %s, its cost and its receipt", async (model) => {
    const key = await newKey();
    const output = { text: "One two three.", reasoning: "Hm.", usage: { input: 11, output: 7 } };
    console.gateway.upstream.on(model, answerWith(output));
    const response = await ask(body(key.id, { model, max_tokens: 100, temperature: 0.5 }));
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const events = await readAll(response);
    const requestId = response.headers.get("x-request-id");
    expect(events[0]).toMatchObject({ event: "start", data: { request_id: requestId } });
    expect(Number(events[0]?.data.granted_usd)).toBeGreaterThan(0);
    expect(textOf(events)).toBe("One two three.");
    expect(textOf(events, "reasoning")).toBe("Hm.");
    const last = events.at(-1);
    expect(last?.event).toBe("end");
    expect(last?.data.receipt).toMatchObject({
      id: requestId,
      key_id: key.id,
      model,
      surface: "playground",
      state: "settled",
      outcome: "ok",
      charged_usd: "0.000025",
    });
    expect(events.at(-2)).toEqual({ event: "cost", data: { spent_usd: "0.000025", output_tokens: 7 } });
    const receipt = await console.call(owner, "GET", `/accounts/${account.id}/requests/${requestId}`);
    expect(receipt.json).toEqual(last?.data.receipt);
    const [seen] = console.gateway.upstream.seen;
    expect(JSON.parse(seen?.bodyText ?? "")).toMatchObject({ max_tokens: 100, temperature: 0.5 });
  });

  test("shows what is granted before the model answers, and what is spent while it streams", async () => {
    const key = await newKey();
    const { opened, open } = gate();
    const text = "word ".repeat(200);
    const output = { text, usage: { input: 11, output: 200 } };
    console.gateway.upstream.on("chat", answerWith(output, { pauseAt: { bytes: 9_000, gate: opened } }));
    const events = eventsOf(await ask(body(key.id)));
    const first = (await events.next()).value;
    expect(first?.event).toBe("start");
    const { held } = await console.parts.ledger.balances(account.id);
    expect(parseUsd(first?.data.granted_usd)).toBe(held);
    let spent = 0n;
    for await (const { event, data } of events) {
      if (event === "cost") spent = parseUsd(data.spent_usd);
      if (spent > 0n) break;
    }
    expect(spent).toBeLessThan(held);
    open();
  });

  test("is refused by the limits of the key, like a request of the key itself", async () => {
    const limited = await newKey({ limits: { requestsPerMinute: 1 } });
    await readAll(await ask(body(limited.id)));
    const refused = await ask(body(limited.id));
    expect(refused.headers.get("retry-after")).not.toBeNull();
    expect(await refusalOf(refused)).toEqual([429, "rate_limit_exceeded"]);
    const spendingLimit = { amount: 1n, period: "total" } as const;
    const poor = await newKey({ spendingLimit });
    expect(await refusalOf(await ask(body(poor.id)))).toEqual([402, "spending_limit_exceeded"]);
    const narrow = await newKey({ models: ["claude"] });
    expect(await refusalOf(await ask(body(narrow.id)))).toEqual([403, "forbidden"]);
    expect(await refusalOf(await ask(body(limited.id, { model: "none" })))).toEqual([404, "model_not_found"]);
    expect(console.gateway.upstream.seen).toHaveLength(1);
  });

  test("takes the only slot of the key, so that a second request is refused", async () => {
    const key = await newKey({ limits: { concurrentRequests: 1 } });
    const { opened, open } = gate();
    console.gateway.upstream.on("chat", answerWith(undefined, { gate: opened }));
    const first = await ask(body(key.id));
    expect(await refusalOf(await ask(body(key.id)))).toEqual([429, "concurrency_exceeded"]);
    open();
    expect((await readAll(first)).at(-1)?.event).toBe("end");
  });

  test("is refused with an empty wallet, and nothing reaches the model", async () => {
    const poor = await console.newAccount();
    const payer = await console.newMember(poor.id, "owner");
    const { key } = await issueKey(console.parts, { accountId: poor.id, name: "k" });
    const refused = await console.open(payer, "POST", `/accounts/${poor.id}/playground`, body(key.id));
    expect(refused.headers.get("x-tollgate-needed-usd")).not.toBeNull();
    expect(await refusalOf(refused)).toEqual([402, "insufficient_balance"]);
    expect(console.gateway.upstream.seen).toHaveLength(0);
  });

  test("is refused for a revoked, an expired and a suspended caller", async () => {
    const revoked = await newKey();
    await revokeKey(console.parts, revoked.id);
    const expired = await newKey({ expiresAtMs: 1 });
    for (const { id } of [revoked, expired]) {
      expect(await refusalOf(await ask(body(id)))).toEqual([401, "invalid_api_key"]);
    }
  });

  test("ends with an error and the charge when the key is revoked while it streams", async () => {
    const key = await newKey();
    const { opened, open } = gate();
    const output = { text: "word ".repeat(50), usage: { input: 11, output: 50 } };
    console.gateway.upstream.on("chat", answerWith(output, { pauseAt: { bytes: 2_000, gate: opened } }));
    const events = eventsOf(await ask(body(key.id)));
    for await (const { event } of { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }) {
      if (event === "delta") break;
    }
    await revokeKey(console.parts, key.id);
    let last: PlaygroundEvent | undefined;
    for await (const event of events) last = event;
    open();
    expect(last?.event).toBe("error");
    expect(last?.data.error.code).toBe("invalid_api_key");
    expect(last?.data.receipt).toMatchObject({ state: "settled", outcome: "invalid_api_key" });
    expect(Number(last?.data.receipt.charged_usd)).toBeGreaterThan(0);
    await console.gateway.nothingIsHeld(account.id);
  });

  test("is aborted by its client's disconnect, which is settled", async () => {
    const key = await newKey();
    const { opened, open } = gate();
    console.gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 400, gate: opened } }));
    const abort = new AbortController();
    const response = await ask(body(key.id), { signal: abort.signal });
    const requestId = response.headers.get("x-request-id") ?? "";
    const events = eventsOf(response);
    expect((await events.next()).value?.event).toBe("start");
    await console.gateway.upstream.waitForSeen(1);
    abort.abort();
    await events.return(undefined);
    await console.gateway.nothingIsHeld(account.id);
    open();
    expect(await console.gateway.receiptOf(requestId, account.id)).toMatchObject({
      outcome: { outcome: "client_closed" },
      request: { surface: "playground" },
    });
  });

  test("ends with an error event without a charge when the model fails", async () => {
    const key = await newKey();
    console.gateway.upstream.on("chat", () => [{ leave: "reset" }]);
    const events = await readAll(await ask(body(key.id)));
    expect(events.map(({ event }) => event)).toEqual(["start", "cost", "error"]);
    expect(events.at(-1)?.data).toMatchObject({
      error: { code: "upstream_unavailable" },
      receipt: { charged_usd: "0.00", state: "released" },
    });
  });

  test("is closed to viewers, to keys of others for developers, and to keys of another account", async () => {
    const viewer = await console.newMember(account.id, "viewer");
    const developer = await console.newMember(account.id, "developer");
    const key = await newKey();
    expect(await refusalOf(await ask(body(key.id), { actor: viewer }))).toEqual([403, "forbidden"]);
    expect(await refusalOf(await ask(body(key.id), { actor: developer }))).toEqual([403, "forbidden"]);
    const own = (await issueKey({ ...console.parts, actor: developer }, { accountId: account.id, name: "k" }))
      .key;
    expect((await readAll(await ask(body(own.id), { actor: developer }))).at(-1)?.event).toBe("end");
    const elsewhere = await console.newAccount();
    const { key: foreign } = await issueKey(console.parts, { accountId: elsewhere.id, name: "k" });
    expect(await refusalOf(await ask(body(foreign.id)))).toEqual([404, "model_not_found"]);
  });

  test.each([
    ["without messages", { messages: [] }],
    ["with an unknown role", { messages: [{ role: "robot", content: "x" }] }],
    ["with a result of no call", { messages: [{ role: "tool", content: "x" }] }],
    [
      "with the address of an image",
      { messages: [{ role: "user", content: [image("https://a.example/x.png")] }] },
    ],
    ["with a limit of 0", { max_tokens: 0 }],
    ["with an unknown member", { stop: "x" }],
  ])("a body %s is answered 422", async (_, more) => {
    const key = await newKey();
    expect(await refusalOf(await ask(body(key.id, more)))).toEqual([422, "invalid_request"]);
  });

  test("sends images, tools and results on, and shows the calls of tools", async () => {
    const key = await newKey();
    const tool = { name: "look_up", arguments: '{"city":"Bonn"}' };
    console.gateway.upstream.on("chat", answerWith({ tool, usage: { input: 9, output: 5 } }));
    const tools = [
      { type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } },
    ];
    const messages = [
      { role: "user", content: [{ type: "text", text: "See" }, image("data:image/png;base64,iVBORw0KGgo=")] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "look_up", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "a", content: "sunny" },
    ];
    const events = await readAll(await ask(body(key.id, { messages, tools })));
    const pieces = events.filter(({ event }) => event === "tool_call").map(({ data }) => data);
    expect(pieces.map(({ name }) => name).join("")).toBe("look_up");
    expect(JSON.parse(pieces.map((piece) => piece.arguments).join(""))).toEqual({ city: "Bonn" });
    expect(events.at(-1)?.event).toBe("end");
    const [seen] = console.gateway.upstream.seen;
    expect(JSON.parse(seen?.bodyText ?? "")).toMatchObject({ messages, tools });
  });

  test("leaves one line in the request log, without a secret or a text", async () => {
    const key = await newKey();
    await readAll(await ask(body(key.id, { messages: [{ role: "user", content: "canary-text" }] })));
    const lines = console.gateway.log.text();
    expect(lines).toContain('"surface":"playground"');
    expect(lines).not.toContain("canary-text");
  });
});
