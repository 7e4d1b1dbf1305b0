/** Files that take longest, slowest first. Started last, one of them would run alone at the end. */
const LONGEST = [
  "test/month/month.test.ts",
  "test/ledger-grpc/client.test.ts",
  "test/browser/every-page.test.ts",
  "test/http/console/requests.test.ts",
  "test/ledger-grpc/contract.test.ts",
  "test/browser/notices.test.ts",
  "test/clients/python-tool-runner.test.ts",
  "test/docs/docs.test.ts",
  "test/ledger/postgres-contract.test.ts",
  "test/exports/served-exports.test.ts",
  "test/simulate/planted-code.test.ts",
  "test/ledger/sqlite-contract.test.ts",
  "test/simulate/simulate.test.ts",
  "test/bodies/conversation-body.property.test.ts",
  "test/limiter/peer-gateways.test.ts",
  "test/ledger/postgres-faults.test.ts",
  "test/plans/year.test.ts",
  "test/simulate/shrink.test.ts",
  "test/app/config-reload.test.ts",
  "test/limiter/redis.test.ts",
  "test/simulate/faults.test.ts",
  "test/http/faults/faults.test.ts",
  "test/ledger/roll-ups/roll-ups.test.ts",
  "test/http/early-errors.test.ts",
  "test/http/revoked-keys.test.ts",
  "test/upgrade/rolling.test.ts",
  "test/start/ledger-process.test.ts",
  "test/replicas/haproxy.test.ts",
  "test/start/process.test.ts",
  "test/ledger/audit.test.ts",
  "test/browser/people.test.ts",
  "test/http/slow-client.test.ts",
  "test/http/recordings.test.ts",
  "test/browser/layout.test.ts",
  "test/limiter/redis-failover.test.ts",
  "test/browser/keys.test.ts",
  "test/start/limiter-redis.test.ts",
  "test/browser/requests.test.ts",
  "test/db/postgres-pool.test.ts",
  "test/browser/roles.test.ts",
  "test/delivery/webhook.test.ts",
  "test/http/idle-connections.test.ts",
  "test/delivery/mail/mail-worker.test.ts",
  "test/ledger/processes.test.ts",
  "test/payments/chargeback.test.ts",
  "test/plans/kills.test.ts",
  "test/browser/sign-in-ways.test.ts",
  "test/upgrade/upgrade.test.ts",
  "test/cli/models-add.test.ts",
  "test/year/year.test.ts",
  "test/start/outbox.test.ts",
  "test/browser/money.test.ts",
  "test/browser/projects.test.ts",
];

/**
 * Returns the content of a file of Bun's option `--timings`, which starts files in the order of their times.
 * Contains every file, because Bun takes a file without a time for the slowest.
 */
export function printTimings(files: readonly string[]): string {
  const times = files.map((file) => {
    const place = LONGEST.indexOf(file);
    return [file, place < 0 ? 1 : 1_000 * (LONGEST.length - place)];
  });
  return JSON.stringify({ version: 1, files: Object.fromEntries(times) });
}

/** Returns the listed files that do not exist. */
export function findGone(files: readonly string[]): readonly string[] {
  return LONGEST.filter((file) => !files.includes(file));
}
