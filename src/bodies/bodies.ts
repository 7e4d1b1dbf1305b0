import { bytesOf, decodeBlocks } from "../domain/byte-blocks.ts";
import type { Surface } from "../domain/model.ts";
import type { PrintOptions } from "../wire/format.ts";
import { type JsonMeasure, measureJson } from "../wire/json/scan.ts";
import type { CountOptions, ModelRequest } from "../wire/model-request.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { type Body, decodeBody, type NewAnswer, type NewBody, type Soon } from "./body.ts";
import { IDLE_MS, JOB_MS_MAX } from "./body-jobs.ts";
import { asConversation, ConversationBody, openKnown } from "./conversation-body.ts";
import type { CooperativeYield } from "./cooperative-yield.ts";
import { createForms } from "./form-body.ts";
import { createKnownHistories, type KnownHistories } from "./known-histories.ts";
import { type OpenBody, ParsedBody, type Planned, type PlanQuestion, type Printed } from "./open-body.ts";
import { createRemoteBodies, type RemoteOptions } from "./remote-bodies.ts";

/**
 * Reads request bodies and whole answers without blocking the event loop. What may take tens of milliseconds at
 * most is read in this thread, with yields between owners: up to 128 KiB, and bodies up to 1 MiB that are little
 * more than text. All others are read in a worker, and so are forms of every size.
 */
export interface Bodies {
  /** Throws the errors of `WireFormat.parseRequest`, or `too_many_body_bytes` when too many bodies wait. */
  read(body: NewBody): Soon<Body>;
  /** Throws `UpstreamFault`. */
  readAnswer(answer: NewAnswer): Soon<ReplyPart>;
  /** Stops the workers. */
  close(): void;
}

interface BodiesOptions extends RemoteOptions {
  /** Larger bodies go to the worker. */
  readonly inProcessBytesMax: number;
}

const DEFAULTS: BodiesOptions = {
  inProcessBytesMax: 1024 * 1024,
  script: new URL("./body-worker.ts", import.meta.url),
  jobMsMax: JOB_MS_MAX,
  idleMs: IDLE_MS,
  readingMax: 1_000,
};

/** Parsing, measuring and printing the worst body of this size takes 15 to 35 ms on a machine of 2026. */
const COSTLY_BYTES_MAX = 128 * 1024;
/** As much structure as the worst body of 128 KiB has. Text costs a hundredth of it. */
const TEXT_MAX: JsonMeasure = { values: 64_000, members: 16_000 };

export function createBodies(
  cooperativeYield: CooperativeYield,
  options: Partial<BodiesOptions> = {},
): Bodies {
  const { inProcessBytesMax, ...remote } = { ...DEFAULTS, ...options };
  const worker = createRemoteBodies(remote);
  const forms = createForms();
  const histories = createKnownHistories();
  const keep = (open: OpenBody | undefined, body: NewBody): Soon<Body> =>
    open ? new LocalBody(open, body.owner, cooperativeYield) : worker.read(body);
  return {
    read(body) {
      if (body.wire.form) return forms.read(body, body.wire.form);
      if (bytesOf(body.blocks) > inProcessBytesMax) return worker.read(body);
      const open = cooperativeYield.run(body.owner, () => openHere(body, histories));
      return open instanceof Promise ? open.then((each) => keep(each, body)) : keep(open, body);
    },
    readAnswer(answer) {
      if (bytesOf(answer.blocks) > Math.min(COSTLY_BYTES_MAX, inProcessBytesMax))
        return worker.readAnswer(answer);
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

/** Opens a body; `undefined` for one that is too costly for this thread. */
function openHere(body: NewBody, histories: KnownHistories): OpenBody | undefined {
  const conversation = asConversation(body);
  const known = conversation && openKnown(conversation, histories, TEXT_MAX);
  if (known) return known;
  const { wire, blocks } = body;
  const text = decodeBody(blocks);
  const isCostly = text.length > COSTLY_BYTES_MAX;
  const measured = isCostly ? measureJson(text, TEXT_MAX) : undefined;
  if (isCostly && !measured) return undefined;
  const request = wire.parseRequest(text, measured);
  return conversation
    ? new ConversationBody(conversation, histories, { request })
    : new ParsedBody(wire, request);
}

/** A body that is cheap enough for this thread. A class, because closures for each request cost more. */
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
    const printed = this.#yield.run(this.#owner, () => this.#body.print(surface, options));
    void this.#yield.run(this.#owner, () => this.#body.learn());
    return printed;
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
