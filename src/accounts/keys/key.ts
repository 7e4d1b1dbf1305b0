import type { Markup } from "../../domain/money.ts";
import type { RecordingRules } from "../../domain/recording-rules.ts";
import type { Tier } from "../../domain/tiers.ts";
import type { Limits } from "../../limiter/limiter.ts";
import { platform } from "../../platform.ts";

/** An API key as it is stored. The secret itself is not stored, only its digest. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** First 10 characters of the secret, for display: "sk-tg-3fK9". Not unique. */
  readonly hint: string;
  /** Limits of this key that override the configured defaults. */
  readonly limits: Limits;
  /** Ids of the models that the key may use; `undefined` allows every model. */
  readonly models: readonly string[] | undefined;
  /** The service tiers that the key may ask for; absent for every tier. */
  readonly tiers?: readonly Tier[] | undefined;
  /** Whether it may use no tool at the provider that has a fee. */
  readonly forbidsPaidTools?: true | undefined;
  /** Whether the output limit of a request may be lowered to what the wallet can pay. */
  readonly allowsClamp: boolean;
  /** Whether the key may make keys below it. */
  readonly allowsChildren: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
  /** Id of the person or management key that created it; `undefined` for a key of the command line. */
  readonly createdBy: string | undefined;
  /** The project that owns the key; `undefined` for the account's default one. A key below another has its root's. */
  readonly projectId: string | undefined;
  /** Ids of the keys above it, the nearest first; empty for a key that no key made. */
  readonly parentIds: readonly string[];
  /** From 1; increases with each change. */
  readonly version: number;
  /** The secret before the latest rotation; it may have ended. */
  readonly previous: PreviousSecret | undefined;
  /** How bodies of its requests are kept, until `untilMs`; absent for a key that never recorded. */
  readonly recording?: RecordingRules | undefined;
}

/** Returns the id of the key at the top of a key's tree, whose rates and concurrency the whole tree shares. */
export function rootIdOf({ id, parentIds }: Pick<ApiKey, "id" | "parentIds">): string {
  return parentIds.at(-1) ?? id;
}

type KeyState = "active" | "revoked" | "expired";

/** A secret that a rotation replaced. */
interface PreviousSecret {
  readonly hint: string;
  /** Unix milliseconds from which it is no longer accepted. */
  readonly endsAtMs: number;
}

/** Whether a key may be used, as of its row. */
export function stateOfKey({ revokedAtMs, expiresAtMs }: ApiKey, nowMs: number): KeyState {
  if (revokedAtMs !== undefined) return "revoked";
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? "expired" : "active";
}

/** The authenticated sender of a request: a key in force, and whether the account that pays is suspended. */
export interface Caller {
  readonly key: ApiKey;
  readonly accountSuspended: boolean;
  /** The account's factor over upstream costs; `undefined` for the prices of the models. */
  readonly markup?: Markup | undefined;
  /** Whether holds count for project and member. Default: false. */
  readonly hasScopes?: boolean | undefined;
  /** The person who made the key; `undefined` for a management key and the command line. */
  readonly memberId?: string | undefined;
  /** How receipts name end users. Default: by the text that was sent. */
  readonly endUsers?: "hashed" | "off" | undefined;
  /** The keys that tags of requests may have. Default: none. */
  readonly tagKeys?: readonly string[] | undefined;
  /** When the secret of this caller ends, in Unix milliseconds; set for one that a rotation replaced. */
  readonly secretEndsAtMs?: number | undefined;
}

/**
 * Finds the caller of a secret, at once where it is cached. Rejects with `unknown_key` for a missing, unknown,
 * expired or revoked secret.
 */
export type Authenticate = (secret: string | undefined) => Caller | Promise<Caller>;

const PREFIX = "sk-tg-";
const HINT_LENGTH = PREFIX.length + 4;
/** Our own secrets, and those of keys that were imported from another gateway. */
const SECRET = /^sk-(?:tg-[\w-]{43}|(?!tg-)[\w-]{20,128})$/;

/** Creates 32 random bytes in base64url: 43 characters. */
export function createToken(): string {
  return platform.randomBytes(32).toString("base64url");
}

/** Creates the secret of a key: the prefix and a token. */
export function createSecret(): string {
  return PREFIX + createToken();
}

/** Whether a text has the form of a secret. Texts of another form are neither hashed nor looked up. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** SHA-256 of a secret in hex, which is stored and looked up in place of the secret. */
export function digestOf(secret: string): string {
  return Bun.CryptoHasher.hash("sha256", secret, "hex");
}

/** First 10 characters of a secret, which may be displayed. */
export function hintOf(secret: string): string {
  return secret.slice(0, HINT_LENGTH);
}
