import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { untilTitled } from "./world/forms.ts";
import { browse } from "./world/open-page.ts";
import { type SignedIn, signIn } from "./world/signed-in.ts";
import { PASSWORD } from "./world/world.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 1, perDay: 20 });

type Visitor = "owner" | "developer" | "viewer" | "acting";

const EVERYBODY = [
  ...[
    "Overview",
    "Usage",
    "Requests",
    "Refusals",
    "Keys",
    "Projects",
    "Models",
    "Wallet",
    "Notices",
    "Team",
    "Settings",
  ],
];
const OWNERS = ["Shared links", "Management keys", "Audit trail"];
const OPERATORS = [
  ...[
    "Accounts",
    "People",
    "All usage",
    "Health",
    "Ledger audit",
    "Redeem codes",
    "Subscriptions",
    "Figures",
  ],
  ...["Audit trail", "Management keys", "Set up"],
];

const SHOWN: Readonly<Record<Visitor, readonly string[]>> = {
  owner: [...EVERYBODY, ...OWNERS, "Playground"],
  developer: [...EVERYBODY, "Playground"],
  viewer: EVERYBODY,
  acting: [...EVERYBODY, ...OWNERS, ...OPERATORS],
};

describe("the navigation", () => {
  test.each(["owner", "developer", "viewer", "acting"] as const)(
    "of an account shows the %s exactly the pages of that role",
    async (visitor) => {
      await visit(visitor, "", async (page) => {
        const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
        await links.first().waitFor();
        const names = (await links.allTextContents()).map((text) => text.replace(/\d+\+?$/, ""));
        expect(names.sort()).toEqual([...SHOWN[visitor]].sort());
      });
    },
  );

  test("tells an operator who acts inside an account so on every page, and lets them leave", async () => {
    await visit("acting", "/wallet", async (page) => {
      await page.getByText("You act inside “Acme”").waitFor();
      await page.getByRole("button", { name: "Leave the account" }).click();
      await untilTitled(page, "Accounts");
      await page.getByText("You act inside").waitFor({ state: "detached" });
      sessions.delete("acting");
    });
  });
});

describe("the action", () => {
  /** An action, and who is offered it. */
  const ACTIONS: readonly (readonly [page: string, action: string, offered: readonly Visitor[]])[] = [
    ["/keys", "Create key", ["owner", "developer"]],
    ["/wallet", "Top up", ["owner"]],
    ["/team", "Invite", ["owner"]],
  ];
  test.each(ACTIONS)("on %s, “%s”, is offered to those who may take it", async (path, action, offered) => {
    for (const visitor of ["owner", "developer", "viewer", "acting"] as const) {
      await visit(visitor, path, async (page) => {
        const name = new RegExp(`^${action}`);
        const main = page.getByRole("main");
        const buttons = main.getByRole("button", { name }).or(main.getByRole("link", { name }));
        if (offered.includes(visitor)) await buttons.first().waitFor();
        else expect([visitor, await buttons.count()]).toEqual([visitor, 0]);
      });
    }
  });
});

test("a new account is offered by the switcher while sign-up is open alone", async () => {
  await visit("viewer", "", async (page) => {
    await openSwitcher(page);
    await page.getByRole("link", { name: "New account" }).click();
    await page.getByRole("button", { name: "New account" }).click();
    await page.getByRole("dialog", { name: "New account" }).waitFor();
  });
  await setSignUp("open", "invited");
  await visit("viewer", "", async (page) => {
    await openSwitcher(page);
    expect(await page.getByRole("link", { name: "New account" }).count()).toBe(0);
  });
  await setSignUp("invited", "open");
});

async function openSwitcher(page: Page): Promise<void> {
  await page.locator("summary").filter({ hasText: "Acme" }).click();
  await page.getByRole("link", { name: /^Acme/ }).waitFor();
}

/** Changes who may sign up, which the gateway follows without a restart. */
async function setSignUp(from: string, to: string): Promise<void> {
  const path = join(world.folder, "tollgate.yaml");
  writeFileSync(path, readFileSync(path, "utf8").replace(`sign_up: ${from}`, `sign_up: ${to}`));
  await until(async () => (await world.owner.call("GET", "/setup")).sign_up === to);
}

describe("what a role may not do", () => {
  test("is said in words on a page whose address was guessed", async () => {
    await visit("viewer", "/playground", async (page) => {
      await page.getByText("Owners and developers may start one.").waitFor();
    });
  });

  test("is said like an unknown item for an account of others", async () => {
    const visitor = await sessionOf("viewer");
    const path = `/console/accounts/${world.northwind.accountId}/keys`;
    await browse(browser, { url: world.url, path, person: visitor }, async (page) => {
      await page.getByRole("alert").getByText("You have no access").waitFor();
      expect(await page.getByText("Northwind").count()).toBe(0);
    });
  });

  test("leads from the operators' pages back to one's own", async () => {
    const person = await sessionOf("owner");
    const path = "/console/operator/health";
    await browse(browser, { url: world.url, path, person }, (page) => untilTitled(page, "Overview"));
  });

  test("is said in words when the role was lowered while the page was open", async () => {
    await visit("developer", "/keys?create=1", async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("too late");
      await setRole("viewer");
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      await page.getByRole("status").getByText("This action is not permitted.").waitFor();
      await setRole("developer");
    });
  });
});

/** Gives the developer another role. */
async function setRole(role: string): Promise<void> {
  const at = `/accounts/${world.acme.accountId}/members`;
  const { items } = await world.owner.call("GET", at);
  const { person_id } = items.find(({ email }: { email: string }) => email === world.emails.developer);
  await world.owner.call("PATCH", `${at}/${person_id}`, { role });
}

const sessions = new Map<Visitor, Promise<SignedIn>>();

/** Each signs in once. */
function sessionOf(visitor: Visitor): Promise<SignedIn> {
  const known = sessions.get(visitor) ?? signInAs(visitor);
  sessions.set(visitor, known);
  return known;
}

async function signInAs(visitor: Visitor): Promise<SignedIn> {
  const email = world.emails[visitor === "acting" ? "operator" : visitor];
  const person = await signIn(world.url, { email, password: PASSWORD });
  if (visitor === "acting") {
    const reason = "asked for help";
    await person.call("POST", `/operator/accounts/${world.acme.accountId}/act`, { reason });
  }
  return person;
}

/** Opens a page of the account as somebody. */
async function visit(visitor: Visitor, path: string, use: (page: Page) => Promise<void>): Promise<void> {
  const person = await sessionOf(visitor);
  await browse(
    browser,
    { url: world.url, path: `/console/accounts/${world.acme.accountId}${path}`, person },
    use,
  );
}
