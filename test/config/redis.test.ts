import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig, loadLedgerConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problems.ts";
import { makeCertificates } from "../support/certificates.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { loadYaml, placesOf, problemsOf } from "./temp-config.ts";

function loadRedis(environment: Record<string, string>, folder = tempFolder()) {
  return loadConfig(environment, { folder }).limiter.redis;
}

function problemsIn(environment: Record<string, string>, folder = tempFolder()): readonly string[] {
  try {
    loadRedis(environment, folder);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems;
    throw thrown;
  }
}

const placesIn = (environment: Record<string, string>, folder?: string) =>
  placesOf(problemsIn(environment, folder));

const PLAIN = {
  kind: "single",
  masterName: undefined,
  username: undefined,
  password: undefined,
  db: 0,
  tls: undefined,
} as const;
const SENTINEL = { ...PLAIN, kind: "sentinel", masterName: "mymaster" } as const;
const CLUSTER = { ...PLAIN, kind: "cluster" } as const;
const NO_FILES = { ca: undefined, cert: undefined, key: undefined };
const H = [{ host: "h", port: 6379 }];
const SENTINELS = [
  { host: "a", port: 26379 },
  { host: "b", port: 5 },
];
const NODES = [
  { host: "a", port: 6379 },
  { host: "b", port: 7001 },
  { host: "::1", port: 6379 },
];

describe("REDIS_URL", () => {
  test("is optional", () => {
    expect(loadRedis({})).toBeUndefined();
    expect(loadRedis({ REDIS_URL: "" })).toBeUndefined();
  });

  test.each([
    ["redis://h", { ...PLAIN, hosts: H }],
    ["redis://h/", { ...PLAIN, hosts: H }],
    ["redis://my_redis.internal:7000", { ...PLAIN, hosts: [{ host: "my_redis.internal", port: 7000 }] }],
    ["redis://[::1]", { ...PLAIN, hosts: [{ host: "::1", port: 6379 }] }],
    ["redis://[fd00::1]:65535/15", { ...PLAIN, hosts: [{ host: "fd00::1", port: 65535 }], db: 15 }],
    ["redis://:pass@h", { ...PLAIN, hosts: H, password: "pass" }],
    ["redis://user:pass@h/1", { ...PLAIN, hosts: H, username: "user", password: "pass", db: 1 }],
    ["redis://u%3A:p%40%2F%3F%23%25@h", { ...PLAIN, hosts: H, username: "u:", password: "p@/?#%" }],
    ["redis://u:a:b@c@h", { ...PLAIN, hosts: H, username: "u", password: "a:b@c" }],
    ["rediss://h", { ...PLAIN, hosts: H, tls: NO_FILES }],
    ["redis+sentinel://a,b:5/mymaster", { ...SENTINEL, hosts: SENTINELS }],
    ["redis+sentinel://a,b:5/mymaster/", { ...SENTINEL, hosts: SENTINELS }],
    [
      "redis+sentinel://:pass@a,b:5/my.Master_-1/3",
      { ...SENTINEL, hosts: SENTINELS, masterName: "my.Master_-1", password: "pass", db: 3 },
    ],
    ["rediss+sentinel://a,b:5/mymaster", { ...SENTINEL, hosts: SENTINELS, tls: NO_FILES }],
    ["redis+cluster://a,b:7001,[::1]", { ...CLUSTER, hosts: NODES }],
    ["redis+cluster://a,b:7001,[::1]/0", { ...CLUSTER, hosts: NODES }],
    [
      "rediss+cluster://user:pass@a,b:7001,[::1]/",
      { ...CLUSTER, hosts: NODES, username: "user", password: "pass", tls: NO_FILES },
    ],
  ])("%p is parsed", (url, location) => expect(loadRedis({ REDIS_URL: url })).toEqual(location));

  test.each([
    ["is not a Redis URL", "h:6379"],
    ["is not a Redis URL", "//h"],
    ["is not a Redis URL", "http://h"],
    ["is not a Redis URL", "redis:h"],
    ["is not a Redis URL", "REDIS://h"],
    ["is not a Redis URL", "redis+other://h"],
    ["is not a Redis URL", "redisss://h"],
    ["is not a Redis URL", " redis://h"],
    ["has an invalid host", "redis://"],
    ["has an invalid host", "redis:///0"],
    ["has an invalid host", "redis://:6379"],
    ["has an invalid host", "redis://h:"],
    ["has an invalid host", "redis://h:0"],
    ["has an invalid host", "redis://h:65536"],
    ["has an invalid host", "redis://h:port"],
    ["has an invalid host", "redis://h "],
    ["has an invalid host", "redis://h\n"],
    ["has an invalid host", "redis://::1"],
    ["has an invalid host", "redis://[::1"],
    ["has an invalid host", "redis://[:::]:6379"],
    ["has an invalid host", "redis+cluster://a,,b"],
    ["has an invalid host", "redis+cluster://a, b"],
    ["has an invalid host", "redis+sentinel://a,/m"],
    ["has several hosts", "redis://a,b"],
    ["has a path that is not a database number", "redis://h/name"],
    ["has a path that is not a database number", "redis://h/-1"],
    ["has a path that is not a database number", "redis://h/0/1"],
    ["has a path that is not a database number", "redis://h//0"],
    ["has a path that is not a database number", "redis://h/0x1"],
    ["has a path that is not a database number", "redis://h/1234567890"],
    ["does not name its master", "redis+sentinel://a"],
    ["does not name its master", "redis+sentinel://a/"],
    ["does not name its master", "redis+sentinel://a//0"],
    ["does not name its master", "redis+sentinel://a/m/x"],
    ["does not name its master", "redis+sentinel://a/m/0/1"],
    ["does not name its master", "redis+sentinel://a/m m"],
    ["has a path", "redis+cluster://a/1"],
    ["has a path", "redis+cluster://a/mymaster"],
    ["has parameters", "redis://h?"],
    ["has parameters", "redis://h?family=6"],
    ["has parameters", "redis://h/1?tls=true"],
    ["has parameters", "rediss://h#x"],
    ["has an @ without a password before it", "redis://@h"],
    ["has an @ without a password before it", "redis://user@h"],
    ["has an @ without a password before it", "redis://user:@h"],
    ["has an @ without a password before it", "redis://:@h"],
    ["has an invalid % code in user or password", "redis://:100%@h"],
    ["has an invalid % code in user or password", "redis://%ff:p@h"],
    ["has an @ after its hosts", "redis://user:1/2@h"],
    ["has an @ after its hosts", "redis://user:1?2@h"],
    ["has an @ after its hosts", "redis://user:1#2@h"],
  ])("%s: %p is rejected", (wrong, url) => {
    const problems = problemsIn({ REDIS_URL: url });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toStartWith(`REDIS_URL: ${wrong}, expected `);
  });

  test.each([
    "canary",
    "canary://canary",
    "redis://canary:canary",
    "redis://:canary%@h",
    "redis://canary@h",
    "redis://:canary@h,canary",
    "redis://:canary@h/canary",
    "redis://:ca/canary@h",
    "redis://:ca?canary=canary@h",
    "redis://h?canary=canary",
    "redis+sentinel://:canary@h",
    "redis+sentinel://:canary@h/canary/canary",
    "redis+cluster://:canary@h/canary",
  ])("%p is rejected without quoting it", (url) => {
    const problems = problemsIn({ REDIS_URL: url });
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain("canary");
  });
});

const certificates = makeCertificates();
const { authority, server, caller } = certificates;
afterAll(() => certificates[Symbol.dispose]());
const FILES = { REDIS_TLS_CERT: "cert.pem", REDIS_TLS_KEY: "./key.pem", REDIS_TLS_CA: "ca.pem" };

/** Creates a folder with the three files. */
function folderWith(key = server.key): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries({
    "cert.pem": server.cert,
    "key.pem": key,
    "ca.pem": authority,
  })) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe("REDIS_TLS_CERT, _KEY and _CA", () => {
  test.each(["rediss://h", "rediss+sentinel://h/m", "rediss+cluster://h"])(
    "are read from their files for %p",
    (url) => {
      expect(loadRedis({ ...FILES, REDIS_URL: url }, folderWith())?.tls).toEqual({
        ...server,
        ca: authority,
      });
    },
  );

  test.each(["redis://h", "redis+sentinel://h/m", "redis+cluster://h", ""])(
    "are rejected when REDIS_URL is %p, which is not encrypted",
    (url) => {
      const problems = problemsIn({ ...FILES, REDIS_URL: url }, folderWith());
      expect(placesOf(problems).toSorted()).toEqual(Object.keys(FILES).toSorted());
      expect(problems[0]).toContain("REDIS_URL is not encrypted");
    },
  );

  test("are problems when a file is missing or not PEM, or certificate or key is not set", () => {
    const REDIS_URL = "rediss://h";
    expect(placesIn({ ...FILES, REDIS_URL, REDIS_TLS_CA: "gone.pem" }, folderWith())).toEqual([
      "REDIS_TLS_CA",
    ]);
    expect(placesIn({ ...FILES, REDIS_URL }, folderWith("hello"))).toEqual(["REDIS_TLS_KEY"]);
    expect(placesIn({ ...FILES, REDIS_URL }, folderWith(caller.key))).toEqual(["REDIS_TLS_KEY"]);
    expect(placesIn({ REDIS_URL, REDIS_TLS_CERT: "cert.pem" }, folderWith())).toEqual(["REDIS_TLS_KEY"]);
    expect(placesIn({ REDIS_URL, REDIS_TLS_KEY: "key.pem" }, folderWith())).toEqual(["REDIS_TLS_CERT"]);
  });
});

describe("limiter", () => {
  test("counts in this process as the only gateway by default", () =>
    expect(loadYaml("").limiter).toEqual({ redis: undefined, onFailure: "local", replicas: undefined }));

  test("is read from the file, and its Redis from the environment", () => {
    const { limiter } = loadYaml("limiter: { on_failure: deny, replicas: 3 }", { REDIS_URL: "redis://h" });
    expect(limiter).toEqual({ redis: { ...PLAIN, hosts: H }, onFailure: "deny", replicas: 3 });
  });

  test.each([
    ["on_failure: allow", "limiter.on_failure"],
    ["replicas: 0", "limiter.replicas"],
    ["replicas: 1.5", "limiter.replicas"],
    ["replicas: many", "limiter.replicas"],
    ["redis_url: redis://h", "limiter.redis_url"],
  ])("rejects %p", (yaml, place) => expect(placesOf(problemsOf(`limiter: { ${yaml} }`))).toEqual([place]));
});

describe("METRICS_LISTEN", () => {
  test.each([
    ["", { host: "127.0.0.1", port: 9464 }],
    ["0.0.0.0:0", { host: "0.0.0.0", port: 0 }],
    ["[::1]:9464", { host: "::1", port: 9464 }],
    ["off", undefined],
  ])("accepts %p", (text, endpoint) => {
    expect(loadYaml("", { METRICS_LISTEN: text }).metricsListen).toEqual(endpoint);
  });

  test.each(["9464", "h", "http://h:1", "on"])("rejects %p", (text) => {
    expect(placesIn({ METRICS_LISTEN: text })).toEqual(["METRICS_LISTEN"]);
  });
});

describe("loadLedgerConfig", () => {
  test("ignores the variables of a gateway, which may share its environment", () => {
    const environment = { REDIS_URL: "canary", REDIS_TLS_CA: "gone.pem", SMTP_URL: "canary" };
    expect(loadLedgerConfig(environment, { folder: "/" }).config).toEqual(
      loadLedgerConfig({}, { folder: "/" }).config,
    );
  });
});
