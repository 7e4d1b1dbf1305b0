import { randomBytes } from "node:crypto";
import { GatewayError } from "../errors.ts";

/** argon2id as OWASP advises; about 40 ms of one core and 19 MiB. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

const CHARACTERS_MIN = 10;
const CHARACTERS_MAX = 128;
/** A two-core machine keeps answering requests while this many hashes run. */
const RUNNING_MAX = 2;
const WAITING_MAX = 16;

/** Hashes and verifies passwords off the event loop. */
export interface Passwords {
  /** Returns the argon2id hash of a password. Rejects with `sign_in_throttled` when too many hashes wait. */
  hash(password: string): Promise<string>;
  /** Whether a password has this hash; false for a damaged hash. Rejects like `hash`. */
  verify(password: string, hash: string): Promise<boolean>;
}

/** Runs at most 2 hashes at a time, in the order of arrival, while at most 16 others wait. */
export function createPasswords(): Passwords {
  const waiting: (() => void)[] = [];
  let running = 0;

  const takeTurn = async (): Promise<void> => {
    if (running < RUNNING_MAX) {
      running += 1;
      return;
    }
    if (waiting.length >= WAITING_MAX) throw new GatewayError("sign_in_throttled", { retryAfterS: 1 });
    // The slot passes from the one that ends to the one that waits: `running` does not change.
    await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await takeTurn();
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };

  return {
    hash: (password) => inTurn(() => Bun.password.hash(normalise(password), ARGON2ID)),
    // Bun throws for a text that is no hash; such a credential must fail like a wrong password.
    verify: (password, hash) =>
      inTurn(() => Bun.password.verify(normalise(password), hash).catch(() => false)),
  };
}

/** Throws `wrong_shape` unless a new password has 10 to 128 characters after normalisation. */
export function checkNewPassword(password: string): void {
  const characters = Array.from(normalise(password)).length;
  if (characters >= CHARACTERS_MIN && characters <= CHARACTERS_MAX) return;
  throw new GatewayError("wrong_shape", {
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
