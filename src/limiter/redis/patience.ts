/** A Redis that did not answer in time. */
export class RedisTimeoutError extends Error {
  override readonly name = "RedisTimeoutError";
}

/**
 * What Redis answers; rejects with {@link RedisTimeoutError} when that takes longer than `ms`. When this process
 * was held up itself, what has come meanwhile still counts as in time.
 */
export function patiently<Reply>(ms: number, reply: Promise<Reply>): Promise<Reply> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new RedisTimeoutError("it did not answer in time"));
  // Two turns: the sockets are read between them.
  const timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), ms);
  return Promise.race([reply, overdue]).finally(() => clearTimeout(timer));
}
