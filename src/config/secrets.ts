import { resolve } from "node:path";
import type { Environment, Variables } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { isSameSource, markSource, readSource, readSourceNow, type Source } from "./source.ts";

/** Secrets that every command reads. Each may be given as a file, whose path is in NAME_FILE. */
export const STORAGE_SECRETS: readonly string[] = ["DATABASE_URL", "LEDGER_TOKEN", "SEALING_KEYS"];

/** Secrets that a gateway reads. */
export const GATEWAY_SECRETS: readonly string[] = [
  ...STORAGE_SECRETS,
  "REDIS_URL",
  "SMTP_URL",
  "STRIPE_SECRET_KEY",
  "STRIPE_WEBHOOK_SECRET",
  "RECORDING_KEYS",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
];

const FILE_BYTES_MAX = 65_536;

/** The file of each variable that has one: absolute paths by the name without _FILE. */
type SecretPlaces = Readonly<Record<string, string>>;

/** What one read of the secret files found, by the name without _FILE. */
export type SecretSources = Readonly<Record<string, Source>>;

/** Where variables come from, and which ones may come from a file. */
export interface SecretOrigin {
  readonly environment: Environment;
  /** Base of relative paths. */
  readonly folder: string;
  /** Names of secrets and of placeholders in the YAML file. */
  readonly names: readonly string[];
}

function placeSecrets({ environment, folder, names }: SecretOrigin): SecretPlaces {
  const named = names.map((name) => [name, environment[`${name}_FILE`]] as const);
  return Object.fromEntries(named.flatMap(([name, path]) => (path ? [[name, resolve(folder, path)]] : [])));
}

/** Reads the secret files of a start. Blocks the event loop; a file may be a pipe. */
export function readSecretsNow(origin: SecretOrigin): SecretSources {
  const read = (path: string) => readSourceNow(path, { bytesMax: FILE_BYTES_MAX });
  return Object.fromEntries(Object.entries(placeSecrets(origin)).map(([name, path]) => [name, read(path)]));
}

/** Reads the secret files of a running process. A pipe keeps its former content, as it cannot be read twice. */
export async function readSecrets(origin: SecretOrigin, former: SecretSources): Promise<SecretSources> {
  const read = async ([name, path]: [string, string]) => {
    const isPipe = (await markSource(path)) === undefined;
    const kept = isPipe ? former[name] : undefined;
    return [name, kept ?? (await readSource(path, { bytesMax: FILE_BYTES_MAX }))] as const;
  };
  return Object.fromEntries(await Promise.all(Object.entries(placeSecrets(origin)).map(read)));
}

/** Returns a text that differs after a change of one of the files. */
export async function markSecrets(origin: SecretOrigin): Promise<string> {
  const marks = Object.values(placeSecrets(origin)).map((path) => markSource(path));
  return (await Promise.all(marks)).join("\n");
}

/** Whether two reads found the same secrets. */
export function areSameSecrets(one: SecretSources, other: SecretSources): boolean {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => {
    const [first, second] = [one[name], other[name]];
    return first !== undefined && second !== undefined && isSameSource(first, second);
  });
}

/** Fills the secrets of files into the environment, each without one trailing line end. */
export function fillSecrets(environment: Environment, secrets: SecretSources): Variables {
  const values: Record<string, string | undefined> = { ...environment };
  const faults: Record<string, string> = {};
  for (const [name, source] of Object.entries(secrets)) {
    const text = source.kind === "text" ? source.text.replace(/\r?\n$/, "") : "";
    const fault = environment[name] ? `is set beside ${name}` : findFault(source, text);
    if (fault) faults[name] = fault;
    values[name] = fault ? undefined : text;
  }
  return { values, faults };
}

const FAULTS: Readonly<Record<Exclude<Source["kind"], "text">, string>> = {
  absent: "names a file that does not exist",
  folder: "names a folder",
  unreadable: "names a file that cannot be read",
  not_utf8: "names a file that is not UTF-8",
  too_large: "names a file that is larger than 64 KiB",
};

function findFault(source: Source, text: string): string | undefined {
  if (source.kind !== "text") return FAULTS[source.kind];
  return text === "" ? "names a file that is empty" : undefined;
}

/** Adds a problem for each of these secrets whose file cannot be used. */
export function reportSecrets({ faults }: Variables, names: readonly string[], problems: Problems): void {
  for (const name of names) {
    const fault = faults[name];
    if (fault) problems.add([`${name}_FILE`], fault, expectedOf(fault, name));
  }
}

function expectedOf(fault: string, name: string): string {
  return fault.startsWith("is set") ? "one of the two" : `the path of a file that holds ${name}`;
}
