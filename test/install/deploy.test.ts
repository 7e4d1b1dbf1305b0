import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { packageManager } from "../../package.json";
import { createProgram } from "../../src/cli/program.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createProblems } from "../../src/config/problems.ts";
import { readRedis } from "../../src/config/redis.ts";
import { REPOSITORY, readPage } from "../docs/pages.ts";
import { tempFolder } from "../support/temp-folder.ts";

const read = (path: string) => readFileSync(join(REPOSITORY, path), "utf8");
/** The documents of a YAML file, as the plain values that other tools read. */
const readYaml = (path: string) => parseAllDocuments(read(path)).map((each) => each.toJS());

const DEFAULTS = loadConfig({}, { folder: tempFolder() });
/** A gateway ends within this many seconds of SIGTERM. */
const STOP_S = DEFAULTS.drainMs / 1_000 + 10;
const PORTS = [DEFAULTS.port, DEFAULTS.metricsListen?.port ?? 0];
const VARIABLES = readPage("docs/configuration.md")
  .table("environment")
  .flatMap(([names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));

const DOCKERFILE = read("Dockerfile").replaceAll("\\\n", " ");
/** The arguments of an instruction, in order. */
const instructions = (name: string) =>
  [...DOCKERFILE.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, rest = ""]) => rest.trim());
const IMAGE = {
  user: Number(instructions("USER")[0]?.split(":")[0]),
  folder: instructions("WORKDIR").at(-1) ?? "",
  config: /TOLLGATE_CONFIG=(\S+)/.exec(DOCKERFILE)?.[1] ?? "",
};

/** A command line of the program whose every word and option is known to it. */
function expectCommand([program, name, ...words]: readonly string[]): void {
  expect(program?.split("/").at(-1)).toBe("tollgate");
  const command = createProgram().commands.find((each) => each.name() === name);
  const options = words.filter((word) => word.startsWith("--"));
  const known = command?.options.map(({ long }) => long ?? "");
  expect([name, command?.name()]).toEqual([name, name]);
  for (const option of options) expect(known).toContain(option);
}

/** Every variable is one of ours, or the file of one. */
function expectVariables(names: readonly string[]): void {
  for (const name of names) expect(VARIABLES).toContain(name.replace(/_FILE$/, ""));
}

/** A file of ours is a configuration without problems. Returns it. */
function configOf(path: string) {
  return loadConfig({ TOLLGATE_CONFIG: join(REPOSITORY, path) }, { folder: tempFolder() });
}

test("the image is built by this version of Bun from files that reach the build", () => {
  expect(instructions("FROM")[0]).toStartWith(`oven/bun:${packageManager.split("@")[1]}-`);
  const sent = read(".dockerignore").match(/^!.+/gm) ?? [];
  const sources = instructions("COPY")
    .filter((words) => !words.startsWith("--from"))
    .flatMap((words) => words.split(" ").slice(0, -1));
  expect(sources.map((source) => `!${source}`).sort()).toEqual([...sent].sort());
  for (const source of sources) expect(existsSync(join(REPOSITORY, source))).toBe(true);
});

test("the image runs as a user with a number, exposes the default ports and knows its commands", () => {
  expect(IMAGE.user).toBeGreaterThan(0);
  expect(instructions("EXPOSE")[0]?.split(" ").map(Number)).toEqual(PORTS);
  const [entry = [], command = []] = ["ENTRYPOINT", "CMD"].map((name) =>
    JSON.parse(instructions(name).at(-1) ?? ""),
  );
  expectCommand([...entry, ...command]);
  expectCommand(JSON.parse(/HEALTHCHECK .*CMD (\[.*\])/.exec(DOCKERFILE)?.[1] ?? ""));
  expectVariables([...(instructions("ENV")[0] ?? "").matchAll(/(\w+)=/g)].map(([, name = ""]) => name));
  expect(instructions("VOLUME")).toEqual([IMAGE.folder]);
  expect(configOf("deploy/config/tollgate.yaml").isDemoOnly).toBe(true);
  expect(instructions("COPY")).toContain(`deploy/config/tollgate.yaml ${IMAGE.config}`);
});

test("the compose file gives the gateway what the image expects, and no service more than it needs", () => {
  const [compose] = readYaml("compose.yaml");
  const { tollgate } = compose.services;
  expectVariables(Object.keys(tollgate.environment));
  expect(tollgate.ports).toEqual(PORTS.map((port) => `127.0.0.1:${port}:${port}`));
  expect(tollgate.volumes).toContain(`data:${IMAGE.folder}`);
  expect(tollgate.volumes.at(-1)).toEndWith(":/etc/tollgate:ro");
  expect(Number.parseInt(tollgate.stop_grace_period, 10)).toBeGreaterThan(STOP_S);
  for (const service of Object.values<Record<string, unknown>>(compose.services)) {
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    expect(service.security_opt).toEqual(["no-new-privileges:true"]);
    for (const name of service.secrets as string[]) expect(Object.keys(compose.secrets)).toContain(name);
  }
});

test("the script of secrets writes each file that the compose file names, once, with usable URLs", async () => {
  const [compose] = readYaml("compose.yaml");
  const folder = join(tempFolder(), "secrets");
  const write = () =>
    Bun.spawn(["sh", "deploy/make-secrets.sh", folder], { cwd: REPOSITORY, stderr: "ignore" }).exited;
  expect(await write()).toBe(0);
  const files = Object.values<{ file: string }>(compose.secrets).map(({ file }) => file.split("/").at(-1));
  expect(readdirSync(folder).sort()).toEqual(files.map(String).sort());
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const [database, redis] = ["database_url", "redis_url"].map((name) =>
    readFileSync(join(folder, name), "utf8"),
  );
  const config = loadConfig({ DATABASE_URL: database, REDIS_URL: redis }, { folder: tempFolder() });
  expect(config.database.dialect).toBe("postgres");
  expect(readRedis({ REDIS_URL: redis }, folder, createProblems())).toBeDefined();
  expect(database).toContain(readFileSync(join(folder, "postgres_password"), "utf8"));
  expect(redis).toContain(readFileSync(join(folder, "redis_password"), "utf8"));
  expect(await write()).toBe(1);
  expect(readFileSync(join(folder, "database_url"), "utf8")).toBe(database ?? "");
});

test("the systemd unit waits for readiness, outlasts the drain and keeps data where the image does", () => {
  const unit = read("deploy/systemd/tollgate.service");
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  expectCommand(setting("ExecStart").split(" "));
  expectCommand(setting("ExecStartPost").split(" "));
  expect(Number(setting("TimeoutStopSec"))).toBeGreaterThan(STOP_S);
  expect(Number(setting("TimeoutStartSec"))).toBeGreaterThan(
    Number(/--wait (\d+)/.exec(setting("ExecStartPost"))?.[1]),
  );
  expect(setting("WorkingDirectory")).toBe(`/var/lib/${setting("StateDirectory")}`);
  expect(setting("WorkingDirectory")).toBe(IMAGE.folder);
  expect(setting("Environment")).toBe(`TOLLGATE_CONFIG=${IMAGE.config}`);
  expect(read("deploy/systemd/tollgate.sysusers")).toContain(`\nu ${setting("User")} - `);
  // The runtime compiles code as it runs.
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
});

const KUBERNETES = "deploy/kubernetes";
const manifests = readdirSync(join(REPOSITORY, KUBERNETES)).filter(
  (name) => name !== "tollgate.yaml" && name !== "kustomization.yaml",
);
const objects = manifests.flatMap((name) => readYaml(join(KUBERNETES, name)));
const [stateful] = objects.filter(({ kind }) => kind === "StatefulSet");
const pod = stateful.spec.template.spec;
const [container] = pod.containers;

test("each Kubernetes replica runs as the image's user, restricted, with its data and its files", () => {
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: IMAGE.user,
    fsGroup: IMAGE.user,
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const paths = Object.fromEntries(
    container.volumeMounts.map((mount: { name: string; mountPath: string }) => [mount.name, mount.mountPath]),
  );
  expect(paths.data).toBe(IMAGE.folder);
  expect(`${paths.config}/tollgate.yaml`).toBe(IMAGE.config);
  expectVariables(container.env.map(({ name }: { name: string }) => name));
  for (const { value } of container.env) expect(value).toStartWith(`${paths.secrets}/`);
  const sources = pod.volumes.map(({ name }: { name: string }) => name);
  expect(Object.keys(paths).sort()).toEqual([...sources, "data"].sort());
});

test("the probes of Kubernetes ask routes of the gateway on its ports, and a stop outlasts the drain", () => {
  const { startupProbe, readinessProbe, livenessProbe, lifecycle } = container;
  expect(container.ports.map((port: { containerPort: number }) => port.containerPort)).toEqual(PORTS);
  expect(readinessProbe.httpGet).toEqual({ path: "/readyz", port: "http" });
  // A liveness probe that asked the database would restart every replica when that is away.
  for (const probe of [startupProbe, livenessProbe]) {
    expect(probe.httpGet).toEqual({ path: "/healthz", port: "http" });
  }
  const pause = Number(lifecycle.preStop.exec.command.at(-1));
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pause + STOP_S);
});

test("the objects of Kubernetes select the replicas, and one configuration counts them", () => {
  const { labels } = stateful.spec.template.metadata;
  const selectors = objects.map(
    ({ spec = {} }) => spec.podSelector?.matchLabels ?? spec.selector?.matchLabels ?? spec.selector,
  );
  for (const selector of selectors.filter((each) => each !== undefined)) expect(selector).toEqual(labels);
  expect(objects.map(({ metadata }) => metadata.name)).toContain(stateful.spec.serviceName);
  expect(configOf(join(KUBERNETES, "tollgate.yaml")).limiter.replicas).toBe(stateful.spec.replicas);
  const [{ resources }] = readYaml(join(KUBERNETES, "kustomization.yaml"));
  expect([...resources, "service-monitor.yaml"].sort()).toEqual(manifests.sort());
});
