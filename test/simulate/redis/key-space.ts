import type { Reply } from "./lua.ts";

/** Members with their scores. */
type SortedSet = ReadonlyMap<string, number>;

interface Entry {
  readonly value: Uint8Array | SortedSet;
  /** Unix milliseconds; `undefined` for a key that does not expire. */
  readonly expiresAtMs: number | undefined;
}

type Arguments = readonly string[];

/**
 * The keys of a Redis in memory, with the commands that the scripts of the limiter use. No value is changed in place,
 * so that a copy shares its values.
 */
export class KeySpace {
  readonly #nowMs: () => number;
  readonly #entries: Map<string, Entry>;

  /** `nowMs` returns Unix milliseconds of the server's clock. */
  constructor(nowMs: () => number, entries: ReadonlyMap<string, Entry> = new Map()) {
    this.#nowMs = nowMs;
    this.#entries = new Map(entries);
  }

  copy(): KeySpace {
    return new KeySpace(this.#nowMs, this.#entries);
  }

  /** The keys that have not expired. */
  names(): readonly string[] {
    return [...this.#entries.keys()].filter((key) => this.#find(key) !== undefined);
  }

  /** Executes a command of a script. */
  run(name: string, bytes: readonly Uint8Array[]): Reply {
    const command = COMMANDS[name];
    if (!command) throw new Error(`The simulated Redis has no command ${name}`);
    const args = bytes.map((each) => Buffer.from(each).toString("latin1"));
    return command(this, args, bytes);
  }

  time(): Reply {
    const ms = this.#nowMs();
    return [encode(Math.floor(ms / 1_000)), encode((ms % 1_000) * 1_000)];
  }

  text(key: string): Uint8Array {
    const value = this.#find(key)?.value ?? NOTHING;
    if (value instanceof Uint8Array) return value;
    throw new Error("WRONGTYPE");
  }

  set(key: string): SortedSet {
    const value = this.#find(key)?.value ?? NO_MEMBERS;
    if (value instanceof Uint8Array) throw new Error("WRONGTYPE");
    return value;
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** Replaces a value, and keeps the expiry of its key. An empty set has no key. */
  put(key: string, value: Uint8Array | SortedSet): void {
    if (value instanceof Map && value.size === 0) this.#entries.delete(key);
    else this.#entries.set(key, { value, expiresAtMs: this.#find(key)?.expiresAtMs });
  }

  expire(key: string, ms: number): number {
    const entry = this.#find(key);
    if (!entry) return 0;
    this.#entries.set(key, { ...entry, expiresAtMs: this.#nowMs() + ms });
    return 1;
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.expiresAtMs === undefined || entry.expiresAtMs > this.#nowMs()) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}

const NOTHING = new Uint8Array();
const NO_MEMBERS: SortedSet = new Map();

type Command = (space: KeySpace, args: Arguments, bytes: readonly Uint8Array[]) => Reply;

/** @see https://redis.io/docs/latest/commands/ */
const COMMANDS: Readonly<Record<string, Command>> = {
  TIME: (space) => space.time(),
  GET: (space, [key = ""]) => (space.has(key) ? space.text(key) : null),
  GETRANGE: (space, [key = "", first, last]) => space.text(key).slice(Number(first), Number(last) + 1),
  SETRANGE(space, [key = "", offset], [, , part = NOTHING]) {
    const old = space.text(key);
    const value = new Uint8Array(Math.max(old.length, Number(offset) + part.length));
    value.set(old);
    value.set(part, Number(offset));
    space.put(key, value);
    return value.length;
  },
  SET(space, [key = "", , , ms], [, value = NOTHING]) {
    space.put(key, value.slice());
    space.expire(key, Number(ms));
    return encode("OK");
  },
  PEXPIRE: (space, [key = "", ms]) => space.expire(key, Number(ms)),
  ZSCORE(space, [key = "", member = ""]) {
    const score = space.set(key).get(member);
    return score === undefined ? null : encode(score);
  },
  ZCARD: (space, [key = ""]) => space.set(key).size,
  ZADD(space, [key = "", ...scored]) {
    const members = new Map(space.set(key));
    const { size } = members;
    for (let at = 0; at < scored.length; at += 2) members.set(scored[at + 1] ?? "", Number(scored[at]));
    space.put(key, members);
    return members.size - size;
  },
  ZREM(space, [key = "", member = ""]) {
    const members = new Map(space.set(key));
    if (!members.delete(member)) return 0;
    space.put(key, members);
    return 1;
  },
  ZREMRANGEBYSCORE(space, [key = "", , max]) {
    const members = space.set(key);
    const left = new Map([...members].filter(([, score]) => score > Number(max)));
    if (left.size < members.size) space.put(key, left);
    return members.size - left.size;
  },
  ZRANGEBYSCORE(space, [key = "", above = ""]) {
    const min = Number(above.slice(1));
    return sorted(
      space
        .set(key)
        .entries()
        .filter(([, score]) => score > min),
    ).map(([member]) => encode(member));
  },
  ZRANGE(space, [key = ""]) {
    const [first] = sorted(space.set(key));
    return first ? first.map(encode) : [];
  },
};

function sorted(members: Iterable<[string, number]>): readonly [string, number][] {
  return [...members].toSorted(
    ([one, score], [other, otherScore]) => score - otherScore || (one < other ? -1 : 1),
  );
}

function encode(value: string | number): Uint8Array {
  return Buffer.from(String(value), "latin1");
}
