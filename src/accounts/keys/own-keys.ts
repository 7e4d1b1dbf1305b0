// What a key may ask of itself, beside requests of models.
import type { Scope } from "../../domain/scope.ts";
import type { Tier } from "../../domain/tiers.ts";
import type { SpendingLimit } from "../spending-limits.ts";
import type { ApiKey } from "./key.ts";
import type { IssuedKey } from "./keys.ts";

/** A key that another key makes. */
export interface NewChild {
  readonly name: string;
  readonly spendingLimit: SpendingLimit;
  /** From the creation to the end of the key, which ends with its parent at the latest. */
  readonly lifeMs: number;
  /** Some of the models that the parent may use. Default: those of the parent. */
  readonly models: readonly string[] | undefined;
  /** Some of the service tiers that the parent may ask for. Default: those of the parent. */
  readonly tiers?: readonly Tier[] | undefined;
  /** Default: as the parent. */
  readonly forbidsPaidTools?: boolean | undefined;
}

/** The key that makes another one, as authenticated, and the secret that was sent. */
interface Parent {
  readonly key: ApiKey;
  readonly secret: string;
}

export type MakeChild = (parent: Parent, child: NewChild) => Promise<IssuedKey>;

/** A scope that every hold of a key has, with the name that its owner gave it. */
export interface NamedScope extends Scope {
  readonly name: string;
}

export interface OwnKeys {
  readonly makeChild: MakeChild;
  /** What the owner calls the keys above, the project and the author of a key. */
  readonly nameScopes: (key: ApiKey) => Promise<readonly NamedScope[]>;
}
