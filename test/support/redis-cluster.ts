import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { freePort, isFreePort } from "./free-port.ts";
import { type RedisServer, type RedisServerOptions, startRedisServer } from "./redis-server.ts";
import { until } from "./until.ts";

/** Masters that share the hash slots, each with its replicas. */
export interface RedisCluster {
  /** Contains the addresses of the first masters. */
  readonly url: string;
  readonly location: RedisLocation;
  /** The initial masters, followed by their replicas. */
  readonly nodes: readonly RedisServer[];
  /** Returns the node that serves the keys of an account, as the first node that answers sees it. */
  masterOf(accountId: string): Promise<RedisServer>;
  stop(): Promise<void>;
}

export interface RedisClusterOptions {
  /** Number of masters. Default 3. */
  readonly masters?: number;
  /** Replicas of each master. Default 0. */
  readonly replicas?: 0 | 1;
  /** Whether the cluster stops serving while one slot has no master. Default false. */
  readonly needsEverySlot?: boolean;
  readonly server?: Pick<RedisServerOptions, "password" | "tls">;
}

const SLOTS = 16_384;
/** Longer than an answer takes on a busy machine. */
const ANSWER_MS = 5_000;
/** Distance from the port of a node to the port of its cluster bus. */
const BUS = 10_000;

/** Starts a cluster on the loopback. A node counts as failed after five seconds of silence. */
export async function startRedisCluster({
  masters = 3,
  replicas = 0,
  needsEverySlot = false,
  server = {},
}: RedisClusterOptions = {}): Promise<RedisCluster> {
  const settings = clusterSettings(needsEverySlot, server);
  const start = () => startRedisServer({ ...server, settings, port: freePortPair() });
  const nodes = await Promise.all(Array.from({ length: masters * (1 + replicas) }, start));
  const first = nodes.slice(0, masters);
  await shareSlots(first);
  await introduce(nodes);
  await Promise.all(nodes.slice(masters).map((replica, index) => follow(replica, first[index % masters])));
  await untilReady(async () => {
    const states = await Promise.all(nodes.map((node) => node.ask("CLUSTER", "INFO")));
    // Unless every slot is needed, a node is ok before it knows the slots of the others.
    return states.every((state) => /cluster_state:ok\r\ncluster_slots_assigned:16384\r/.test(`${state}`));
  });

  const hosts = first.map(({ port }) => ({ host: "127.0.0.1", port }));
  const [{ location }] = nodes as [RedisServer];
  return {
    url: `${clusterScheme(location)}${hosts.map(({ host, port }) => `${host}:${port}`).join(",")}`,
    location: { ...location, kind: "cluster", hosts },
    nodes,
    masterOf: (accountId) => masterOf(nodes, accountId),
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

function clusterScheme({ tls, password }: RedisLocation): string {
  return `${tls ? "rediss" : "redis"}+cluster://${password === undefined ? "" : `:${password}@`}`;
}

function clusterSettings(
  needsEverySlot: boolean,
  { password, tls }: Pick<RedisServerOptions, "password" | "tls">,
): Record<string, string> {
  return {
    "cluster-enabled": "yes",
    "cluster-config-file": "nodes.conf",
    // A busy machine may stop a node for a second or two.
    "cluster-node-timeout": "5000",
    "cluster-require-full-coverage": needsEverySlot ? "yes" : "no",
    // A replica may take over however long it has been without its master.
    "cluster-replica-validity-factor": "0",
    "repl-diskless-sync-delay": "0",
    ...(password === undefined ? {} : { masterauth: password }),
    ...(tls ? { "tls-cluster": "yes", "tls-replication": "yes" } : {}),
  };
}

/** Returns a free port whose bus port is free too. */
function freePortPair(): number {
  for (;;) {
    const port = freePort();
    if (isFreePort(port + BUS)) return port;
  }
}

async function shareSlots(masters: readonly RedisServer[]): Promise<void> {
  const bound = (index: number) => Math.floor((SLOTS * index) / masters.length);
  await Promise.all(
    masters.map(async (master, index) => {
      await master.ask("CLUSTER", "ADDSLOTSRANGE", bound(index), bound(index + 1) - 1);
      await master.ask("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
    }),
  );
}

async function introduce(nodes: readonly RedisServer[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    // Each node meets each other node, because gossip would take seconds.
    for (const other of nodes.slice(index + 1)) await node.ask("CLUSTER", "MEET", "127.0.0.1", other.port);
  }
  await untilReady(async () => {
    const views = await Promise.all(nodes.map(viewOf));
    return views.every((view) => view.length === nodes.length && view.every(({ isAlive }) => isAlive));
  });
}

async function follow(replica: RedisServer, master: RedisServer | undefined): Promise<void> {
  if (!master) throw new Error("There is no master to follow");
  await replica.ask("CLUSTER", "REPLICATE", `${await master.ask("CLUSTER", "MYID")}`);
  await untilReady(async () =>
    `${await replica.ask("INFO", "replication")}`.includes("master_link_status:up"),
  );
}

async function masterOf(nodes: readonly RedisServer[], accountId: string): Promise<RedisServer> {
  const askOne = async (observer: RedisServer) => {
    const slot = Number(await observer.ask("CLUSTER", "KEYSLOT", `{${accountId}}`));
    const owner = (await viewOf(observer)).find(({ serves, isAlive }) => isAlive && serves(slot));
    const node = nodes.find(({ port }) => port === owner?.port);
    if (!node) throw new Error(`No node serves the keys of ${accountId}`);
    return node;
  };
  // Some nodes may be dead, and a frozen one never answers.
  const frozen = Bun.sleep(ANSWER_MS).then(() => Promise.reject(new Error("No node names an owner")));
  return Promise.any(nodes.map((observer) => Promise.race([askOne(observer), frozen])));
}

interface NodeView {
  readonly port: number;
  readonly isAlive: boolean;
  serves(slot: number): boolean;
}

/** Parses CLUSTER NODES: id, address, flags, master, ping, pong, epoch, link, and slot ranges. */
async function viewOf(observer: RedisServer): Promise<readonly NodeView[]> {
  const lines = `${await observer.ask("CLUSTER", "NODES")}`.trim().split("\n");
  return lines.map((line) => {
    const [, address = "", flags = "", , , , , , ...ranges] = line.split(" ");
    const bounds = ranges.map((range) => range.split("-").map(Number));
    return {
      port: Number(address.slice(address.indexOf(":") + 1).split("@")[0]),
      isAlive: !/fail|handshake|noaddr/.test(flags),
      serves: (slot) => bounds.some(([from = -1, to = from]) => from <= slot && slot <= to),
    };
  });
}

function untilReady(condition: () => Promise<boolean>): Promise<void> {
  return until(condition, () => "The cluster did not get ready in time");
}
