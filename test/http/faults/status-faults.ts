import { answer, type Script, type ScriptRequest } from "../../support/script.ts";
import type { Fault } from "./fault.ts";
import { LINGER_MS, secrets } from "./fault-scripts.ts";
import { movesOn, stays } from "./outcomes.ts";

const MOVES_ON = [401, 402, 403, 404, 405, 408, 409, 410, 418, 425, 429, 500, 501, 502, 503, 504, 529, 599];

/** An asked-for pause never makes a client wait, however long or odd it is. */
const PAUSES = ["0", "1", "99999999999999999999", "-5", "soon", "Fri, 31 Dec 9999 23:59:59 GMT"];

/** Refusals full of secrets, with any status but success. */
export const STATUS_FAULTS: readonly Fault[] = [
  ...MOVES_ON.map(
    (status): Fault => ({
      name: `status ${status}`,
      scripts: [answer(secrets.refusal(status))],
      expected: movesOn(status),
    }),
  ),
  ...[400, 422].map(
    (status): Fault => ({
      name: `status ${status}`,
      scripts: [answer(secrets.refusal(status))],
      expected: stays(status, "rejected_by_upstream"),
    }),
  ),
  {
    name: "status 413",
    scripts: [answer(secrets.refusal(413))],
    expected: movesOn(413, "rejected_by_upstream"),
  },
  ...PAUSES.flatMap((pause) =>
    [429, 503].map(
      (status): Fault => ({
        name: `status ${status} with retry-after ${pause.replaceAll(/\W+/g, " ")}`,
        scripts: [answer({ ...secrets.refusal(status), headers: { "retry-after": pause } })],
        expected: movesOn(status),
      }),
    ),
  ),
  {
    name: "status 429 without a word",
    scripts: [answer({ status: 429, body: "" })],
    expected: movesOn(429),
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
    expected: stays(400, "rejected_by_upstream"),
  },
  ...[301, 302, 307, 308].map(
    (status): Fault => ({
      name: `redirect ${status}`,
      scripts: [redirects(status)],
      expected: movesOn(status),
    }),
  ),
  { name: "status 204", scripts: [answer({ status: 204, body: "" })], expected: movesOn(204) },
];

/** Of what the upstream says, only the number of tokens comes through. */
function tooLong(name: string, words: string): Fault {
  const message = `${secrets.next("before")} ${words} ${secrets.next("after")}`;
  return {
    name,
    scripts: [answer({ ...secrets.refusal(400), body: JSON.stringify({ error: { message } }) })],
    expected: {
      ...stays(400, "prompt_too_long"),
      message: "prompt is too long: 201234 tokens > 200000 maximum",
    },
  };
}

/** The path of a redirect's target, by which a call that follows it would be known. */
export const ELSEWHERE = "/elsewhere";

/** Points to another host name of the same port, where somebody listens. */
function redirects(status: number): Script {
  return (request: ScriptRequest) => {
    const location = `http://localhost:${new URL(`http://${request.headers.host}`).port}${ELSEWHERE}`;
    return answer({ ...secrets.refusal(status), headers: { location } })(request);
  };
}
