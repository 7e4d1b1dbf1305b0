import type { Cause } from "../../../src/errors.ts";
import type { UpstreamTimeouts } from "../../../src/upstream/upstream.ts";
import type { Surface } from "../../support/client.ts";
import type { Script } from "../../support/script.ts";
import type { ClientView } from "./client-view.ts";

/** The behaviour of an upstream, and the gateway that meets it. */
export interface Scenario {
  /** Unique, in lower case, with spaces between words. */
  readonly name: string;
  /** The scripts of the first route's upstream, one per call. The last one repeats. */
  readonly scripts: readonly Script[];
  /** Default: whole and streamed. */
  readonly modes?: readonly Mode[];
  readonly surfaces?: readonly Surface["name"][];
  /** The address of the first route's upstream. Default: the scripted upstream. */
  readonly at?: (places: Places) => string;
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** The second route's upstream has these timeouts too, so that the first one can use up all the time. */
  readonly sharesTimeouts?: true;
}

/** A fault of an upstream, or a behaviour that only resembles one. */
export interface Fault extends Scenario {
  readonly expected: Expectation;
  /** Whether the gateway closes the connection first. */
  readonly isCut?: true;
}

export type Mode = "whole" | "stream";

/** Addresses without a working provider. */
export interface Places {
  /** Nothing listens here. */
  readonly refused: string;
  /** A host name that does not resolve. */
  readonly nowhere: string;
  /** Accepts connections and sends nothing, not even a TLS handshake. */
  readonly mute: string;
}

/** The part of a case on which an expectation may depend. */
export interface CaseKind {
  readonly surface: Surface;
  readonly mode: Mode;
}

/** The result of a fault when there is no other route. */
export interface Expected {
  /** The cause of the client's error; `undefined` for a success. */
  readonly cause: Cause | undefined;
  /** Replaces the message of the cause. */
  readonly message?: string;
  /** The cause in the log. */
  readonly logged: Cause | undefined;
  /** The status of the upstream on the receipt; 0 when there was none. */
  readonly status: number;
  /** Whether another route is called, which hides this fault from the client. */
  readonly failsOver: boolean;
  /** What the client reads with status 200; `undefined` when the error has an HTTP status. */
  readonly shown: Partial<ClientView> | undefined;
  /** `undefined` when nothing is charged. */
  readonly charge: ExpectedCharge | undefined;
  /** Least duration of the attempt in milliseconds. */
  readonly takesMs: number;
}

export interface ExpectedCharge {
  readonly source: "reported" | "estimated";
  readonly input: number;
  readonly output: number;
  /** Why an estimate replaces the report; `undefined` for a report, also of a broken answer that was good so far. */
  readonly report?: "missing" | "uncountable" | "above_bound" | undefined;
}

/** One expectation for all cases, or one per case. */
export type Expectation = Expected | ((faultCase: CaseKind) => Expectation);
