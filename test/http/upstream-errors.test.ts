import { afterAll, beforeAll, beforeEach, describe, test } from "bun:test";
import { post, SURFACES, type Surface } from "../support/client.ts";
import type { ErrorCase } from "../support/error-case.ts";
import { expectError } from "../support/expect-error.ts";
import { says } from "../support/says.ts";
import { answer, garbage, resetAtOnce, type Script, silence } from "../support/script.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  const hasty = { connectMs: 5_000, firstOutputMs: 120, idleMs: 120, totalMs: 400 };
  gateway = await startTestGateway({
    models: SURFACES.flatMap(({ model, name }) => {
      const protocol = name === "chat" ? "openai" : "anthropic";
      const via = (upstream: string) => ({ routes: [scriptedRoute(`${upstream}-${protocol}`, model)] });
      return [
        scriptedModel(model, protocol),
        scriptedModel(`${model}-hasty`, protocol, via("hasty")),
        scriptedModel(`${model}-dead`, protocol, via("dead")),
      ];
    }),
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("hasty-openai", "openai", { baseUrl: scripted.openaiUrl, timeouts: hasty }),
      scriptedUpstream("hasty-anthropic", "anthropic", { baseUrl: scripted.anthropicUrl, timeouts: hasty }),
      scriptedUpstream("dead-openai", "openai", {}),
      scriptedUpstream("dead-anthropic", "anthropic", {}),
    ],
  });
});
beforeEach(() => gateway.upstream.reset());
afterAll(() => gateway.stop());

function play(surface: Surface, script: Script, more: Record<string, unknown> = {}) {
  gateway.upstream.on(surface.model, script);
  return more;
}

const refuses = (status: number, message = "no") =>
  answer({ status, body: JSON.stringify({ type: "error", error: { message, type: "x", code: "y" } }) });

const UPSTREAM_CASES: readonly ErrorCase[] = [
  ...[400, 422].map(
    (status): ErrorCase => [
      `an upstream that says ${status}`,
      (surface) => play(surface, refuses(status)),
      "rejected_by_upstream",
    ],
  ),
  ...[301, 302, 401, 402, 403, 404, 405, 408, 409, 418, 425, 429, 500, 501, 502, 503, 504, 529].map(
    (status): ErrorCase => [
      `an upstream that says ${status}`,
      (surface) => play(surface, refuses(status)),
      "upstream_unavailable",
    ],
  ),
  ["an upstream that says 413", (surface) => play(surface, refuses(413)), "rejected_by_upstream"],
  [
    "a prompt too long, by Anthropic's words",
    (surface) => play(surface, refuses(400, "prompt is too long: 201234 tokens > 199999 maximum")),
    "prompt_too_long",
    "prompt is too long: 201234 tokens > 200000 maximum",
  ],
  [
    "an upstream that cannot be reached",
    (surface) => ({ model: `${surface.model}-dead` }),
    "upstream_unavailable",
  ],
  ["a reset", (surface) => play(surface, resetAtOnce), "upstream_unavailable"],
  ["garbage", (surface) => play(surface, garbage("\x16\x03\x01 no HTTP\r\n")), "upstream_unavailable"],
  [
    "a 200 with HTML",
    (surface) => play(surface, answer({ body: "<html>", headers: { "content-type": "text/html" } })),
    "upstream_unavailable",
  ],
  [
    "a 200 with an error",
    (surface) => play(surface, answer({ body: '{"error":{"message":"x"}}' })),
    "upstream_unavailable",
  ],
  ["a 200 without anything", (surface) => play(surface, answer({ body: "{}" })), "upstream_unavailable"],
  [
    "a whole answer cut off",
    (surface) => play(surface, says(undefined, { cutAt: 30, end: "reset" })),
    "upstream_unavailable",
  ],
  [
    "a whole answer that takes too long",
    (surface) => play(surface, silence, { model: `${surface.model}-hasty` }),
    "upstream_total_timeout",
  ],
  [
    "an empty answer with usage",
    (surface) => play(surface, says({ text: "", usage: { input: 3, output: 4 } })),
    "empty_charged",
  ],
  ["an empty answer without usage", (surface) => play(surface, says({ text: "" })), "empty_released"],
];

/** What a stream that has not been opened yet answers in the same way as a whole answer, and its own. */
const STREAM_CASES: readonly ErrorCase[] = [
  ["a reset", (surface) => play(surface, resetAtOnce), "upstream_unavailable"],
  ["an upstream that says 500", (surface) => play(surface, refuses(500)), "upstream_unavailable"],
  ["an upstream that says 400", (surface) => play(surface, refuses(400)), "rejected_by_upstream"],
  ["silence", (surface) => play(surface, silence, { model: `${surface.model}-hasty` }), "upstream_timeout"],
  [
    "a stream without a frame",
    (surface) => play(surface, answer({ body: "", headers: { "content-type": "text/event-stream" } })),
    "upstream_unavailable",
  ],
  [
    "an error as the first frame",
    (surface) =>
      play(
        surface,
        answer({
          headers: { "content-type": "text/event-stream" },
          body: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n',
        }),
      ),
    "upstream_unavailable",
  ],
  [
    "a finish without output but with usage",
    (surface) => play(surface, says({ usage: { input: 3, output: 4 } })),
    "empty_charged",
  ],
  ["a finish without output or usage", (surface) => play(surface, says({})), "empty_released"],
];

describe.each(SURFACES)("$path", (surface) => {
  const expectCase = async ([, arrange, cause, message]: ErrorCase, stream: boolean) => {
    const response = await post(gateway, surface, { ...(await arrange(surface)), stream });
    await expectError(response, surface, cause, message === undefined ? {} : { message });
  };

  test.each(UPSTREAM_CASES)("answers for %s", (...each: ErrorCase) => expectCase(each, false));

  test.each(STREAM_CASES)("answers a stream with a status for %s", (...each: ErrorCase) =>
    expectCase(each, true),
  );
});
