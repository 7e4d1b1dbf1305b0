import { connectRedis, type RedisConnection } from "../../../src/limiter/redis/server.ts";
import { platform } from "../../../src/platform.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import type { Reply } from "./lua.ts";

const CLOCK_KEY = "simulation:clock";

/** A command as a connection of the world carries it. */
export interface ScriptCall {
  readonly command: string;
  readonly script: string;
  readonly rest: readonly string[];
}

/**
 * A Redis server of this machine, over the client of production. Its scripts read the world's clock. The machine's time
 * passes until it has answered, and no simulated time: runs with it are not deterministic.
 */
export class RealRedis {
  /** Lua that reads the clock. */
  readonly clockLua = `local function clock_ms() return tonumber(call('GET', '${CLOCK_KEY}')) end`;
  readonly #server: RedisServer;
  readonly #connection: RedisConnection;
  #inFlight = 0;
  #wake: (() => void) | undefined;

  private constructor(server: RedisServer) {
    this.#server = server;
    this.#connection = connectRedis(server.location);
  }

  static async start(): Promise<RealRedis> {
    const redis = new RealRedis(await startRedisServer());
    while (redis.#connection.fault() !== undefined) await Bun.sleep(5);
    return redis;
  }

  async stop(): Promise<void> {
    this.#connection.close();
    await this.#server.stop();
  }

  /** Runs a script by the world's clock. `done` is called with its reply, or its error, while nothing else runs. */
  run({ command, script, rest }: ScriptCall, done: (answer: Reply | Error) => void): void {
    const { client } = this.#connection;
    this.#track(client.set(CLOCK_KEY, platform.now()), () => undefined);
    // Safe because a script of the limiter replies with bytes, numbers or a list of them.
    const reply = client.callBuffer(command, script, ...rest) as Promise<Reply>;
    this.#track(reply, done);
  }

  /** Forgets its scripts, as at a restart, and its keys. */
  forget(keeps: "keys" | "nothing"): void {
    const { client } = this.#connection;
    this.#track(client.call("SCRIPT", "FLUSH"), () => undefined);
    if (keeps === "nothing") this.#track(client.flushall(), () => undefined);
  }

  /** Whether a command is not answered yet. */
  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  /** Resolves when every command is answered. */
  async idle(): Promise<void> {
    while (this.isBusy) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }

  #track<Answer>(reply: Promise<Answer>, done: (answer: Answer | Error) => void): void {
    this.#inFlight += 1;
    const end = (answer: Answer | Error) => {
      done(answer);
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#wake?.();
    };
    reply.then(end, (fault: unknown) => end(fault instanceof Error ? fault : new Error(String(fault))));
  }
}
