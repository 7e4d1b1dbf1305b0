import { describe, expect, test } from "bun:test";
import { createCanaries } from "../support/canaries.ts";
import { expectError } from "../support/expect-error.ts";
import {
  postTo,
  providerAnswerOf,
  readReply,
  replay,
  TRANSLATED_PAIRS,
} from "../support/format-pairs/format-pair.ts";
import { neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";

const gateway = gatewayForTests();

const secrets = createCanaries();
const oslo = { id: "call_of_upstream", name: "get_weather", input: { city: "Oslo" } };
const answers = neutralAnswer({
  reasoning: "Hm.",
  text: "I will look.",
  calls: [oslo],
  finish: "tool_calls",
});

/** The answer with canaries in every member that only the provider sets. */
function marked(lines: readonly string[]): string[] {
  return lines.map((line) =>
    line
      .replaceAll(
        /"(chatcmpl-scripted|msg_scripted|upstream-secret-name)"/g,
        () => `"${secrets.next("head")}"`,
      )
      .replace(/^\{/, () => {
        const [one, two, three] = ["fingerprint", "tier", "unknown"].map(secrets.next);
        return `{"system_fingerprint":"${one}","service_tier":"${two}","x_host":{"id":"${three}"},`;
      }),
  );
}

describe.each(TRANSLATED_PAIRS)("a $surface.name client of an $upstream upstream", (pair) => {
  test("sees no name, id or header of an upstream answer, and gets the ids of tool calls", async () => {
    const { whole, lines } = providerAnswerOf(pair.upstream, answers);
    const original = { whole: JSON.parse(marked([JSON.stringify(whole)])[0] ?? ""), lines: marked(lines) };
    const headers = { "x-request-id": secrets.next("id"), "set-cookie": secrets.next("cookie") };
    for (const stream of [false, true]) {
      gateway.upstream.on(pair.model, replay(original, { headers }));
      const response = await postTo(gateway, pair, { stream });
      const copy = response.clone();
      expect((await readReply(response, pair)).calls).toEqual([oslo]);
      secrets.expectNone(`${await copy.text()}${JSON.stringify([...copy.headers])}`);
    }
  });

  test.each([
    [400, "rejected_by_upstream"],
    [422, "rejected_by_upstream"],
    [413, "rejected_by_upstream"],
    [401, "upstream_unavailable"],
    [402, "upstream_unavailable"],
    [403, "upstream_unavailable"],
    [404, "upstream_unavailable"],
    [409, "upstream_unavailable"],
    [429, "upstream_unavailable"],
    [500, "upstream_unavailable"],
    [529, "upstream_unavailable"],
  ] as const)("cases 20 to 22: sees nothing of an upstream error with status %p", async (status, cause) => {
    for (const stream of [false, true]) {
      gateway.upstream.on(pair.model, answer(secrets.refusal(status)));
      const response = await postTo(gateway, pair, { stream });
      secrets.expectNone(`${await response.clone().text()}${JSON.stringify([...response.headers])}`);
      await expectError(response, pair.surface, cause);
    }
  });

  test.each([
    ["a page", "<html><body>Bad gateway</body></html>", 502],
    ["nothing", "", 503],
    ["a page with status 200", "<html></html>", 200],
  ])("case 23: gets an upstream error for %s in place of JSON", async (_name, body, status) => {
    for (const stream of [false, true]) {
      gateway.upstream.on(pair.model, answer({ status, body, headers: { "content-type": "text/html" } }));
      await expectError(await postTo(gateway, pair, { stream }), pair.surface, "upstream_unavailable");
    }
  });

  test("sees nothing of an error event in a stream", async () => {
    const error = {
      type: secrets.next("type"),
      message: secrets.next("message"),
      code: secrets.next("code"),
    };
    const { lines, whole } = providerAnswerOf(pair.upstream, answers);
    const broken = [...lines.slice(0, 5), JSON.stringify({ type: "error", error })];
    gateway.upstream.on(pair.model, replay({ whole, lines: broken }));
    const response = await postTo(gateway, pair, { stream: true });
    const text = await response.text();
    expect(text).toContain("upstream_unavailable");
    secrets.expectNone(text);
  });

  test("sends the upstream none of its own headers and key", async () => {
    const headers = {
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "of-the-client",
      "openai-organization": "of-the-client",
      cookie: "of-the-client",
      "x-stainless-lang": "of-the-client",
    };
    await (await postTo(gateway, pair, { headers })).text();
    const [request] = gateway.upstream.seen;
    const sent = request?.headers ?? {};
    expect(JSON.stringify([sent, request?.target])).not.toContain("of-the-client");
    expect(JSON.stringify(sent)).not.toContain(gateway.secret);
    if (pair.upstream === "openai") expect(sent.authorization).toBe("Bearer provider-secret");
    else expect(sent).toMatchObject({ "x-api-key": "provider-secret", "anthropic-version": "2023-06-01" });
  });
});

test("no log line contains a canary of an upstream answer", () => secrets.expectNone(gateway.log.text()));
