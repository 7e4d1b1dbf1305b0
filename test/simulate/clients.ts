import type { Config } from "../../src/config/config.ts";
import { toGatewayError } from "../../src/errors.ts";
import type { AbortSource, AttributionHeaders, Call } from "../../src/gateway/request.ts";
import { runRequest } from "../../src/gateway/run-request.ts";
import { newRequestId } from "../../src/http/identity.ts";
import { runRoute } from "../../src/http/inference.ts";
import type { HttpReply } from "../../src/http/reply.ts";
import { platform } from "../../src/platform.ts";
import type { WireFormat } from "../../src/wire/format.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import type { SimulatedGateway } from "./gateway.ts";
import { OUTPUT_MAX } from "./prices.ts";
import { MODEL_IDS } from "./reloads.ts";
import type { Machine } from "./scheduler.ts";
import { drawAttribution } from "./scope-model.ts";
import type { AskedCall } from "./upstreams.ts";
import type { SimulatedKey, World } from "./world.ts";

/** How a request ended for its client. */
type Ending =
  /** The client saw the end of its answer. */
  | "finished"
  /** The client left. */
  | "left"
  /** The gateway died. */
  | "reset"
  /** The client got an error, which says whether it was charged. */
  | { readonly error: string; readonly code: string; readonly isCharged: boolean };

/** One request, as its client and the world know it. */
export interface SimulatedRequest {
  readonly number: number;
  readonly id: string;
  readonly key: SimulatedKey;
  readonly machine: Machine;
  /** The configuration that its gateway had when it arrived, and keeps for it. */
  readonly config: Config;
  /** The name of its model. */
  readonly model: string;
  readonly secret: string;
  /** Whom it is for; `undefined` when it does not say so. */
  readonly attribution: AttributionHeaders | undefined;
  /** How far the wall clock had been set when it arrived. */
  readonly shiftMs: number;
  readonly startedAtMs: number;
  /** The calls of upstreams that were handed its body. */
  readonly asked: AskedCall[];
  ending: Ending | undefined;
  /** When its client saw the end. */
  endedAtMs: number | undefined;
  /** When an upstream was first asked: a slow disk may have kept its hold until then. */
  askedAtMs: number;
  /** Whether its client was sent a part of an answer. */
  sawOutput: boolean;
  /** Whether the gateway was still at it when it died. */
  isOrphan: boolean;
  /** Whether power was lost before it was over: a hold that was not synced is then lost. */
  isPowerLost: boolean;
  /** Whether its story ended with an internal error, of which a client that has left sees nothing. */
  isInternal: boolean;
  /** Whether the story of the request has returned. */
  isOver: boolean;
}

export function endingName(ending: Ending | undefined): string {
  return typeof ending === "object" ? ending.error : (ending ?? "none");
}

const RUNNING = {
  mayBegin: () => true,
  begin() {},
  end() {},
  idle: async () => undefined,
  close() {},
};
const RECEIVED = new Request("http://tollgate.test/");
const BODY = { release() {} };

/** Sends one request to a gateway, and lets its client wait, read slowly or leave. */
export function sendRequest(world: World, to: SimulatedGateway, key: SimulatedKey): void {
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  const { machine } = to;
  const number = world.nextNumber();
  const wire = drawWire(draw);
  const stream = draw() < 0.6;
  const { models } = world.config;
  const model = draw() < 0.95 && models.length > 0 ? drawOne(draw, models).id : drawOne(draw, MODEL_IDS);
  const outputMax = drawOutputMax(draw);
  const text = `request ${number} ${"please ".repeat(drawInteger(draw, 1, 10))}`;
  const body = JSON.stringify({ ...bodyOf(wire, text, outputMax), model, stream });
  const request: SimulatedRequest = {
    number,
    id: newRequestId(),
    key,
    machine,
    config: to.config(),
    model,
    secret: drawSecret(key, draw),
    attribution: drawAttribution(draw, key),
    shiftMs: scheduler.shiftMs,
    startedAtMs: scheduler.monotonicMs,
    asked: [],
    ending: undefined,
    endedAtMs: undefined,
    askedAtMs: Number.POSITIVE_INFINITY,
    sawOutput: false,
    isOrphan: false,
    isPowerLost: false,
    isInternal: false,
    isOver: false,
  };
  world.requests.set(number, request);
  const gateway = { ...to.gateway, limiter: world.model.keys.watch(request, to.gateway.limiter) };
  scheduler.note(
    `request ${number} ${request.id} of ${key.id}, ${stream ? "streamed" : "whole"} ${wire.surface}`,
  );
  const reply = new SimulatedReply(world, request, luck.strikes("client_reads_slowly"));
  const bodyMs = draw() < 0.1 ? draw() * 2_000 : 0;
  const call: Call = {
    id: request.id,
    wire,
    secret: request.secret,
    headers: {},
    query: "",
    allowsClamp: draw() < 0.2,
    attribution: request.attribution,
    startedAt: gateway.clock(),
    createdAtS: Math.floor(platform.now() / 1000),
    async readBody() {
      if (bodyMs > 0) await scheduler.sleep(bodyMs, "a body arrives");
      return [new TextEncoder().encode(body)];
    },
    record: {},
    progress: { waitedMs: 0 },
  };
  if (luck.strikes("client_leaves")) {
    const afterMs = draw() < 0.5 ? draw() * 300 : draw() * 20_000;
    scheduler.after(afterMs, `the client of request ${number} leaves`, () => reply.leave());
  }
  const route = { path: wire.path, surface: wire.surface, run: runRequest };
  void runRoute(gateway, { route, call, reply, body: BODY, request: RECEIVED, running: RUNNING }).then(() => {
    request.isOver = true;
  });
}

function drawWire(draw: RandomSource): WireFormat {
  const chance = draw();
  if (chance < 0.6) return WIRES.chat;
  return chance < 0.8 ? WIRES.messages : WIRES.gemini;
}

/** A body without the model and the kind of its answer, which the route of Gemini's form adds. */
function bodyOf({ surface }: WireFormat, text: string, outputMax: number): object {
  if (surface !== "gemini") return { max_tokens: outputMax, messages: [{ role: "user", content: text }] };
  const contents = [{ role: "user", parts: [{ text }] }];
  return { contents, generationConfig: { maxOutputTokens: outputMax } };
}

/** Mostly the latest secret, or an earlier one. */
function drawSecret({ secrets, history }: SimulatedKey, draw: RandomSource): string {
  const [latest] = history.latest.secrets;
  return draw() < 0.8 && latest ? latest.text : drawOne(draw, secrets);
}

/** Mostly small. A large limit is clamped where the client allows it and the wallet is nearly empty. */
function drawOutputMax(draw: RandomSource): number {
  return draw() < 0.15 ? drawInteger(draw, 300, OUTPUT_MAX) : drawInteger(draw, 5, 60);
}

/** The client's end of a request: what it was sent, and whether it is still there. */
class SimulatedReply implements HttpReply {
  readonly response = Promise.withResolvers<Response>().promise;
  readonly signal: AbortSource;
  status = 0;
  readonly #world: World;
  readonly #request: SimulatedRequest;
  readonly #readsSlowly: boolean;
  readonly #listeners = new Set<() => void>();
  #isGone = false;
  #isOpen = false;

  constructor(world: World, request: SimulatedRequest, readsSlowly: boolean) {
    this.#world = world;
    this.#request = request;
    this.#readsSlowly = readsSlowly;
    const isGone = () => this.#isGone;
    this.signal = {
      get aborted() {
        return isGone();
      },
      addEventListener: (_type, listener) => void this.#listeners.add(listener),
      removeEventListener: (_type, listener) => void this.#listeners.delete(listener),
    };
  }

  setHeaders(): void {}
  expectStream(): void {}
  beginStream(): void {}

  write(): Promise<void> | undefined {
    const { scheduler, luck } = this.#world;
    this.#isOpen = true;
    if (luck.strikes("death_at_a_write")) this.#world.kill(scheduler.current);
    if (!this.#isGone && scheduler.current.isAlive) {
      this.#request.sawOutput = true;
      this.#world.model.keys.checkUse(this.#request);
    }
    if (this.#isGone || !this.#readsSlowly) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    scheduler.after(scheduler.draw() * 3_000, `the client of request ${this.#request.number} reads`, resolve);
    this.#listeners.add(resolve);
    return promise;
  }

  end(): void {
    this.status = 200;
    this.#finish("finished");
  }

  fail(thrown: unknown) {
    const error = toGatewayError(thrown);
    this.status = this.#isOpen ? 200 : error.row.chat[0];
    this.#finish({ error: error.kind, code: error.row.code, isCharged: error.kind.endsWith("_charged") });
    if (error.kind === "unknown_key") this.#world.model.keys.checkRefusal(this.#request);
    if (error.kind === "internal") {
      this.#request.isInternal = true;
      this.#world.scheduler.note(`internal error: ${String(error.cause)}`);
    }
    return error;
  }

  leave(): void {
    if (this.#request.ending) return;
    this.#finish("left");
    this.#isGone = true;
    for (const listener of [...this.#listeners]) listener();
  }

  /** What a dead gateway sends reaches nobody. */
  #finish(ending: Ending): void {
    const { machine, number } = this.#request;
    if (this.#request.ending || !machine.isAlive) return;
    this.#request.ending = ending;
    this.#request.endedAtMs = this.#world.scheduler.monotonicMs;
    this.#world.scheduler.note(`request ${number} ended: ${endingName(ending)}`);
  }
}
