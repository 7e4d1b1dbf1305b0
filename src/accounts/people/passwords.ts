import { randomBytes } from "node:crypto";
import { GatewayError } from "../../errors.ts";
import { createFairQueue, type FairQueue } from "../../workers/fair-queue.ts";

/** argon2id as OWASP advises; about 40 ms of one core and 19 MiB. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

const CHARACTERS_MIN = 10;
const CHARACTERS_MAX = 128;
/** A two-core machine keeps answering requests while this many hashes run. */
const RUNNING_MAX = 2;
/** Hashes of strangers that wait, over all networks: about 5 s of two cores. */
const WAITING_MAX = 256;
/** Hashes of one network, session or device that wait. 60 networks leave places for others. */
const WAITING_EACH_MAX = 4;

/** For whom a hash is made. Callers of one kind alternate, and trusted ones alternate with strangers. */
export interface HashCaller {
  /** The network of a stranger; the session or the known device of a trusted caller. */
  readonly owner: string;
  readonly isTrusted: boolean;
}

/** Hashes and verifies passwords off the event loop. */
export interface Passwords {
  /** Returns the argon2id hash of a password. Rejects with `sign_in_throttled` when too many hashes wait. */
  hash(password: string, caller?: HashCaller): Promise<string>;
  /** Whether a password has this hash; false for a damaged hash. Rejects like `hash`. */
  verify(password: string, hash: string, caller?: HashCaller): Promise<boolean>;
}

/** The program itself. */
const OWN: HashCaller = { owner: "own", isTrusted: true };

/** Runs at most 2 hashes at a time, while 4 others of each caller wait, and 256 each of strangers and trusted. */
export function createPasswords(): Passwords {
  const trusted: Waiting = createFairQueue();
  const strangers: Waiting = createFairQueue();
  let running = 0;
  let isTrustedNext = true;

  const takeTurn = async ({ owner, isTrusted }: HashCaller): Promise<void> => {
    if (running < RUNNING_MAX) {
      running += 1;
      return;
    }
    // The slot passes from the one that ends to the one that waits: `running` does not change.
    await waitIn(isTrusted ? trusted : strangers, owner);
  };
  const passTurn = (): void => {
    const next = isTrustedNext
      ? (trusted.shift() ?? strangers.shift())
      : (strangers.shift() ?? trusted.shift());
    isTrustedNext = !isTrustedNext;
    if (next) next();
    else running -= 1;
  };
  const inTurn = async <Result>(caller: HashCaller, work: () => Promise<Result>): Promise<Result> => {
    await takeTurn(caller);
    return work().finally(passTurn);
  };

  return {
    hash: (password, caller = OWN) => inTurn(caller, () => Bun.password.hash(normalise(password), ARGON2ID)),
    // Bun throws for a text that is no hash; such a credential must fail like a wrong password.
    verify: (password, hash, caller = OWN) =>
      inTurn(caller, () => Bun.password.verify(normalise(password), hash).catch(() => false)),
  };
}

type Waiting = FairQueue<() => void>;

/** Waits for a turn. Throws `sign_in_throttled` when too many hashes of the owner or of all wait. */
function waitIn(queue: Waiting, owner: string): Promise<void> {
  if (queue.size >= WAITING_MAX || queue.sizeOf(owner) >= WAITING_EACH_MAX) {
    throw new GatewayError("sign_in_throttled", { retryAfterS: 1 });
  }
  return new Promise((resolve) => queue.push(owner, resolve));
}

/** Throws `wrong_shape` unless a new password has 10 to 128 characters after normalisation. */
export function checkNewPassword(password: string): void {
  const characters = Array.from(normalise(password)).length;
  if (characters >= CHARACTERS_MIN && characters <= CHARACTERS_MAX) return;
  throw new GatewayError("wrong_shape", {
    path: "password",
    message: `A password has ${CHARACTERS_MIN} to ${CHARACTERS_MAX} characters.`,
  });
}

/** Creates a password of 24 characters with 144 random bits. */
export function createOneTimePassword(): string {
  return randomBytes(18).toString("base64url");
}

/** Keyboards type one letter as different code points: NFKC makes them equal. */
function normalise(password: string): string {
  return password.normalize("NFKC");
}
