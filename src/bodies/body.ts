import { decodeBlocks } from "../domain/byte-blocks.ts";
import type { Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { AnswerReader } from "../wire/codec-session.ts";
import type { AnswerHead, PrintOptions } from "../wire/codecs.ts";
import type { RequestFacts } from "../wire/model-request.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import type { Planned, PlanQuestion } from "./open-body.ts";

/** A value that is there, or comes from the worker or in a later turn of the event loop. */
export type Soon<Value> = Value | Promise<Value>;

/** A body for an upstream, in UTF-8 where it is bytes. */
export type Printed = string | Uint8Array<ArrayBuffer>;

/** The body of one request: what was read of it, and all that is still asked of it until the request is over. */
export interface Body {
  readonly request: RequestFacts;
  /** Whether, and how, the request can be put to upstreams of other formats; in the order of the questions. */
  plan(questions: readonly PlanQuestion[]): Soon<readonly Planned[]>;
  /** The body for an upstream of a format. */
  print(surface: Surface, options: PrintOptions): Soon<Printed>;
  /** The body for an upstream that counts the prompt; `betas` are those that change a price or the window there. */
  printCount(model: string, betas: readonly string[] | undefined): Soon<Printed>;
  /** The text of the prompt, for a local count. */
  promptText(): Soon<string>;
}

/** A body as it came in. */
export interface NewBody {
  readonly wire: WireProtocol;
  /** Whose it is: owners take turns. */
  readonly owner: string;
  /** Its bytes. They are no longer the caller's. */
  readonly blocks: readonly Uint8Array[];
}

/** A whole answer of an upstream. */
export interface NewAnswer {
  readonly reader: AnswerReader;
  readonly client: WireProtocol;
  readonly owner: string;
  readonly head: AnswerHead;
  /** Its bytes. They are no longer the caller's. */
  readonly blocks: readonly Uint8Array[];
}

/** The text of a body. Throws `not_json` for what is no UTF-8. */
export function decodeBody(blocks: readonly Uint8Array[]): string {
  try {
    return decodeBlocks(blocks, { fatal: true });
  } catch (reason) {
    throw new GatewayError("not_json", { reason });
  }
}
