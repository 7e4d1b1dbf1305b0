import { createHash } from "node:crypto";
import type { World } from "../world.ts";
import { KeySpace } from "./key-space.ts";
import { LuaMachine, type Reply, ReplyError } from "./lua.ts";
import type { RealRedis, ScriptCall } from "./real-redis.ts";

/** The scripts keep nothing in it from one call to the next. */
const machine = new LuaMachine();

/** How far a replica may be behind the server that it follows. */
const LAG_MAX_MS = 1_000;

/** A connection that ends when the server does. */
interface OpenConnection {
  reset(): void;
}

/** What the server had at a time. */
interface Copy {
  readonly atMs: number;
  readonly keys: KeySpace;
}

/**
 * One Redis for all gateways of a world. It runs the true scripts by the world's wall clock, on keys in memory or in a
 * real Redis behind it.
 */
export class SimulatedRedis {
  isUp = true;
  /** What the gateways do while it is away. */
  readonly onFailure: "local" | "deny";
  readonly connections = new Set<OpenConnection>();
  readonly #world: World;
  readonly #real: RealRedis | undefined;
  readonly #scripts = new Map<string, string>();
  #keys: KeySpace;
  /** What a replica may have: the state before each script of the last second. */
  #copies: Copy[] = [];
  #stalledUntilMs = 0;

  constructor(world: World, real: RealRedis | undefined) {
    this.#world = world;
    this.#real = real;
    real?.forget("nothing");
    this.onFailure = world.scheduler.draw() < 0.8 ? "local" : "deny";
    this.#keys = new KeySpace(() => world.scheduler.wallMs());
  }

  /** The clock that scripts read; `undefined` for their own. */
  get clockLua(): string | undefined {
    return this.#real?.clockLua;
  }

  /** The keys that are left, other than those of probes. Those of a real Redis expire by the machine's time. */
  left(): readonly string[] {
    return this.#keys.names().filter((key) => !key.includes(":probe"));
  }

  /** How long a command waits until the server reads it. */
  waitMs(): number {
    return Math.max(0, this.#stalledUntilMs - this.#world.scheduler.monotonicMs);
  }

  /** Executes nothing for a while, as when it writes a snapshot. */
  stall(ms: number): void {
    this.#stalledUntilMs = this.#world.scheduler.monotonicMs + ms;
  }

  /** Executes EVAL or EVALSHA, and calls `done` with the reply: at once, or as an event when a real Redis has answered. */
  execute(call: ScriptCall, done: (answer: Reply | Error) => void): void {
    const { scheduler, machine: world } = this.#world;
    if (this.#real) {
      this.#real.run(call, (answer) =>
        scheduler.after(0, "the real Redis has answered", () => done(answer), world),
      );
    } else done(this.#answer(call));
  }

  #answer(call: ScriptCall): Reply | Error {
    try {
      return this.#run(call);
    } catch (fault) {
      if (fault instanceof ReplyError) return fault;
      throw fault;
    }
  }

  #run({ command, script, rest }: ScriptCall): Reply {
    const source = command === "eval" ? script : this.#scripts.get(script);
    if (source === undefined) throw new ReplyError("NOSCRIPT No matching script");
    this.#scripts.set(createHash("sha1").update(source).digest("hex"), source);
    this.#keepCopy();
    const count = Number(rest[0]);
    const keys = rest.slice(1, 1 + count);
    const args = rest.slice(1 + count);
    return machine.run(source, { keys, args, command: (name, values) => this.#keys.run(name, values) });
  }

  /** Ends, and starts again with its data, without it, or as the replica that followed it. */
  restart(keeps: "all" | "nothing" | "replicated"): void {
    const { scheduler, model } = this.#world;
    const lostSinceMs = this.#lose(keeps);
    if (lostSinceMs !== undefined) model.shared.onLoss(lostSinceMs);
    this.#copies = [];
    this.#scripts.clear();
    this.#real?.forget(keeps === "nothing" ? "nothing" : "keys");
    this.isUp = false;
    for (const connection of [...this.connections]) connection.reset();
    const downMs = scheduler.draw() * (scheduler.draw() < 0.2 ? 40_000 : 5_000);
    scheduler.after(downMs, "Redis is up again", () => {
      this.isUp = true;
    });
  }

  /** Returns the time since which what was executed is lost. */
  #lose(keeps: "all" | "nothing" | "replicated"): number | undefined {
    const { scheduler } = this.#world;
    if (keeps === "all") return undefined;
    if (keeps === "nothing") {
      this.#keys = new KeySpace(() => scheduler.wallMs());
      return Number.NEGATIVE_INFINITY;
    }
    const cutAtMs = scheduler.monotonicMs - scheduler.draw() * LAG_MAX_MS;
    const copy = this.#copies.find(({ atMs }) => atMs >= cutAtMs);
    if (copy) this.#keys = copy.keys;
    return copy?.atMs;
  }

  #keepCopy(): void {
    const { monotonicMs: atMs } = this.#world.scheduler;
    this.#copies = this.#copies.filter((copy) => copy.atMs > atMs - LAG_MAX_MS);
    this.#copies.push({ atMs, keys: this.#keys.copy() });
  }
}
