import { decodeBlocks } from "../domain/byte-blocks.ts";
import type { Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { AnswerHead, PrintOptions, WireFormat } from "../wire/format.ts";
import type { AnswerReader } from "../wire/format-pair.ts";
import type { CountOptions, RequestHead } from "../wire/model-request.ts";
import type { Planned, PlanQuestion, Printed } from "./open-body.ts";

/** A value, or a promise of one that comes from the worker or after a yield to the event loop. */
export type Soon<Value> = Value | Promise<Value>;

/** The body of one request: the facts that were read, and everything that is computed of it later. */
export interface Body {
  readonly request: RequestHead;
  /** The content type of printed bodies. Default: JSON. */
  readonly contentType?: string | undefined;
  /** Plans the translations to other formats; the results are in the order of the questions. */
  plan(questions: readonly PlanQuestion[]): Soon<readonly Planned[]>;
  /** Prints the body for an upstream of a format. */
  print(surface: Surface, options: PrintOptions): Soon<Printed>;
  /** Prints the body for a count at an upstream. */
  printCount(options: CountOptions): Soon<Printed>;
  /** Returns a hash of the beginning of the prompt; `undefined` for a short or promptless body. */
  beginning(): number | undefined;
  /** Joins the text of the prompt, for a local count. */
  promptText(): Soon<string>;
  /**
   * Counts the units of a file, and returns the facts with them. Until then the facts have the least that the
   * file can be charged for. Absent where the facts are whole.
   */
  readonly measure?: (() => Promise<RequestHead>) | undefined;
}

/** Returns a body whose facts name a model, for a client that named none. */
export function withModel(body: Body, model: string): Body {
  return {
    request: { ...body.request, model },
    contentType: body.contentType,
    plan: (questions) => body.plan(questions),
    print: (surface, options) => body.print(surface, options),
    printCount: (options) => body.printCount(options),
    beginning: () => body.beginning(),
    promptText: () => body.promptText(),
  };
}

/** A body as received from a client. */
export interface NewBody {
  readonly wire: WireFormat;
  /** The account. Work of different owners alternates. */
  readonly owner: string;
  /** Owned by the reader from now on: they may move to another thread. */
  readonly blocks: readonly Uint8Array[];
}

/** A whole answer as received from an upstream. */
export interface NewAnswer {
  readonly reader: AnswerReader;
  readonly client: WireFormat;
  /** The account. Work of different owners alternates. */
  readonly owner: string;
  readonly head: AnswerHead;
  /** Owned by the reader from now on: they may move to another thread. */
  readonly blocks: readonly Uint8Array[];
}

/** Decodes the text of a body. Throws `not_json` for bytes that are not UTF-8. */
export function decodeBody(blocks: readonly Uint8Array[]): string {
  try {
    return decodeBlocks(blocks, { fatal: true });
  } catch (reason) {
    throw new GatewayError("not_json", { reason });
  }
}
