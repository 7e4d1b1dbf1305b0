// bun run sbom: writes dist/sbom.cdx.json, a CycloneDX list of the packages of a production install.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { listDirectPackages, listProductionPackages, type ProductionPackage } from "./production-packages.ts";

const ROOT = resolve(import.meta.dir, "../..");

/** Returns the bill of materials. Equal lock files give equal texts. @see https://cyclonedx.org/docs/1.6/json/ */
export function createSbom() {
  const { name, version, license } = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8"));
  const packages = listProductionPackages();
  const refs = new Map(packages.map((each) => [each.key, refOf(each)]));
  const toRefs = (keys: readonly string[]) => keys.flatMap((key) => refs.get(key) ?? []);
  const own = `pkg:npm/${name}@${version}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": own,
        name,
        version,
        purl: own,
        licenses: licensesOf(license),
      },
    },
    components: packages.map(printComponent),
    dependencies: [
      { ref: own, dependsOn: toRefs(listDirectPackages()) },
      ...packages.map((each) => ({ ref: refOf(each), dependsOn: toRefs(each.dependsOn) })),
    ],
  };
}

function printComponent(each: ProductionPackage) {
  const { name, version, license, integrity } = each;
  const [, scope, base = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return {
    type: "library",
    "bom-ref": refOf(each),
    ...(scope ? { group: scope } : {}),
    name: base,
    version,
    purl: purlOf(each),
    hashes: [
      { alg: "SHA-512", content: Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex") },
    ],
    ...(license ? { licenses: licensesOf(license) } : {}),
  };
}

function licensesOf(license: string) {
  return /[ ()]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

function purlOf({ name, version }: ProductionPackage): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** Unique also for two copies of one version. */
function refOf(each: ProductionPackage): string {
  return each.key === each.name ? purlOf(each) : `${purlOf(each)}#${each.key}`;
}

if (import.meta.main) {
  mkdirSync(`${ROOT}/dist`, { recursive: true });
  const sbom = createSbom();
  writeFileSync(`${ROOT}/dist/sbom.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`Wrote dist/sbom.cdx.json: ${sbom.components.length} packages.`);
}
