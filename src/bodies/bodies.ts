import { bytesOf, decodeBlocks } from "../domain/byte-blocks.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { type Body, decodeBody, type NewAnswer, type NewBody, type Soon } from "./body.ts";
import type { CooperativeYield } from "./cooperative-yield.ts";
import { type OpenBody, openBody } from "./open-body.ts";
import { createRemoteBodies, type RemoteOptions } from "./remote-bodies.ts";

/**
 * Reads request bodies and whole answers without blocking the event loop. Up to 128 KiB are read in this
 * thread, with yields between owners, which takes tens of milliseconds at worst. Larger ones are read in a
 * worker.
 */
export interface Bodies {
  /** Throws the errors of `WireProtocol.parseRequest`, or `too_many_body_bytes` when too many bodies wait. */
  read(body: NewBody): Soon<Body>;
  /** Throws `UpstreamFault`. */
  readAnswer(answer: NewAnswer): Soon<ReplyPart>;
  /** Stops the worker. */
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
  return {
    read(body) {
      if (bytesOf(body.blocks) > inProcessBytesMax) return worker.read(body);
      const { owner, wire, blocks } = body;
      const open = cooperativeYield.run(owner, () => openBody(wire, decodeBody(blocks)));
      return open instanceof Promise
        ? open.then((each) => localBody(each, owner, cooperativeYield))
        : localBody(open, owner, cooperativeYield);
    },
    readAnswer(answer) {
      if (bytesOf(answer.blocks) > inProcessBytesMax) return worker.readAnswer(answer);
      const { reader, owner, head, blocks } = answer;
      return cooperativeYield.run(owner, () =>
        reader.readWhole(head, decodeBlocks(blocks, { fatal: false })),
      );
    },
    close: worker.close,
  };
}

/** A body that is small enough for this thread. */
function localBody(body: OpenBody, owner: string, cooperativeYield: CooperativeYield): Body {
  return {
    request: body.request,
    plan: (questions) => cooperativeYield.run(owner, () => body.plan(questions)),
    print: (surface, options) => cooperativeYield.run(owner, () => body.print(surface, options)),
    printCount: (model, betas) => cooperativeYield.run(owner, () => body.printCount(model, betas)),
    promptText: () => cooperativeYield.run(owner, body.request.promptText),
  };
}
