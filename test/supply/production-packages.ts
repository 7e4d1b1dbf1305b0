import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** One npm package that a production install contains. */
export interface ProductionPackage {
  /** Key of the lock file: the name, behind the packages in whose folders it is. */
  readonly key: string;
  readonly name: string;
  readonly version: string;
  /** SPDX expression of its package.json; `undefined` when it names none. */
  readonly license: string | undefined;
  /** "sha512-…" in base64. */
  readonly integrity: string;
  /** Keys of the packages that it depends on. */
  readonly dependsOn: readonly string[];
}

/** A package of bun.lock: name and version, registry, its dependencies, and its digest. */
type Locked = readonly [string, string, DependencyLists, string];
type DependencyLists = Readonly<Partial<Record<(typeof LISTS)[number], Readonly<Record<string, string>>>>>;

/** Optional peers are among them: Bun installs those that the lock file has. */
const LISTS = ["dependencies", "optionalDependencies", "peerDependencies"] as const;

/** The lock file, and what the project itself depends on in production. */
interface LockFile {
  readonly packages: Readonly<Record<string, Locked>>;
  readonly workspaces: { readonly "": { readonly dependencies: Readonly<Record<string, string>> } };
}

/** Lists the installed packages of production, sorted by key. Packages of other platforms are left out. */
export function listProductionPackages(): readonly ProductionPackage[] {
  const { packages, workspaces } = readLock();
  const found = new Map<string, ProductionPackage>();
  const visit = (key: string) => {
    const locked = packages[key];
    if (!locked || found.has(key)) return;
    const package_ = readPackage(key, locked, packages);
    if (!package_) return;
    found.set(key, package_);
    for (const dependency of package_.dependsOn) visit(dependency);
  };
  for (const name of Object.keys(workspaces[""].dependencies)) visit(name);
  return [...found.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** Keys of the packages that the project itself names. */
export function listDirectPackages(): readonly string[] {
  return Object.keys(readLock().workspaces[""].dependencies).sort();
}

/** The lock file is JSON with trailing commas. */
function readLock(): LockFile {
  return JSON.parse(readFileSync(join(ROOT, "bun.lock"), "utf8").replace(/,(\s*[}\]])/g, "$1"));
}

function readPackage(
  key: string,
  [id, , lists, integrity]: Locked,
  packages: LockFile["packages"],
): ProductionPackage | undefined {
  const at = id.lastIndexOf("@");
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const path = join(folderOf(key, packages), "package.json");
  if (!existsSync(path)) return undefined;
  const { license, licenses } = JSON.parse(readFileSync(path, "utf8"));
  const names = LISTS.flatMap((list) => Object.keys(lists[list] ?? {}));
  const dependsOn = names.map((dependency) => findKey(key, dependency, packages));
  return {
    key,
    name,
    version,
    // One package writes the operator of SPDX in lower case.
    license: (license?.type ?? license ?? licenses?.[0]?.type)?.replace(" and ", " AND "),
    integrity,
    dependsOn: [...new Set(dependsOn.filter((each) => each !== undefined))].sort(),
  };
}

/** Finds a dependency as Node does: in the package's own folder, or in that of a package around it. */
function findKey(key: string, name: string, packages: LockFile["packages"]): string | undefined {
  for (let owner = key; owner !== ""; owner = parentOf(owner, packages)) {
    if (packages[`${owner}/${name}`]) return `${owner}/${name}`;
  }
  return packages[name] ? name : undefined;
}

/** Returns the key of the package in whose folder a package is; "" for one of the project's own folder. */
function parentOf(key: string, packages: LockFile["packages"]): string {
  const parents = Object.keys(packages).filter((other) => key.startsWith(`${other}/`));
  return parents.sort((one, other) => other.length - one.length)[0] ?? "";
}

function folderOf(key: string, packages: LockFile["packages"]): string {
  const parent = parentOf(key, packages);
  if (parent === "") return join(ROOT, "node_modules", key);
  return join(folderOf(parent, packages), "node_modules", key.slice(parent.length + 1));
}
