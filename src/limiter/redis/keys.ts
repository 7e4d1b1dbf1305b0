/** A key of an account, by their ids. */
export interface CallerNames {
  readonly accountId: string;
  readonly keyId: string;
}

/**
 * Where Redis keeps a caller: window and leases of its key, window and leases of its account. All keys of an
 * account have one hash tag, so that a cluster keeps them together.
 */
export function keysOf({ accountId, keyId }: CallerNames): readonly string[] {
  const account = `tollgate:{${encode(accountId)}}`;
  const key = `${account}:key:${encode(keyId)}`;
  return [key, `${key}:leases`, account, `${account}:leases`];
}

/** Ids as we make them stay as they are; others must not be able to look like another caller. */
function encode(id: string): string {
  return /^[\w-]+$/.test(id) ? id : encodeURIComponent(id);
}
