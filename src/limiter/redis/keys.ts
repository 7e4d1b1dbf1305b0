/** Ids of a caller: a key and its account. */
export interface CallerIds {
  readonly accountId: string;
  readonly keyId: string;
}

/**
 * Version of the stored layout. It changes with the layout, so that old and new gateways do not misread each
 * other.
 */
const LAYOUT = 1;

/**
 * Returns the Redis keys of a caller: window and leases of its key, window and leases of its account. All
 * keys of an account have one hash tag, so that a cluster keeps them on one node.
 */
export function keysOf({ accountId, keyId }: CallerIds): readonly string[] {
  const account = accountKey(accountId);
  const key = `${account}:key:${encode(keyId)}`;
  return [key, `${key}:leases`, account, `${account}:leases`];
}

/** Returns the Redis keys of a probe on an account's server. Nothing in them counts for the account. */
export function probeKeysOf(accountId: string): readonly string[] {
  const probe = `${accountKey(accountId)}:probe`;
  return [`${probe}:key`, `${probe}:key:leases`, probe, `${probe}:leases`];
}

/** Returns the Redis key of the recorded answer to a restoration of an account's counts. */
export function restoredKeyOf(accountId: string, restoration: string): string {
  return `${accountKey(accountId)}:restored:${restoration}`;
}

function accountKey(accountId: string): string {
  return `tollgate:${LAYOUT}:{${encode(accountId)}}`;
}

/** Keeps generated ids as they are, and escapes others: no id may collide with another caller's key. */
function encode(id: string): string {
  return /^[\w-]+$/.test(id) ? id : encodeURIComponent(id);
}
