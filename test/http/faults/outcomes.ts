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

/** Fails before any output: costs nothing, and another route may answer. */
export function movesOn(status: number, cause: Cause = "upstream_unavailable", takesMs = 0): Expected {
  return { ...NOTHING, cause, logged: cause, status, movesOn: true, takesMs };
}

/** Fails before any output, in a way that another route would not mend. */
export function stays(status: number, cause: Cause, takesMs = 0): Expected {
  return { ...NOTHING, cause, logged: cause, status, movesOn: false, takesMs };
}

/** What the upstream reports of the speech. */
export const REPORTED: ExpectedCharge = { source: "reported", input: 11, output: 9 };

/** What is counted here when it reports nothing: the prompt and the four words of the speech. */
export const COUNTED: ExpectedCharge = { source: "estimated", input: 3, output: 4 };

/** No fault at all for the client: the whole speech unless told otherwise, and its ordinary finish. */
export function answers(shown: Partial<ClientView> = {}, charge: ExpectedCharge = REPORTED): Expectation {
  return ({ surface }) => ({
    cause: undefined,
    logged: undefined,
    status: 200,
    movesOn: false,
    shown: { text: OUTPUT.text ?? "", finish: FINISHES[surface.name], error: undefined, ...shown },
    charge,
    takesMs: 0,
  });
}

const FINISHES: Record<Surface["name"], string> = { chat: "stop", messages: "end_turn" };

/** Finished without anything readable: never tried elsewhere, charged if reported. `shown` when a stream was open by then. */
export function empty(charge: ExpectedCharge | undefined, shown?: Partial<ClientView>): Expected {
  const cause = charge ? "empty_charged" : "empty_released";
  return { cause, logged: undefined, status: 200, movesOn: false, shown, charge, takesMs: 0 };
}

/** How a failure is said once output has been charged. */
const CHARGED = {
  upstream_unavailable: "upstream_broke_charged",
  upstream_timeout: "upstream_timeout_charged",
  upstream_total_timeout: "upstream_total_timeout_charged",
} as const satisfies Partial<Record<Cause, Cause>>;

/** How a stream that has begun breaks off; by default behind its third word, because the connection broke. */
interface Break {
  readonly logged?: keyof typeof CHARGED;
  readonly takesMs?: number;
  readonly text?: string;
}

/** Breaks off in a stream: what came is charged, Anthropic's input as its start reported it. */
export function breaks({
  logged = "upstream_unavailable",
  takesMs = 0,
  text = BROKEN_TEXT,
}: Break = {}): Expectation {
  return ({ surface }) => ({
    cause: CHARGED[logged],
    logged,
    status: 200,
    movesOn: false,
    shown: { text, finish: undefined },
    charge: {
      source: "estimated",
      input: surface.name === "chat" ? 3 : 11,
      output: text.split(" ").length,
    },
    takesMs,
  });
}

/** The code of the error contract that a receipt and the request's log line show. */
export function outcomeCode({ cause }: Expected): string {
  return cause === undefined ? "ok" : ERRORS[cause].code;
}
