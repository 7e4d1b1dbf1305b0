import { bytesOf, decodeBlocks } from "../domain/byte-blocks.ts";
import type { Surface } from "../domain/model.ts";
import type { CountOptions } from "../wire/anthropic-messages/count-tokens.ts";
import type { PrintOptions } from "../wire/codecs.ts";
import type { ModelRequest } from "../wire/model-request.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { type Body, decodeBody, type NewAnswer, type NewBody, type Printed, type Soon } from "./body.ts";
import type { CooperativeYield } from "./cooperative-yield.ts";
import { createForms } from "./form-body.ts";
import { type OpenBody, openBody, type Planned, type PlanQuestion } from "./open-body.ts";
import { createRemoteBodies, type RemoteOptions } from "./remote-bodies.ts";

/**
 * Reads request bodies and whole answers without blocking the event loop. Up to 128 KiB are read in this
 * thread, with yields between owners, which takes tens of milliseconds at worst. Larger ones are read in a
 * worker, and so are forms of every size.
 */
export interface Bodies {
  /** Throws the errors of `WireProtocol.parseRequest`, or `too_many_body_bytes` when too many bodies wait. */
  read(body: NewBody): Soon<Body>;
  /** Throws `UpstreamFault`. */
  readAnswer(answer: NewAnswer): Soon<ReplyPart>;
  /** Stops the workers. */
  close(): void;
}

export interface BodiesOptions extends RemoteOptions {
  /** Larger bodies and answers go to the worker. */
  readonly inProcessBytesMax: number;
}

const DEFAULTS: BodiesOptions = {
  // Parsing, measuring and printing the worst body of this size takes 15 to 35 ms on a machine of 2026.
  inProcessBytesMax: 128 * 1024,
  script: new URL("./body-worker.ts", import.meta.url),
  jobMsMax: 30_000,
  idleMs: 120_000,
  readingMax: 1_000,
};

export function createBodies(
  cooperativeYield: CooperativeYield,
  options: Partial<BodiesOptions> = {},
): Bodies {
  const { inProcessBytesMax, ...remote } = { ...DEFAULTS, ...options };
  const worker = createRemoteBodies(remote);
  const forms = createForms();
  return {
    read(body) {
      if (body.wire.form) return forms.read(body, body.wire.form);
      if (bytesOf(body.blocks) > inProcessBytesMax) return worker.read(body);
      const { owner, wire, blocks } = body;
      const open = cooperativeYield.run(owner, () => openBody(wire, decodeBody(blocks)));
      return open instanceof Promise
        ? open.then((each) => new LocalBody(each, owner, cooperativeYield))
        : new LocalBody(open, owner, cooperativeYield);
    },
    readAnswer(answer) {
      if (bytesOf(answer.blocks) > inProcessBytesMax) return worker.readAnswer(answer);
      const { reader, owner, head, blocks } = answer;
      return cooperativeYield.run(owner, () =>
        reader.readWhole(head, decodeBlocks(blocks, { fatal: false })),
      );
    },
    close() {
      worker.close();
      forms.close();
    },
  };
}

/** A body that is small enough for this thread. A class, because closures for each request cost more. */
class LocalBody implements Body {
  readonly request: ModelRequest;
  readonly #body: OpenBody;
  readonly #owner: string;
  readonly #yield: CooperativeYield;

  constructor(body: OpenBody, owner: string, cooperativeYield: CooperativeYield) {
    this.request = body.request;
    this.#body = body;
    this.#owner = owner;
    this.#yield = cooperativeYield;
  }

  plan(questions: readonly PlanQuestion[]): Soon<readonly Planned[]> {
    return this.#yield.run(this.#owner, () => this.#body.plan(questions));
  }

  print(surface: Surface, options: PrintOptions): Soon<Printed> {
    return this.#yield.run(this.#owner, () => this.#body.print(surface, options));
  }

  printCount(options: CountOptions): Soon<Printed> {
    return this.#yield.run(this.#owner, () => this.#body.printCount(options));
  }

  beginning(): number | undefined {
    return this.#body.beginning();
  }

  promptText(): Soon<string> {
    return this.#yield.run(this.#owner, () => this.#body.request.promptText());
  }
}
