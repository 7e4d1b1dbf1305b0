import { startRedisServer } from "./redis-server.ts";

let serverUrl: Promise<string> | undefined;

/**
 * The Redis of `TEST_REDIS_URL`, or else a private one, which is started once for all tests of the run
 * and keeps nothing on disk.
 */
export function testRedisUrl(): Promise<string> {
  serverUrl ??= findServer();
  return serverUrl;
}

async function findServer(): Promise<string> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return given;
  const { url } = await startRedisServer();
  return url;
}
