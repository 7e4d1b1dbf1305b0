import { GatewayError } from "../../errors.ts";
import type { CreateEvent } from "../../wire/openai-responses/socket/client-event.ts";
import type { Items } from "../../wire/openai-responses/socket/create-body.ts";
import type { KeptItems, ResponseMemory } from "./response-memory.ts";
import { type CreateParts, runCreate, type SocketOwner } from "./run-create.ts";
import { type FrameSink, ResponseSignal } from "./socket-reply.ts";

/** Responses of one connection that may run at a time, and queues that its client may name; as OpenAI bounds them. */
const RUNNING_MAX = 16;
const NAMED_QUEUES_MAX = 32;
/** Events that wait for their turn. */
const WAITING_MAX = 64;

export interface QueuesParts extends CreateParts {
  readonly memory: ResponseMemory;
}

/** A `response.create` that waits, with its size, which is reserved. */
export interface WaitingCreate {
  readonly event: CreateEvent;
  readonly bytes: number;
}

/** The connection of some queues. */
export interface QueuesHost extends FrameSink {
  readonly owner: SocketOwner;
  /** Whether no further response may begin. */
  readonly isEnding: boolean;
  /** Called after each response, with its error. */
  responseEnded(error: GatewayError | undefined): void;
  /** Called when a conversation is not kept, which its client could want to continue. */
  forgotten(): void;
}

/** Responses that follow each other. */
interface Queue {
  readonly waiting: WaitingCreate[];
  running: ResponseSignal | undefined;
  latest: { readonly id: string; readonly kept: KeptItems } | undefined;
}

/** The queues of one connection. Those with a name run beside each other, and each remembers its latest response. */
export class ResponseQueues {
  running = 0;
  #waiting = 0;
  #isClosed = false;
  readonly #parts: QueuesParts;
  readonly #host: QueuesHost;
  /** By name; "" is the queue without one. */
  readonly #queues = new Map<string, Queue>();

  constructor(parts: QueuesParts, host: QueuesHost) {
    this.#parts = parts;
    this.#host = host;
  }

  /** Throws `too_many_streams` or `too_concurrent`, and then the bytes of the event stay with the caller. */
  add(create: WaitingCreate): void {
    const queue = this.#queueOf(create.event.streamId);
    if (this.#waiting >= WAITING_MAX) throw new GatewayError("too_concurrent", { retryAfterS: 1 });
    this.#waiting += 1;
    queue.waiting.push(create);
    this.#startNext();
  }

  /** Cancels the running response of a queue. Throws `wrong_shape` where none is running. */
  cancel(name: string): void {
    const running = this.#queues.get(name)?.running;
    if (!running) throw new GatewayError("wrong_shape", { path: "stream_id" });
    running.abort("cancelled");
  }

  /** Ends running responses, and forgets everything. Must be called once. */
  close(): void {
    this.#isClosed = true;
    const { accountId } = this.#host.owner;
    for (const queue of this.#queues.values()) {
      queue.running?.abort("closed");
      forget(queue);
      for (const { bytes } of queue.waiting.splice(0)) this.#parts.bodyBudget.give(accountId, bytes);
    }
  }

  #queueOf(name: string): Queue {
    const known = this.#queues.get(name);
    if (known) return known;
    const named = this.#queues.size - (this.#queues.has("") ? 1 : 0);
    if (name !== "" && named >= NAMED_QUEUES_MAX) throw new GatewayError("too_many_streams");
    const queue: Queue = { waiting: [], running: undefined, latest: undefined };
    this.#queues.set(name, queue);
    return queue;
  }

  #startNext(): void {
    for (const queue of this.#queues.values()) {
      if (this.#isClosed || this.#host.isEnding || this.running >= RUNNING_MAX) return;
      const create = queue.running ? undefined : queue.waiting.shift();
      if (create) void this.#run(queue, create);
    }
  }

  async #run(queue: Queue, { event, bytes }: WaitingCreate): Promise<void> {
    const signal = new ResponseSignal();
    queue.running = signal;
    this.#waiting -= 1;
    this.running += 1;
    const findEarlier = (id: string): Items | undefined => this.#find(id)?.kept.items;
    const create = { event, bytes, findEarlier, sink: this.#host, signal };
    const { conversation, error } = await runCreate(this.#parts, this.#host.owner, create);
    queue.running = undefined;
    this.running -= 1;
    if (this.#isClosed) return;
    if (conversation) this.#remember(queue, conversation);
    // As OpenAI does: a failed response of the same queue takes the one that it continued with it.
    else if (error && queue.latest?.id === event.previousResponseId) forget(queue);
    this.#host.responseEnded(error);
    this.#startNext();
  }

  #find(responseId: string): Queue["latest"] {
    for (const { latest } of this.#queues.values()) if (latest?.id === responseId) return latest;
    return undefined;
  }

  #remember(queue: Queue, { id, items }: { readonly id: string; readonly items: Items }): void {
    forget(queue);
    const onForget = () => {
      queue.latest = undefined;
      // A response that runs in the queue is kept anew at its end.
      if (!queue.running) this.#host.forgotten();
    };
    const kept = this.#parts.memory.keep(this.#host.owner.accountId, items, onForget);
    if (kept) queue.latest = { id, kept };
    else this.#host.forgotten();
  }
}

function forget(queue: Queue): void {
  queue.latest?.kept.release();
  queue.latest = undefined;
}
