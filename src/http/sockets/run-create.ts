import { GatewayError } from "../../errors.ts";
import type { AttributionHeaders, Call } from "../../gateway/request.ts";
import { runRequest } from "../../gateway/run-request.ts";
import { warmUp } from "../../gateway/warm-up.ts";
import { platform } from "../../platform.ts";
import { openaiResponses } from "../../wire/openai-responses/format.ts";
import type { CreateEvent } from "../../wire/openai-responses/socket/client-event.ts";
import { createBody, type Items, joinItems } from "../../wire/openai-responses/socket/create-body.ts";
import type { HttpParts } from "../http-parts.ts";
import { newRequestId } from "../identity.ts";
import { BODY_BYTES_MAX } from "../incoming-bodies.ts";
import { runRoute } from "../inference.ts";
import { type FrameSink, type ResponseSignal, SocketReply } from "./socket-reply.ts";

/** Who opened a WebSocket, and what the headers of its opening say of every response. */
export interface SocketOwner {
  readonly accountId: string;
  readonly keyId: string;
  /** The key at the top of the key's tree. */
  readonly rootKeyId: string;
  readonly secret: string | undefined;
  readonly allowsClamp: boolean;
  readonly attribution: AttributionHeaders | undefined;
  /** The headers that name a trace. */
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** One `response.create` whose turn has come. */
export interface Create {
  readonly event: CreateEvent;
  /** Size of the event, which is reserved already. */
  readonly bytes: number;
  /** Finds the items of an earlier response on the connection. */
  findEarlier(responseId: string): Items | undefined;
  readonly sink: FrameSink;
  readonly signal: ResponseSignal;
}

/** What came of a `response.create`. */
interface CreateResult {
  /** The conversation with this response; `undefined` where nothing may continue it. */
  readonly conversation: { readonly id: string; readonly items: Items } | undefined;
  readonly error: GatewayError | undefined;
}

export type CreateParts = Pick<HttpParts, "gateway" | "bodyBudget" | "running">;

/**
 * Runs a `response.create` as the streamed request over HTTP that it stands for, with its own authentication,
 * admission, hold and settlement. Never rejects: errors are sent as frames.
 */
export async function runCreate(
  parts: CreateParts,
  owner: SocketOwner,
  create: Create,
): Promise<CreateResult> {
  const gateway = parts.gateway();
  const { event, sink, signal } = create;
  const body = new CreatedBody(parts, owner, create);
  const call: Call = {
    id: newRequestId(),
    wire: openaiResponses,
    secret: owner.secret,
    headers: {},
    query: "",
    allowsClamp: owner.allowsClamp,
    attribution: owner.attribution,
    startedAt: gateway.clock(),
    createdAtS: Math.floor(platform.now() / 1000),
    readBody: () => body.read(),
    record: { socket: true },
    progress: { waitedMs: 0 },
  };
  const reply = new SocketReply({ requestId: call.id, streamId: event.streamId, sink, signal });
  const { surface, path } = openaiResponses;
  const route = { path, surface, run: event.generates ? runRequest : warmUp };
  const request = { headers: new Headers(owner.traceHeaders), body: null };
  await runRoute(gateway, { route, call, reply, body, request, running: parts.running });
  const { ended, error } = reply;
  const conversation = ended && { id: ended.id, items: joinItems(body.items, ended.output) };
  return { conversation, error };
}

/** The body of a `response.create`. Its bytes are reserved until it is released. */
class CreatedBody {
  /** The items of the conversation before the output. */
  items: Items = [];
  readonly #parts: CreateParts;
  readonly #accountId: string;
  readonly #create: Create;
  #taken: number;

  constructor(parts: CreateParts, { accountId }: SocketOwner, create: Create) {
    this.#parts = parts;
    this.#accountId = accountId;
    this.#create = create;
    this.#taken = create.bytes;
  }

  /** Throws `unknown_previous_response`, `body_too_large` or `too_many_body_bytes`. */
  async read(): Promise<readonly Uint8Array[]> {
    const { event, findEarlier } = this.#create;
    const { previousResponseId: id } = event;
    const earlier = id === undefined ? [] : findEarlier(id);
    if (!earlier) throw new GatewayError("unknown_previous_response");
    const { cooperativeYield } = this.#parts.gateway();
    const { bytes, items } = await cooperativeYield.run(this.#accountId, () => createBody(event, earlier));
    if (bytes.byteLength > BODY_BYTES_MAX) throw new GatewayError("body_too_large");
    this.#take(bytes.byteLength - this.#taken);
    this.items = items;
    return [bytes];
  }

  release(): void {
    if (this.#taken > 0) this.#parts.bodyBudget.give(this.#accountId, this.#taken);
    this.#taken = 0;
  }

  /** Reserves what the body has more than its event. */
  #take(more: number): void {
    if (more <= 0) return;
    this.#parts.bodyBudget.take(this.#accountId, more);
    this.#taken += more;
  }
}
