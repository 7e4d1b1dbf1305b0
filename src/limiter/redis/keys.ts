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

/** Redis keys of the windows of a key and its account. */
export interface CallerWindows {
  readonly key: string;
  readonly account: string;
}

/** All keys of an account have one hash tag, so that a cluster keeps them on one node. */
export function windowsOf({ accountId, keyId }: CallerIds): CallerWindows {
  const account = accountKey(accountId);
  return { key: `${account}:key:${encode(keyId)}`, account };
}

/** Returns the windows of a probe on an account's server. Nothing in them counts for the account. */
export function probeWindowsOf(accountId: string): CallerWindows {
  const account = `${accountKey(accountId)}:probe`;
  return { key: `${account}:key`, account };
}

/** Returns the Redis key of the leases that belong to a window. */
export function leasesOf(window: string): string {
  return `${window}:leases`;
}

/** Returns the Redis keys of a caller: window and leases of its key, window and leases of its account. */
export function keysOf(ids: CallerIds): readonly string[] {
  const { key, account } = windowsOf(ids);
  return [key, leasesOf(key), account, leasesOf(account)];
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
