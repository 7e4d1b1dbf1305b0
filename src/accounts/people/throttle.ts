import { isIPv6 } from "node:net";
import { GatewayError } from "../../errors.ts";
import { type Admission, type AdmissionRequest, type Limiter, LimiterError } from "../../limiter/limiter.ts";
import { createMemoryLimiter } from "../../limiter/memory.ts";
import type { Actor } from "../audit-trail.ts";
import { digestOf } from "../keys/key.ts";

interface ThrottleRule {
  /** Attempts per minute of one address. */
  readonly perAddress: number;
  /** Attempts per minute on one subject, such as an e-mail address. */
  readonly perSubject: number;
  /** Attempts per minute of one address on one subject. Default: those of the address. */
  readonly perPair?: number;
  /** Whether an attempt that succeeds is not counted: a correct password is no guess. */
  readonly forgetsSuccess: boolean;
}

/**
 * What is throttled. One address reaches its own limits before that of a subject: three addresses together cannot
 * lock a person out. Where more do, a trusted caller still passes.
 */
const RULES = {
  "sign-in": { perAddress: 10, perPair: 5, perSubject: 20, forgetsSuccess: true },
  "sign-up": { perAddress: 5, perSubject: 5, forgetsSuccess: false },
  /** Accounts that people make for themselves. */
  account: { perAddress: 10, perSubject: 5, forgetsSuccess: false },
  /** Requests that order a mail. */
  mail: { perAddress: 5, perSubject: 3, forgetsSuccess: false },
  /** Sign-ins that are begun at a provider, each with a row. */
  provider: { perAddress: 60, perSubject: 60, forgetsSuccess: false },
  /** Secrets that a caller may try to guess: tokens of mails, redeem codes, answers of providers. */
  guess: { perAddress: 20, perSubject: 20, forgetsSuccess: true },
  /** Links that are read: any site can make a browser do so, and would otherwise use up the sign-ins of its address. */
  link: { perAddress: 20, perSubject: 20, forgetsSuccess: true },
  /** Bodies that the console refuses, and those of an address that are being read. */
  body: { perAddress: 120, perSubject: 120, forgetsSuccess: true },
  /** Signed calls of one caller. */
  signed: { perAddress: 300, perSubject: 300, forgetsSuccess: false },
} as const satisfies Record<string, ThrottleRule>;

type ThrottleKind = keyof typeof RULES;

interface Attempt {
  /** The caller's address. An IPv6 address counts with its /64 network. */
  readonly address: string | undefined;
  readonly subject?: string | undefined;
  /** A session, a known device or a caller whose signature was checked. It counts alone, as one address does: no stranger can use up its attempts. */
  readonly trusted?: string | undefined;
}

/**
 * Counts an attempt and runs it. Rejects with `sign_in_throttled` and its `retry-after` when the address or the
 * subject had too many within 60 seconds.
 */
export type Throttle = <Result>(
  kind: ThrottleKind,
  attempt: Attempt,
  work: () => Promise<Result>,
) => Promise<Result>;

/**
 * Throttles through the limiter of requests, so that all replicas with one Redis count together. While Redis is
 * away under `on_failure: deny`, each gateway counts alone: operators must be able to sign in during an outage.
 */
export function createThrottle(limiter: () => Pick<Limiter, "admit">): Throttle {
  const alone = createMemoryLimiter();
  const admit = (request: AdmissionRequest) =>
    limiter()
      .admit(request)
      .catch((fault: unknown) => {
        if (fault instanceof LimiterError) return alone.admit(request);
        throw fault;
      });
  const count = async (id: string, requestsPerMinute: number): Promise<Admission> => {
    const decision = await admit({
      accountId: `throttle:${digestOf(id)}`,
      keyId: "console",
      keyLimits: { requestsPerMinute },
      accountLimits: {},
      tokens: 0,
    });
    if (decision.admitted) return decision;
    throw new GatewayError("sign_in_throttled", { retryAfterS: decision.retryAfterS });
  };
  return async (kind, attempt, work) => {
    const rule: ThrottleRule = RULES[kind];
    const counted: Admission[] = [];
    // An attempt that one counter refuses is not counted by the others.
    let isForgotten = true;
    try {
      for (const [id, perMinute] of countersOf(rule, attempt)) {
        counted.push(await count(`${kind}:${id}`, perMinute));
      }
      isForgotten = false;
      const result = await work();
      isForgotten = rule.forgetsSuccess;
      return result;
    } finally {
      await Promise.all(counted.map((each) => (isForgotten ? each.cancel() : each.settle(0))));
    }
  };
}

/** Returns the counters of an attempt, each with its limit per minute. The first full one refuses. */
function countersOf(
  { perAddress, perPair, perSubject }: ThrottleRule,
  { address, subject, trusted }: Attempt,
): readonly (readonly [id: string, perMinute: number])[] {
  if (trusted !== undefined) return [[`trusted:${trusted}`, perAddress]];
  const network = networkOf(address);
  const ofAddress = [`address:${network}`, perAddress] as const;
  if (subject === undefined) return [ofAddress];
  const ofPair = [`pair:${network}:${subject}`, perPair ?? perAddress] as const;
  return [ofAddress, ofPair, [`subject:${subject}`, perSubject]];
}

/**
 * Returns the network that counts as one caller: the /64 of an IPv6 address. Callers without an address count
 * together, because they would otherwise pass unthrottled.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return "unknown";
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const { hostname } = new URL(`http://[${address.split("%", 1)[0]}]`);
  return expand(hostname.slice(1, -1)).slice(0, 4).join(":");
}

/** The eight groups of a compressed IPv6 address. */
function expand(address: string): readonly string[] {
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
}

/** What throttles trust of an actor: its session, whose attempts strangers at its address do not use up. */
export function trustedSessionOf(session: Actor["session"]): string | undefined {
  return session && `session:${session.id}`;
}
