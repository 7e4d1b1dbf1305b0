import { type Cause, ERRORS } from "../../../src/errors.ts";
import type { Surface } from "../../support/client.ts";
import type { ClientView } from "./client-view.ts";
import type { CaseKind, Expectation, Expected, ExpectedCharge, Mode } from "./fault.ts";
import { BROKEN_TEXT, OUTPUT } from "./fault-scripts.ts";

export function expectationOf(expected: Expectation, faultCase: CaseKind): Expected {
  return typeof expected === "function" ? expectationOf(expected(faultCase), faultCase) : expected;
}

export function byMode(rows: Record<Mode, Expectation>): Expectation {
  return ({ mode }) => rows[mode];
}

export function bySurface(rows: Record<Surface["name"], Expectation>): Expectation {
  return ({ surface }) => rows[surface.name];
}

const NOTHING = { shown: undefined, charge: undefined, takesMs: 0 };

/** Fails before any output: free, and another route is called. */
export function failsOver(status: number, cause: Cause = "upstream_unavailable", takesMs = 0): Expected {
  return { ...NOTHING, cause, logged: cause, status, failsOver: true, takesMs };
}

/** Fails before any output, without a failover. */
export function failsFinally(status: number, cause: Cause, takesMs = 0): Expected {
  return { ...NOTHING, cause, logged: cause, status, failsOver: false, takesMs };
}

/** The charge for the usage that the upstream reports. */
export const REPORTED: ExpectedCharge = { source: "reported", input: 11, output: 9 };

/** The charge for a local count: the prompt and the four words of the output. */
export const COUNTED: ExpectedCharge = { source: "estimated", input: 3, output: 4, report: "missing" };

/** A success: by default the whole output with its usual finish. */
export function answers(shown: Partial<ClientView> = {}, charge: ExpectedCharge = REPORTED): Expectation {
  return ({ surface }) => ({
    cause: undefined,
    logged: undefined,
    status: 200,
    failsOver: false,
    shown: { text: OUTPUT.text ?? "", finish: FINISHES[surface.name], error: undefined, ...shown },
    charge,
    takesMs: 0,
  });
}

const FINISHES: Record<Surface["name"], string> = { chat: "stop", messages: "end_turn" };

/**
 * Finished without readable output: no failover, charged if reported. `shown` is what an open stream
 * contained.
 */
export function empty(charge: ExpectedCharge | undefined, shown?: Partial<ClientView>): Expected {
  const cause = charge ? "empty_charged" : "empty_released";
  return { cause, logged: undefined, status: 200, failsOver: false, shown, charge, takesMs: 0 };
}

/** The cause of an error after output was charged. */
const CHARGED = {
  upstream_unavailable: "upstream_broke_charged",
  upstream_timeout: "upstream_timeout_charged",
  upstream_total_timeout: "upstream_total_timeout_charged",
} as const satisfies Partial<Record<Cause, Cause>>;

/** How a stream breaks off. Default: after its third word, because the connection broke. */
interface Break {
  readonly logged?: keyof typeof CHARGED;
  readonly takesMs?: number;
  readonly text?: string;
}

/** Breaks off in a stream. The received part is charged; Anthropic's input as its first event reported it. */
export function breaks({
  logged = "upstream_unavailable",
  takesMs = 0,
  text = BROKEN_TEXT,
}: Break = {}): Expectation {
  return ({ surface }) => ({
    cause: CHARGED[logged],
    logged,
    status: 200,
    failsOver: false,
    shown: { text, finish: undefined },
    charge: {
      source: "estimated",
      input: surface.name === "chat" ? 3 : 11,
      output: text.split(" ").length,
      report: surface.name === "chat" ? "missing" : undefined,
    },
    takesMs,
  });
}

/** The error code on the receipt and in the log line of the request. */
export function outcomeCode({ cause }: Expected): string {
  return cause === undefined ? "ok" : ERRORS[cause].code;
}
