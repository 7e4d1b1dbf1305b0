import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { type KnownModel, readKnownModels } from "../catalog/known-models.ts";
import { listProviders, upstreamOf } from "../catalog/providers.ts";
import { AdditionError, readFileValues } from "../config/add-entries.ts";
import { findSettings } from "../config/env-file.ts";
import {
  checkUpstream,
  listModelProviders,
  offerModels,
  planUpstream,
  type UpstreamCheck,
} from "./provider-setup.ts";
import { readSettingsFile } from "./settings-files.ts";
import { addToYaml, type SettingsPlace, type Setup, writeSetup } from "./write-setup.ts";

/** A provider that the console can set up: its address is fixed, but for a name in it. */
interface OfferedProvider {
  readonly name: string;
  /** Of its key; `undefined` where the credentials of the machine serve. */
  readonly variable: string | undefined;
  /** What has to be named beside the key. */
  readonly place: PlaceKind | undefined;
  /** The upstream of the file that serves it; `undefined` for none. */
  readonly upstream: string | undefined;
}

/** A customer's own part of a cloud. */
type PlaceKind = "resource" | "region" | "project";

/** A name has no dot, slash or colon: the domain of an address is that of its cloud. */
export const PLACE_PATTERN = "^[A-Za-z0-9][A-Za-z0-9-]{0,62}$";

interface Place {
  readonly kind: PlaceKind;
  /** Returns the value of the variable. */
  print(name: string): string;
}

/** By the variable that has the value. */
const PLACES: Readonly<Record<string, Place>> = {
  AZURE_OPENAI_ENDPOINT: { kind: "resource", print: (name) => `https://${name}.openai.azure.com` },
  AWS_REGION: { kind: "region", print: (name) => name },
  GOOGLE_CLOUD_PROJECT: { kind: "project", print: (name) => name },
};

/** Why the files cannot be written from the console. */
type SetupObstacle = "read_only" | "several_gateways" | "unreadable";

interface SetupState {
  readonly providers: readonly OfferedProvider[];
  readonly obstacle: SetupObstacle | undefined;
}

/** What a call with the key has shown, and the models that may be added. */
export interface ProvedProvider {
  readonly check: UpstreamCheck;
  readonly models: readonly KnownModel[];
}

interface ProviderWish {
  readonly provider: string;
  /** Not needed where the upstream is in the file. */
  readonly key: string | undefined;
  /** The name of the resource, region or project, where the provider needs one. */
  readonly place?: string | undefined;
}

/** What was added; or the lines to paste, without the key, where the files cannot be written. */
export type AddedProvider =
  | { readonly state: "written"; readonly upstream: string; readonly models: readonly string[] }
  | { readonly state: "to_paste"; readonly yaml: string; readonly variables: readonly string[] }
  | { readonly state: "refused"; readonly problem: string };

/** Sets providers up from the console. No caller chooses a domain that is called: a stolen session probes no network. */
export interface ProviderPage {
  state(): Promise<SetupState>;
  prove(wish: ProviderWish): Promise<ProvedProvider>;
  add(wish: ProviderWish, models: readonly string[]): Promise<AddedProvider>;
}

export interface ProviderPageParts {
  readonly place: SettingsPlace & { readonly folder: string };
  /** Whether other gateways use this database. Their files are on other machines. */
  hasPeers(): Promise<boolean>;
  /** Replaced by tests, which call no provider. */
  readonly check?: typeof checkUpstream;
  readonly now: () => number;
}

/** A request waits for a command at most this long. */
const LOCK_MS_MAX = 100;

export function createProviderPage(parts: ProviderPageParts): ProviderPage {
  const { place, now, check = checkUpstream } = parts;

  async function state(): Promise<SetupState> {
    try {
      const file = readFileValues(readSettingsFile(place.configPath));
      const withModels = listModelProviders(readKnownModels(), now());
      const offered = listOffered().filter(({ name }) => withModels.includes(name));
      const providers = offered.map(({ name, variable, placeVariable = "" }) => {
        const upstream = planUpstream({ provider: name }, file);
        const place = PLACES[placeVariable]?.kind;
        return { name, variable, place, upstream: upstream.isNew ? undefined : upstream.name };
      });
      return { providers, obstacle: await findObstacle(parts) };
    } catch (error) {
      if (error instanceof AdditionError) return { providers: [], obstacle: "unreadable" };
      throw error;
    }
  }

  function plan({ provider, key, place: name }: ProviderWish) {
    const offered = listOffered().find(({ name }) => name === provider);
    if (!offered) throw new AdditionError(`${provider} is set up on the machine: bun tollgate init.`);
    const upstream = planUpstream({ provider }, readFileValues(readSettingsFile(place.configPath)));
    const settings = findSettings(undefined, place.folder);
    const present = Object.fromEntries(upstream.variables.map((name) => [name, settings.valueOf(name)]));
    const given = upstream.isNew ? readGiven(offered, { key, name }) : {};
    const other = Object.keys(given).find((each) => ![undefined, given[each]].includes(present[each]));
    if (other) throw new AdditionError(`${other} has another value already: change it on the machine.`);
    return { upstream, values: { ...present, ...given }, given };
  }

  async function prove(wish: ProviderWish): Promise<ProvedProvider> {
    try {
      const { upstream, values } = plan(wish);
      const proof = await check(upstream, values);
      const listed = proof.state === "refused" ? [] : proof.models;
      return { check: proof, models: offerModels(readKnownModels(), wish.provider, listed, now()) };
    } catch (error) {
      if (error instanceof AdditionError) return { check: refusedFor(error), models: [] };
      throw error;
    }
  }

  async function add(wish: ProviderWish, ids: readonly string[]): Promise<AddedProvider> {
    const { check: proof, models } = await prove(wish);
    if (proof.state === "refused") return proof;
    try {
      const { upstream, given } = plan(wish);
      const chosen = models.filter(({ id }) => ids.includes(id));
      if (chosen.length < ids.length)
        throw new AdditionError("A chosen model is not offered by the provider.");
      const setup: Setup = { upstreams: [{ upstream, models: chosen }], variables: given };
      if (await findObstacle(parts)) return printLines(setup);
      const { models: added } = writeSetup(place, setup, LOCK_MS_MAX);
      return { state: "written", upstream: upstream.name, models: added };
    } catch (error) {
      if (error instanceof AdditionError) return refusedFor(error);
      throw error;
    }
  }

  return { state, prove, add };
}

function refusedFor({ message }: AdditionError) {
  return { state: "refused", problem: message } as const;
}

interface Offered {
  readonly name: string;
  readonly variable: string | undefined;
  readonly placeVariable: string | undefined;
}

/** Providers that need a key, a name in their address, or both. */
function listOffered(): readonly Offered[] {
  return listProviders().flatMap((name) => {
    const members = JSON.stringify(upstreamOf(name) ?? {});
    const variables = Array.from(members.matchAll(/\$\{(\w+)\}/g), ([, each = ""]) => each);
    const [placeVariable, ...morePlaces] = variables.filter((each) => Object.hasOwn(PLACES, each));
    const [variable, ...moreKeys] = variables.filter((each) => !Object.hasOwn(PLACES, each));
    const isKey = variable === undefined || members.includes(`"api_key":"\${${variable}}"`);
    const isOffered = variables.length > 0 && isKey && morePlaces.length + moreKeys.length === 0;
    return isOffered ? [{ name, variable, placeVariable }] : [];
  });
}

/** Returns the variables that a caller gives. Throws {@link AdditionError} for a place that is no name. */
function readGiven(
  { variable, placeVariable = "" }: Offered,
  { key, name }: { readonly key: string | undefined; readonly name: string | undefined },
): Readonly<Record<string, string>> {
  const place = PLACES[placeVariable];
  const isName = name !== undefined && new RegExp(PLACE_PATTERN).test(name);
  if (place && !isName)
    throw new AdditionError(`needs the name of the ${place.kind}: letters, digits and hyphens.`);
  return {
    ...(place && isName ? { [placeVariable]: place.print(name) } : {}),
    ...(variable !== undefined && key !== undefined ? { [variable]: key } : {}),
  };
}

async function findObstacle({ place, hasPeers }: ProviderPageParts): Promise<SetupObstacle | undefined> {
  if (![place.configPath, place.envPath].every((path) => isWritable(dirname(path)))) return "read_only";
  return (await hasPeers()) ? "several_gateways" : undefined;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function printLines(setup: Setup): AddedProvider {
  const { text } = addToYaml("", setup);
  const variables = setup.upstreams.flatMap(({ upstream }) => upstream.variables);
  return { state: "to_paste", yaml: text, variables: [...new Set(variables)] };
}
