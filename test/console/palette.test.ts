import { describe, expect, test } from "bun:test";
import { listActions, recentHits, shortenActions } from "../../src/console/shell/palette-actions.ts";
import { hasWords, hitOf, rankHits } from "../../src/console/shell/palette-hits.ts";
import { PERMISSIONS } from "../../src/http/console/permissions.ts";

const KEYS = Array.from({ length: 9 }, (_, index) => ({ id: `key-${index}`, name: `agent ${index}` }));

function actionsOf(role: string) {
  const may = (need: keyof typeof PERMISSIONS) => {
    const permission = PERMISSIONS[need];
    return permission.scope === "account" && (permission.roles as readonly string[]).includes(role);
  };
  return listActions({
    account: { id: "acme", name: "Acme", role },
    may,
    accounts: [
      { id: "acme", name: "Acme", role },
      { id: "globex", name: "Globex", role: "viewer" },
    ],
    keys: may("projects.write") ? (KEYS as never) : [],
    applyTheme: () => undefined,
    signOut: () => undefined,
  });
}

const OWN = ["Switch to Globex", "Theme: system", "Theme: light", "Theme: dark", "Sign out"];

describe("the palette offers what the role may do, and nothing that it refuses", () => {
  const titlesOf = (role: string) =>
    actionsOf(role)
      .map(({ title }) => title)
      .filter((title) => !title.startsWith("Set the limit"));

  test("to an owner everything", () =>
    expect(titlesOf("owner")).toEqual([
      "Create a key",
      "Top up the wallet",
      "Invite a person",
      "Create a project",
      ...OWN,
    ]));
  test("to a developer keys alone", () => expect(titlesOf("developer")).toEqual(["Create a key", ...OWN]));
  test.each(["viewer", "acting"])("to the role %p nothing of the account", (role) => {
    expect(titlesOf(role)).toEqual(OWN);
  });
});

test("limits of keys are offered once something is typed, a few at a time", () => {
  const all = actionsOf("owner");
  expect(shortenActions(all, " ").some(({ id }) => id.startsWith("limit-"))).toBe(false);
  const typed = all.filter(({ title, kind }) => hasWords(`${title} ${kind}`, "limit agent"));
  expect(shortenActions(typed, "limit agent")).toHaveLength(6);
});

test("a line that begins with the text comes before lines that hold it", () => {
  const [first] = rankHits(
    actionsOf("owner").filter(({ title }) => hasWords(title, "s")),
    "sign",
  );
  expect(first?.title).toBe("Sign out");
});

test("recent places keep the view of their page and leave out the one that is open", () => {
  const places = [
    { path: "/accounts/acme", title: "Overview" },
    { path: "/accounts/acme/requests?model=demo&sort=-at", title: "Requests" },
  ];
  expect(recentHits(places)).toMatchObject([
    { title: "Requests", to: "/accounts/acme/requests", search: { model: "demo", sort: "-at" } },
  ]);
});

test.each([
  ["model", null, "/accounts/$account/models/$model", { account: "acme", model: "an id" }],
  ["key", "globex", "/accounts/$account/keys/$key", { account: "globex", key: "an id" }],
] as const)("a %s that was found leads to its own page", (kind, account_id, to, params) => {
  expect(hitOf({ kind, account_id, id: "an id", title: "a title" }, "acme")).toMatchObject({ to, params });
});
