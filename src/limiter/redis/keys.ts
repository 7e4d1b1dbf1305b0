/** A key of an account, by their ids. */
export interface CallerIds {
  readonly accountId: string;
  readonly keyId: string;
}

/** Of what is kept; another number when that changes, so that old and new gateways do not misread each other. */
const LAYOUT = 1;

/**
 * Where Redis keeps a caller: window and leases of its key, window and leases of its account. All keys of an
 * account have one hash tag, so that a cluster keeps them together.
 */
export function keysOf({ accountId, keyId }: CallerIds): readonly string[] {
  const account = accountKey(accountId);
  const key = `${account}:key:${encode(keyId)}`;
  return [key, `${key}:leases`, account, `${account}:leases`];
}

/** Of a caller beside an account, who is no key of it and counts for nobody. */
export function probeKeysOf(accountId: string): readonly string[] {
  const probe = `${accountKey(accountId)}:probe`;
  return [`${probe}:key`, `${probe}:key:leases`, probe, `${probe}:leases`];
}

/** Where is kept what was answered to a restoration of an account's counts. */
export function restoredKeyOf(accountId: string, restoration: string): string {
  return `${accountKey(accountId)}:restored:${restoration}`;
}

function accountKey(accountId: string): string {
  return `tollgate:${LAYOUT}:{${encode(accountId)}}`;
}

/** Ids as we make them stay as they are; others must not be able to look like another caller. */
function encode(id: string): string {
  return /^[\w-]+$/.test(id) ? id : encodeURIComponent(id);
}
