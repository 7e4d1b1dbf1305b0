import { answer, type Script, type ScriptRequest } from "../../support/script.ts";
import type { Fault } from "./fault.ts";
import { LINGER_MS, secrets } from "./fault-scripts.ts";
import { failsFinally, failsOver } from "./outcomes.ts";

const FAILS_OVER = [401, 402, 403, 404, 405, 408, 409, 410, 418, 425, 429, 500, 501, 502, 503, 504, 529, 599];

/** Values of retry-after. None of them makes a client wait. */
const PAUSES = ["0", "1", "99999999999999999999", "-5", "soon", "Fri, 31 Dec 9999 23:59:59 GMT"];

/** Error answers full of canaries, with every status but success. */
export const STATUS_FAULTS: readonly Fault[] = [
  ...FAILS_OVER.map(
    (status): Fault => ({
      name: `status ${status}`,
      scripts: [answer(secrets.refusal(status))],
      expected: failsOver(status),
    }),
  ),
  ...[400, 422].map(
    (status): Fault => ({
      name: `status ${status}`,
      scripts: [answer(secrets.refusal(status))],
      expected: failsFinally(status, "rejected_by_upstream"),
    }),
  ),
  {
    name: "status 413",
    scripts: [answer(secrets.refusal(413))],
    expected: failsOver(413, "rejected_by_upstream"),
  },
  ...PAUSES.flatMap((pause) =>
    [429, 503].map(
      (status): Fault => ({
        name: `status ${status} with retry-after ${pause.replaceAll(/\W+/g, " ")}`,
        scripts: [answer({ ...secrets.refusal(status), headers: { "retry-after": pause } })],
        expected: failsOver(status),
      }),
    ),
  ),
  {
    name: "status 429 without a word",
    scripts: [answer({ status: 429, body: "" })],
    expected: failsOver(429),
  },
  tooLong("a prompt too long", "prompt is too long: 201234 tokens > 199999 maximum"),
  {
    ...tooLong(
      "a prompt too long in words of openai",
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 201234 tokens.",
    ),
    surfaces: ["chat"],
  },
  {
    name: "a refusal that is cut",
    scripts: [answer({ ...secrets.refusal(400), cutAt: 20, end: "close", lingerMs: LINGER_MS })],
    expected: failsFinally(400, "rejected_by_upstream"),
  },
  ...[301, 302, 307, 308].map(
    (status): Fault => ({
      name: `redirect ${status}`,
      scripts: [redirects(status)],
      expected: failsOver(status),
    }),
  ),
  { name: "status 204", scripts: [answer({ status: 204, body: "" })], expected: failsOver(204) },
];

/** Only the number of tokens reaches the client. */
function tooLong(name: string, words: string): Fault {
  const message = `${secrets.next("before")} ${words} ${secrets.next("after")}`;
  return {
    name,
    scripts: [answer({ ...secrets.refusal(400), body: JSON.stringify({ error: { message } }) })],
    expected: {
      ...failsFinally(400, "prompt_too_long"),
      message: "prompt is too long: 201234 tokens > 200000 maximum",
    },
  };
}

/** The path of a redirect target, which identifies a call that followed it. */
export const ELSEWHERE = "/elsewhere";

/** Redirects to another host name of the same port, where the upstream listens. */
function redirects(status: number): Script {
  return (request: ScriptRequest) => {
    const location = `http://localhost:${new URL(`http://${request.headers.host}`).port}${ELSEWHERE}`;
    return answer({ ...secrets.refusal(status), headers: { location } })(request);
  };
}
