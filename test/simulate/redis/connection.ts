import { connectionOptions, reconnectDelayMs } from "../../../src/limiter/redis/location.ts";
import type { RedisConnection } from "../../../src/limiter/redis/server.ts";
import { platform } from "../../../src/platform.ts";
import type { Faults } from "../faults.ts";
import type { Machine } from "../scheduler.ts";
import type { World } from "../world.ts";
import type { Reply } from "./lua.ts";
import type { ScriptCall } from "./real-redis.ts";
import type { SimulatedRedis } from "./server.ts";

/** The client's own bounds are those of production. */
const { commandTimeout: COMMAND_MAX_MS, socketTimeout: SILENCE_MAX_MS } = connectionOptions({
  kind: "single",
  hosts: [],
  masterName: undefined,
  username: undefined,
  password: undefined,
  db: 0,
  tls: undefined,
});
/** How long commands of a lost connection may still be on their way. */
const STRAGGLERS_MS = 900;

/** Connects a gateway to the simulated Redis. */
export function connectSimulatedRedis(
  world: World,
  redis: SimulatedRedis,
  { machine, faults }: { readonly machine: Machine; readonly faults: Faults },
): RedisConnection {
  const client = new SimulatedClient(world, redis, machine);
  return {
    // Safe because the limiter sends scripts and listens for the end of the connection, no more.
    client: faults.redis(client) as unknown as RedisConnection["client"],
    shardOf: () => "redis",
    fault: () => (client.isReady ? undefined : "the connection was closed"),
    close: () => client.close(),
  };
}

interface PendingCommand {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (fault: Error) => void;
  readonly timer: Timer;
}

type Rest = readonly (string | number)[];

/** What the limiter uses of ioredis. */
export interface ScriptClient {
  readonly isCluster: boolean;
  on(event: "close", listener: () => void): void;
  callBuffer(command: string, script: string, ...rest: Rest): Promise<Buffer>;
  eval(script: string, ...rest: Rest): Promise<Reply>;
  evalsha(sha: string, ...rest: Rest): Promise<Reply>;
}

/** A gateway's end of one connection, which is made anew after each loss. */
class SimulatedClient implements ScriptClient {
  readonly isCluster = false;
  isReady = false;
  readonly #world: World;
  readonly #redis: SimulatedRedis;
  readonly #machine: Machine;
  readonly #closeListeners: (() => void)[] = [];
  #wire: Wire | undefined;
  #attempts = 0;
  #isClosed = false;

  constructor(world: World, redis: SimulatedRedis, machine: Machine) {
    this.#world = world;
    this.#redis = redis;
    this.#machine = machine;
    this.#connect();
  }

  on(_event: "close", listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  async callBuffer(command: string, script: string, ...rest: Rest): Promise<Buffer> {
    return Buffer.from((await this.#send(command, script, rest)) as Uint8Array);
  }

  eval(script: string, ...rest: Rest): Promise<Reply> {
    return this.#send("eval", script, rest);
  }

  evalsha(sha: string, ...rest: Rest): Promise<Reply> {
    return this.#send("evalsha", sha, rest);
  }

  close(): void {
    this.#isClosed = true;
    this.#wire?.reset();
  }

  #send(command: string, script: string, rest: Rest): Promise<Reply> {
    if (!this.#wire || !this.isReady) return Promise.reject(new Error("The stream is not writable"));
    return this.#wire.send(command, script, rest.map(String));
  }

  #connect(): void {
    const { scheduler } = this.#world;
    scheduler.after(
      scheduler.draw() * 2 + this.#redis.waitMs(),
      "connects to Redis",
      () => {
        if (this.#isClosed) return;
        if (!this.#redis.isUp) return this.#connectLater();
        this.#wire = new Wire(this.#world, this.#redis, { machine: this.#machine, onEnd: () => this.#end() });
        this.#attempts = 0;
        this.isReady = true;
      },
      this.#machine,
    );
  }

  #end(): void {
    this.#wire = undefined;
    this.isReady = false;
    for (const listener of this.#closeListeners) listener();
    if (!this.#isClosed) this.#connectLater();
  }

  #connectLater(): void {
    this.#attempts += 1;
    const again = () => this.#connect();
    this.#world.scheduler.after(
      reconnectDelayMs(this.#attempts),
      "reconnects to Redis",
      again,
      this.#machine,
    );
  }
}

interface WireEnd {
  readonly machine: Machine;
  onEnd(): void;
}

/** One connection. Bytes arrive in the order in which they were sent, in both directions. */
class Wire {
  readonly #world: World;
  readonly #redis: SimulatedRedis;
  readonly #end: WireEnd;
  readonly #pending: PendingCommand[] = [];
  #isOpen = true;
  #silence: Timer | undefined;
  /** When the last bytes arrive, at the server and at the client. */
  #thereAtMs = 0;
  #backAtMs = 0;

  constructor(world: World, redis: SimulatedRedis, end: WireEnd) {
    this.#world = world;
    this.#redis = redis;
    this.#end = end;
    redis.connections.add(this);
  }

  send(command: string, script: string, rest: readonly string[]): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const timer = platform.setTimeout(() => reject(new Error("Command timed out")), COMMAND_MAX_MS);
    const pending = { resolve, reject, timer };
    this.#pending.push(pending);
    if (this.#pending.length === 1) this.#watchForSilence();
    const { scheduler, luck, machine } = this.#world;
    if (luck.strikes("redis_silent")) this.#thereAtMs = scheduler.monotonicMs + scheduler.draw() * 6_000;
    if (luck.strikes("redis_loses_command")) {
      this.#afterWhile("a connection to Redis breaks", () => this.reset());
      return promise;
    }
    this.#thereAtMs = Math.max(this.#thereAtMs, scheduler.monotonicMs + scheduler.draw());
    const arrive = () => this.#arrive(pending, { command, script, rest });
    scheduler.after(this.#thereAtMs - scheduler.monotonicMs, "a command reaches Redis", arrive, machine);
    return promise;
  }

  /** Breaks the connection, as both ends see it. */
  reset(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#redis.connections.delete(this);
    platform.clearTimeout(this.#silence);
    const { scheduler } = this.#world;
    const tell = (): void => {
      for (const { reject, timer } of this.#pending.splice(0)) {
        platform.clearTimeout(timer);
        reject(new Error("Connection is closed."));
      }
      this.#end.onEnd();
    };
    scheduler.after(0, "loses its connection to Redis", tell, this.#end.machine);
  }

  /** A command has reached the server, which executes it also when the connection was lost meanwhile. */
  #arrive(pending: PendingCommand, call: ScriptCall): void {
    const { scheduler } = this.#world;
    const waitMs = this.#redis.waitMs();
    if (waitMs > 0) {
      this.#thereAtMs = Math.max(this.#thereAtMs, scheduler.monotonicMs + waitMs);
      scheduler.after(waitMs, "Redis goes on", () => this.#arrive(pending, call));
      return;
    }
    if (!this.#redis.isUp) return;
    if (!this.#isOpen) {
      this.#straggle(call);
      return;
    }
    this.#redis.execute(call, (answer) => this.#answer(pending, answer));
  }

  /** The server has executed a command. */
  #answer(pending: PendingCommand, answer: Answer): void {
    const { scheduler, luck } = this.#world;
    if (luck.strikes("redis_loses_answer")) {
      this.reset();
      return;
    }
    this.#backAtMs = Math.max(this.#backAtMs, scheduler.monotonicMs + scheduler.draw());
    const backMs = this.#backAtMs - scheduler.monotonicMs;
    scheduler.after(backMs, "Redis answers", () => this.#take(pending, answer), this.#end.machine);
  }

  /** Half of the commands of a lost connection are executed, up to a second later. */
  #straggle(call: ScriptCall): void {
    const { scheduler } = this.#world;
    if (scheduler.draw() < 0.5) return;
    const run = () => {
      if (this.#redis.isUp) this.#redis.execute(call, () => undefined);
    };
    scheduler.after(scheduler.draw() * STRAGGLERS_MS, "Redis executes what a lost connection sent", run);
  }

  #take(pending: PendingCommand, answer: Answer): void {
    if (!this.#isOpen) return;
    this.#pending.splice(this.#pending.indexOf(pending), 1);
    platform.clearTimeout(pending.timer);
    platform.clearTimeout(this.#silence);
    if (this.#pending.length > 0) this.#watchForSilence();
    if (answer instanceof Error) pending.reject(answer);
    else pending.resolve(answer);
  }

  #watchForSilence(): void {
    this.#silence = platform.setTimeout(() => this.reset(), SILENCE_MAX_MS);
  }

  #afterWhile(label: string, run: () => void): void {
    const { scheduler, machine } = this.#world;
    scheduler.after(scheduler.draw() * 5, label, run, machine);
  }
}

type Answer = Reply | Error;
