import type { Cause } from "../../../src/errors.ts";
import type { UpstreamTimeouts } from "../../../src/upstream/upstream.ts";
import type { Surface } from "../../support/client.ts";
import type { Script } from "../../support/script.ts";
import type { ClientView } from "./client-view.ts";

/** What an upstream does, and how the gateway is set up for it. */
export interface Scenario {
  /** Unique; lower case, words apart. */
  readonly name: string;
  /** The first route's upstream: the first call by the first script, …, the last one repeats. */
  readonly scripts: readonly Script[];
  /** Where it is played; everywhere when left out. */
  readonly modes?: readonly Mode[];
  readonly surfaces?: readonly Surface["name"][];
  /** Where the first route's upstream is, when not at the scripted one. */
  readonly at?: (places: Places) => string;
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** The second route's upstream has the same time limits, so that the first one uses up all there is. */
  readonly sharesTimeouts?: true;
}

/** One way in which an upstream goes wrong, or only looks as if it did. */
export interface Fault extends Scenario {
  readonly expected: Expectation;
  /** The gateway closes the connection under the upstream, rather than the other way round. */
  readonly isCut?: true;
}

export type Mode = "whole" | "stream";

/** Addresses where nobody answers as a provider should. */
export interface Places {
  /** Nothing listens there. */
  readonly refused: string;
  /** A name that does not resolve. */
  readonly nowhere: string;
  /** Takes connections and says nothing, not even a TLS handshake. */
  readonly mute: string;
}

/** What rows may depend on. */
export interface CaseKind {
  readonly surface: Surface;
  readonly mode: Mode;
}

/** What comes of a fault when there is no other route. */
export interface Expected {
  /** How the client's error is said; `undefined` for an answer that is good. */
  readonly cause: Cause | undefined;
  /** Said instead of the cause's own message. */
  readonly message?: string;
  /** How the log says it. */
  readonly logged: Cause | undefined;
  /** The upstream's status on the receipt, 0 when none came. */
  readonly status: number;
  /** Another route is asked, and what this one did is not seen. */
  readonly movesOn: boolean;
  /** What the client reads with status 200; `undefined` when an error has a status of its own. */
  readonly shown: Partial<ClientView> | undefined;
  /** `undefined` when nothing is charged. */
  readonly charge: ExpectedCharge | undefined;
  /** Milliseconds that the attempt takes at least. */
  readonly takesMs: number;
}

export interface ExpectedCharge {
  readonly source: "reported" | "estimated";
  readonly input: number;
  readonly output: number;
}

/** The same for every cell, or not. */
export type Expectation = Expected | ((faultCase: CaseKind) => Expectation);
