import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { AdditionError } from "./add-entries.ts";
import type { Environment } from "./placeholders.ts";
import { fillSecrets, readSecretsNow } from "./secrets.ts";
import { configPath, readSourceNow, type Source } from "./source.ts";

/** Holds variables, in the working directory. Bun reads it before a program starts. */
export const ENV_FILE = ".env";

export const ENV_FILE_BYTES_MAX = 65_536;

/** What every reader of such files takes literally, without quotes: Bun replaces \$NAME, and # begins a comment. */
const PLAIN_VALUE = /^[\w!%&()*+,./:;<=>?@[\]^{|}~-]+$/;

/** Returns the variables of a `.env` file; none where it cannot be read, as Bun does. */
function readEnvFile(source: Source): Readonly<Record<string, string>> {
  const values = source.kind === "text" ? parseEnv(source.text) : {};
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(given);
}

/** Returns the names whose value a process has from its `.env` file: those with the value of the file. */
export function namesFromEnvFile(environment: Environment, source: Source): ReadonlySet<string> {
  const values = Object.entries(readEnvFile(source));
  return new Set(values.filter(([name, value]) => environment[name] === value).map(([name]) => name));
}

/** Returns the environment with the present values of the file, of the named variables and of those that are unset. */
export function withEnvFile(
  environment: Environment,
  source: Source,
  names: ReadonlySet<string>,
): Environment {
  const values = Object.entries(readEnvFile(source));
  const followed = values.filter(([name]) => !environment[name] || names.has(name));
  return { ...environment, ...Object.fromEntries(followed) };
}

/** Returns those of the named variables that a `.env` text has. */
export function pickVariables(text: string, names: readonly string[]): Readonly<Record<string, string>> {
  const entries = Object.entries(parseEnv(text));
  const found = entries.flatMap(([name, value]) => (value && names.includes(name) ? [[name, value]] : []));
  return Object.fromEntries(found);
}

/**
 * Adds variables at the end of a `.env` text. Every other line stays. A variable that has this value already is left
 * as it is. Throws {@link AdditionError} for one with another value, and for a value that would need quotes.
 */
export function addVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const former = parseEnv(text);
  const lines = Object.entries(variables).flatMap(([name, value]) => {
    if (!PLAIN_VALUE.test(value))
      throw new AdditionError(`${name} has characters that ${ENV_FILE} cannot hold.`);
    if (former[name] === value) return [];
    if (former[name])
      throw new AdditionError(`${ENV_FILE} has another ${name} already: change that line by hand.`);
    return [`${name}=${value}\n`];
  });
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return lines.length === 0 ? text : start + lines.join("");
}

/** Where a command finds and puts the settings of the gateway of a folder. */
export interface SettingsFiles {
  /** Absolute path of the YAML file. */
  readonly configPath: string;
  /** Absolute path of the file of variables. */
  readonly envPath: string;
  /** Returns the value of a variable, as a start would find it: of the environment, its file, or `.env`. */
  valueOf(name: string): string | undefined;
  /** Whether a start reads a variable from the file that `NAME_FILE` names. */
  isInFile(name: string): boolean;
  /** The variables of `.env` alone. */
  readonly own: Readonly<Record<string, string>>;
}

/** Finds the settings of a gateway that is started in a folder. */
export function findSettings(environment: Environment = Bun.env, folder = "."): SettingsFiles {
  const envPath = resolve(folder, ENV_FILE);
  const source = readSourceNow(envPath, { bytesMax: ENV_FILE_BYTES_MAX, pipeMsMax: 0 });
  const present = withEnvFile(environment, source, namesFromEnvFile(environment, source));
  return {
    configPath: configPath(present, folder),
    envPath,
    valueOf(name) {
      const secrets = readSecretsNow({ environment: present, folder, names: [name] });
      return fillSecrets(present, secrets).values[name] || undefined;
    },
    isInFile: (name) => Boolean(present[`${name}_FILE`]),
    own: readEnvFile(source),
  };
}
