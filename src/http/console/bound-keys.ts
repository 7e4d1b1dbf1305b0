import type { Account } from "../../accounts/accounts.ts";
import type { ApiKey } from "../../accounts/keys/key.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { limitsThatBind, printBinding, printLimit, readSharedLimits } from "./key-limits.ts";
import type { keyPage } from "./key-shapes.ts";
import { readFacts, viewOf } from "./key-view.ts";
import { predictDecline } from "./next-decline.ts";
import { quoteSmallRequests } from "./small-request.ts";

/** A key with its limits, the tightest first, and what its next request would be refused for. */
type BoundKey = typeof keyPage.static;

/** Shows keys of one account with what binds them. What the keys share is read once. */
export async function viewBoundKeys(
  parts: ConsoleParts,
  account: Account,
  keys: readonly ApiKey[],
  offsetHours?: number,
): Promise<BoundKey[]> {
  const [factsOf, shared] = await Promise.all([
    readFacts(parts, account.id, keys, offsetHours),
    readSharedLimits(parts, account.id),
  ]);
  const find = quoteSmallRequests(parts.gateway());
  return keys.map((key) => {
    const facts = factsOf(key);
    const bounds = limitsThatBind(parts, key, { facts, shared });
    const money = { wallet: shared.balances, limits: facts.spendLimits };
    const decline = predictDecline(find, { account, key, limits: bounds, money, nowMs: parts.now() });
    // The limit that refuses the next request binds first, however little of it is used.
    const limits = decline?.limit
      ? [decline.limit, ...bounds.filter((each) => each !== decline.limit)]
      : bounds;
    const [tightest] = limits;
    if (!tightest) throw new Error("A key is bound by its wallet at least");
    return {
      ...viewOf(parts, key, facts),
      bound_by: printBinding(tightest),
      next_refusal: decline?.refusal ?? null,
      limits: limits.map(printLimit),
    };
  });
}

/** Shows one key with what binds it. */
export async function viewBoundKey(
  parts: ConsoleParts,
  account: Account,
  key: ApiKey,
  offsetHours?: number,
): Promise<BoundKey> {
  const [shown] = await viewBoundKeys(parts, account, [key], offsetHours);
  if (!shown) throw new Error("One key has one view");
  return shown;
}
