import { type Metadata, status } from "@grpc/grpc-js";
import type { Machine } from "../scheduler.ts";
import type { World } from "../world.ts";
import type { LedgerProcess } from "./ledger-process.ts";

/** How a call ended, as grpc-js reports it. */
export interface CallStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata | undefined;
}

/** One call on a connection, whose ends learn of its loss at different times. */
export interface OpenCall {
  /** Called at the client's end. */
  lose(lost: CallStatus): void;
  /** Called at the server's end. */
  abandon(): void;
}

const LOST: CallStatus = {
  code: status.UNAVAILABLE,
  details: "The connection was lost",
  metadata: undefined,
};
/** grpc-js closes a connection this long after its last answer: `keepalive_time_ms` and `keepalive_timeout_ms`. */
const KEEPALIVE_MS = 15_000;

/** One connection over HTTP/2: bytes arrive in the order in which they were sent, or not at all. */
export class GrpcConnection {
  readonly #world: World;
  readonly #client: Machine;
  readonly #server: LedgerProcess;
  readonly #calls = new Set<OpenCall>();
  /** The process that it is connected to. */
  #serverMachine: Machine | undefined;
  #isOver = false;
  /** When the last bytes arrive, at the server and at the client. */
  #thereAtMs = 0;
  #backAtMs = 0;
  /** What is sent once the connection is made. */
  #waiting: (() => void)[] = [];

  constructor(world: World, client: Machine, server: LedgerProcess) {
    this.#world = world;
    this.#client = client;
    this.#server = server;
    const { scheduler } = world;
    scheduler.after(scheduler.draw() * 3, "connects to the ledger", () => this.#connect(), client);
  }

  add(call: OpenCall): void {
    this.#calls.add(call);
  }

  delete(call: OpenCall): void {
    this.#calls.delete(call);
  }

  /** Carries bytes to the server, where `arrive` runs as an event of its machine. */
  send(what: string, arrive: () => void): void {
    if (this.#isOver) return;
    if (this.#serverMachine) this.#sendNow(what, arrive);
    else this.#waiting.push(() => this.#sendNow(what, arrive));
  }

  /** Carries bytes to the client. */
  answer(what: string, arrive: () => void): void {
    if (this.#isOver) return;
    const { scheduler, luck } = this.#world;
    if (luck.strikes("link_loses_answer")) {
      this.break();
      return;
    }
    this.#backAtMs = Math.max(this.#backAtMs, scheduler.monotonicMs + scheduler.draw() * 5);
    const take = () => {
      if (!this.#isOver) arrive();
    };
    scheduler.after(this.#backAtMs - scheduler.monotonicMs, `the ledger answers ${what}`, take, this.#client);
  }

  /** The client ends the connection. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLater();
  }

  /** The connection breaks, as both ends learn soon. */
  break(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { scheduler, model } = this.#world;
    model.troubles.onLink();
    // What was sent while the connection was silent still arrives, and is sent again.
    if (this.#thereAtMs > scheduler.monotonicMs) model.troubles.onDoubled();
    const tell = () => {
      for (const call of [...this.#calls]) call.lose(LOST);
    };
    scheduler.after(scheduler.draw() * 5, "a connection to the ledger is lost", tell, this.#client);
    this.#cancelLater();
  }

  #connect(): void {
    if (this.#isOver) return;
    const { machine } = this.#server;
    if (!machine) {
      this.break();
      return;
    }
    this.#serverMachine = machine;
    this.#server.connections.add(this);
    for (const send of this.#waiting.splice(0)) send();
  }

  #sendNow(what: string, arrive: () => void): void {
    const { scheduler, luck } = this.#world;
    if (luck.strikes("link_silent")) this.#fallSilent(scheduler.draw() * 20_000);
    this.#thereAtMs = Math.max(this.#thereAtMs, scheduler.monotonicMs + scheduler.draw() * 5);
    let ms = this.#thereAtMs - scheduler.monotonicMs;
    const broken = luck.oneOf(["link_loses_call", "link_doubles"]);
    if (broken) this.break();
    if (broken === "link_loses_call") return;
    // The client sends it again, over another connection, before or after this one arrives.
    if (broken === "link_doubles") {
      ms = scheduler.draw() * 500;
      this.#world.model.troubles.onDoubled();
    }
    scheduler.after(ms, `the ledger receives ${what}`, arrive, this.#serverMachine);
  }

  /** Nothing arrives for a while, in both directions. The client's keepalive may notice. */
  #fallSilent(ms: number): void {
    const { scheduler } = this.#world;
    this.#world.model.troubles.onLink();
    this.#thereAtMs = Math.max(this.#thereAtMs, scheduler.monotonicMs + ms);
    this.#backAtMs = Math.max(this.#backAtMs, scheduler.monotonicMs + ms);
    if (ms > KEEPALIVE_MS) {
      scheduler.after(KEEPALIVE_MS, "a connection has been silent", () => this.break(), this.#client);
    }
  }

  /** The server learns that its calls have nobody left. */
  #cancelLater(): void {
    this.#server.connections.delete(this);
    if (!this.#serverMachine) return;
    const { scheduler } = this.#world;
    const cancel = () => {
      for (const call of this.#calls) call.abandon();
    };
    scheduler.after(scheduler.draw() * 1_000, "the ledger loses a client", cancel, this.#serverMachine);
  }
}
