/** A package of a public registry, with its version. */
export interface PinnedPackage {
  readonly registry: "npm" | "PyPI";
  readonly name: string;
  readonly version: string;
  /** Versions of npm dependencies that the package itself leaves open. */
  readonly overrides?: Readonly<Record<string, string>>;
}

export const PORTKEY: PinnedPackage = {
  registry: "npm",
  name: "@portkey-ai/gateway",
  version: "1.15.2",
  /**
   * The version of the project's own lock file. With the newest one, streams on Node get status 500.
   * @see https://github.com/Portkey-AI/gateway/issues/1389
   */
  overrides: { "@hono/node-server": "1.13.5" },
};

export const LITELLM: PinnedPackage = { registry: "PyPI", name: "litellm[proxy]", version: "1.102.4" };

/** The last release: the project is archived. The wheel contains the whole gateway. */
export const TENSORZERO: PinnedPackage = { registry: "PyPI", name: "tensorzero", version: "2026.6.0" };
