import type { Furniture } from "./furnish.ts";
import type { World } from "./world.ts";

type Viewer = "owner" | "operator" | "visitor";

/** A page of the console, and who looks at it. */
export interface ListedPage {
  readonly name: string;
  readonly path: string;
  readonly viewer: Viewer;
}

/** Every page of the console in a furnished world. */
export function listPages({ acme }: World, furniture: Furniture): readonly ListedPage[] {
  const account = `/console/accounts/${acme.accountId}`;
  const of = (viewer: Viewer, root: string, paths: Readonly<Record<string, string>>) =>
    Object.entries(paths).map(([name, path]) => ({ name, path: `${root}${path}`, viewer }));
  return [
    ...of("visitor", "", {
      "sign-in": "/console/sign-in",
      "sign-up": "/console/sign-up",
      forgot: "/console/forgot",
      reset: "/console/reset?token=unknown",
      accept: "/console/accept?token=unknown",
      verify: "/console/verify?token=unknown",
      shared: furniture.sharedPath,
    }),
    ...of("owner", account, {
      overview: "",
      usage: "/usage",
      "usage-by-key": "/usage?group=key&range=7d",
      requests: "/requests",
      receipt: `/requests/${furniture.answeredId}`,
      refusals: "/refusals",
      "why-refused": `/refusals/${furniture.refusedId}`,
      keys: "/keys",
      key: `/keys/${furniture.limitedKeyId}`,
      models: "/models",
      playground: "/playground",
      wallet: "/wallet",
      notices: "/notices",
      team: "/team",
      links: "/links",
      "management-keys": "/management-keys",
      "audit-trail": "/audit-trail",
      settings: "/settings",
    }),
    ...of("owner", "/console", { profile: "/profile", "api-docs": "/api/docs" }),
    ...of("operator", "/console/operator", {
      "operator-accounts": "/accounts",
      "operator-people": "/people",
      "operator-usage": "/usage",
      "operator-health": "/health",
      "operator-audit": "/audit",
      "operator-audit-trail": "/audit-trail",
      "operator-codes": "/codes",
      "operator-management-keys": "/management-keys",
    }),
  ];
}
