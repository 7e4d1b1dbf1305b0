import type { Page } from "playwright-core";
import { signInByForm } from "./forms.ts";
import type { Furniture } from "./furnish.ts";
import type { World } from "./world.ts";

type Viewer = "owner" | "operator" | "visitor";

/** A page of the console, and who looks at it. */
export interface ListedPage {
  readonly name: string;
  readonly path: string;
  readonly viewer: Viewer;
  /** Opens the dialog that this entry is about. */
  readonly open?: OpenDialog;
}

/** Opens a dialog of the page. Resolves once it shows what it has to. */
type OpenDialog = (page: Page) => Promise<void>;
/** A path below the root of its group, or a path with the dialog to open there. */
type Listing = string | readonly [path: string, open: OpenDialog];

/** The month before this one in UTC. */
function lastMonth(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7);
}

/** Every page of the console in a furnished world, and its dialogs as entries of their own. */
export function listPages(world: World, furniture: Furniture): readonly ListedPage[] {
  const account = `/console/accounts/${world.acme.accountId}`;
  const of = (viewer: Viewer, root: string, listings: Readonly<Record<string, Listing>>) =>
    Object.entries(listings).map(([name, listing]): ListedPage => {
      if (typeof listing === "string") return { name, path: `${root}${listing}`, viewer };
      const [path, open] = listing;
      return { name, path: `${root}${path}`, viewer, open };
    });
  return [
    ...of("visitor", "", {
      "sign-in": "/console/sign-in",
      "sign-in-refused": ["/console/sign-in", signInWrongly],
      "sign-in-problem": "/console/sign-in?problem=no_account",
      confirmed: "/console/confirmed?problem=not_fresh",
      "sign-up": "/console/sign-up",
      forgot: "/console/forgot",
      reset: "/console/reset?token=unknown",
      accept: "/console/accept?token=unknown",
      "accept-open": furniture.acceptPath,
      verify: "/console/verify?token=unknown",
      shared: furniture.sharedPath,
      "shared-project": furniture.sharedProjectPath,
    }),
    ...of("owner", account, {
      overview: "",
      "shell-search": ["", openSearch],
      "shell-keys-help": ["", pressKey("?")],
      "shell-navigation": ["", openNavigation],
      usage: "/usage",
      "usage-by-key": "/usage?group=key&range=7d",
      "usage-by-user": "/usage?group=end_user&range=7d",
      "usage-of-user": "/usage?range=7d&scope=end_user%3Aines%40shop.example",
      requests: "/requests",
      receipt: `/requests/${furniture.answeredId}`,
      "receipt-of-user": `/requests/${furniture.attributedId}`,
      refusals: "/refusals",
      "why-refused-by-limit": `/refusals/${furniture.overLimitId}`,
      "why-refused": `/refusals/${furniture.refusedId}`,
      keys: "/keys",
      "keys-create": ["/keys", press(/^Create key$/)],
      "keys-secret": ["/keys", showSecret],
      key: `/keys/${furniture.limitedKeyId}`,
      "key-conflict": [`/keys/${furniture.limitedKeyId}`, (page) => showConflict(page, world, furniture)],
      "key-edit": [`/keys/${furniture.limitedKeyId}`, press(/^Edit$/)],
      "key-rotate": [`/keys/${furniture.limitedKeyId}`, press(/^Rotate$/)],
      "key-revoke": [`/keys/${furniture.limitedKeyId}`, pressInMenu(/^More for key/, /^Revoke$/)],
      "key-snippets": `/keys/${furniture.limitedKeyId}?tab=snippets`,
      "key-simulator": `/keys/${furniture.limitedKeyId}?tab=simulator`,
      "key-bodies": `/keys/${furniture.recordingKeyId}?tab=bodies`,
      "key-bodies-change": [`/keys/${furniture.recordingKeyId}?tab=bodies`, press(/^Change$/)],
      "key-bodies-delete": [`/keys/${furniture.recordingKeyId}?tab=bodies`, press(/^Delete all$/)],
      "key-bodies-off": `/keys/${furniture.limitedKeyId}?tab=bodies`,
      "receipt-bodies": [`/requests/${furniture.recordedId}`, showBodies],
      "receipt-bodies-delete": [`/requests/${furniture.recordedId}`, press(/^Delete$/)],
      compare: `/compare?left=${furniture.recordedId}&right=${furniture.otherRecordedId}`,
      "playground-recorded": `/playground?from=${furniture.recordedId}`,
      "key-below": `/keys/${furniture.parentKeyId}`,
      projects: "/projects",
      "projects-create": ["/projects", press(/^Create project$/)],
      project: `/projects/${furniture.projectId}`,
      "project-by-key": `/projects/${furniture.projectId}?by=key`,
      "project-share": [`/projects/${furniture.projectId}`, press(/^Share$/)],
      "project-edit": [`/projects/${furniture.projectId}`, press(/^Edit$/)],
      "project-archive": [`/projects/${furniture.projectId}`, pressInMenu(/^More for project/, /^Archive$/)],
      models: "/models",
      "models-filtered": "/models?can=images&sort=output",
      model: "/models/gpt-4.1-mini",
      playground: "/playground",
      "playground-answered": ["/playground?model=gpt-4.1-mini&other=gpt-4.1", showAnswers],
      wallet: "/wallet",
      "wallet-top-up": ["/wallet", press(/^Top up/)],
      "wallet-credits": "/wallet?tab=credits",
      "wallet-credits-all": "/wallet?tab=credits&credits=all",
      "wallet-expired": "/wallet?kind=credit_expiry",
      "wallet-holds": "/wallet?tab=holds",
      "wallet-statements": "/wallet?tab=statements",
      statement: `/statements/${new Date().toISOString().slice(0, 7)}`,
      "statement-past": `/statements/${lastMonth()}`,
      "wallet-proof": ["/wallet?tab=proof", prove],
      notices: "/notices",
      "notices-of-users": "/notices?tab=subjects",
      "notices-add": ["/notices", press(/^Add rule$/)],
      "notices-deliveries": ["/notices", pressInMenu(/80% of its/, /^Deliveries$/)],
      "notices-webhook": ["/notices", pressInMenu(/80% of its/, /^Webhook/)],
      "notices-delete": ["/notices", pressInMenu(/80% of its/, /^Delete$/)],
      team: "/team",
      "team-invite": ["/team", press(/^Invite a person$/)],
      "team-role": ["/team", pressInMenu(/^Actions of Sam/, "Change the role")],
      "team-remove": ["/team", pressInMenu(/^Actions of Sam/, "Remove")],
      "team-limit": ["/team", press(/^Set limit of Sam/)],
      "team-limit-each": ["/team", press(/^Limit of each member$/)],
      links: "/links",
      "links-create": ["/links", press(/^Create link$/)],
      "links-revoke": ["/links", press(/^Revoke/)],
      "management-keys": "/management-keys",
      "management-keys-create": ["/management-keys", press(/^Create key$/)],
      "management-keys-revoke": ["/management-keys", press(/^Revoke/)],
      "audit-trail": "/audit-trail",
      settings: "/settings",
      "settings-forget": ["/settings", press(/^Forget/)],
      "settings-conflict": ["/settings", (page) => showAccountConflict(page, world)],
    }),
    ...of("owner", "/console", {
      profile: "/profile",
      "profile-second-factor": ["/profile", showSecondFactor],
      "second-factor": "/second-factor",
      "profile-account": ["/profile", press(/^New account$/)],
      "not-in-account": `/accounts/${world.northwind.accountId}/usage`,
      "api-docs": "/api/docs",
    }),
    ...of("operator", "/console/operator", {
      "operator-figures": "/figures",
      "operator-accounts": "/accounts",
      "operator-accounts-new": ["/accounts", press(/^New account$/)],
      "operator-accounts-credit": ["/accounts", choose("Add credit")],
      "operator-accounts-refund": ["/accounts", choose("Refund a request")],
      "operator-accounts-subscribe": ["/accounts", choose("Subscribe to a plan")],
      "operator-accounts-suspend": ["/accounts", choose("Suspend")],
      "operator-people": "/people",
      "operator-people-operator": ["/people", pressInMenu(/^Actions of Sam/, "Make operator")],
      "operator-people-sessions": ["/people", pressInMenu(/^Actions of Dana/, "End sessions")],
      "operator-usage": "/usage",
      "operator-setup": "/setup",
      "operator-health": "/health",
      "operator-health-circuit": ["/health", press(/^Open the circuit/)],
      "operator-audit": "/audit",
      "operator-audit-trail": "/audit-trail",
      "operator-subscriptions": "/subscriptions",
      "operator-codes": "/codes",
      "operator-codes-new": ["/codes", press(/^Create codes$/)],
      "operator-codes-created": ["/codes", createCodes],
      "operator-management-keys": "/management-keys",
    }),
  ];
}

/** Creates a key and tries to leave its secret, so that one more Escape closes it. */
async function showSecret(page: Page): Promise<void> {
  await press(/^Create key$/)(page);
  await page.getByLabel("Name", { exact: true }).fill("pictured");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByRole("region", { name: "secret", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("alert").waitFor();
}

/** Saves an edit of the key after another one was saved. */
async function showConflict(page: Page, { owner, acme }: World, { limitedKeyId }: Furniture): Promise<void> {
  await press(/^Edit$/)(page);
  await page.getByLabel("Running at once").fill("4");
  const path = `/accounts/${acme.accountId}/keys/${limitedKeyId}`;
  const { version } = await owner.call("GET", path);
  await owner.call("PATCH", path, { version, tokens_per_minute: 10_000 + version });
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog", { name: /Somebody else saved/ }).waitFor();
}

/** Saves the settings of the account after another edit was saved. */
async function showAccountConflict(page: Page, { owner, acme }: World): Promise<void> {
  const path = `/accounts/${acme.accountId}`;
  const { version } = await owner.call("GET", path);
  await owner.call("PATCH", path, { version, email: `office${version}@example.com` });
  await page.getByLabel("E-mail").fill("billing@example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog", { name: /Somebody else saved/ }).waitFor();
}

/** Sends the prepared prompt to two models and waits for their receipts. */
async function showAnswers(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("link", { name: "Receipt" }).nth(1).waitFor();
}

/** Opens the bodies of a request, which have no dialog. */
async function showBodies(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("region", { name: "answer", exact: true }).waitFor();
}

/** Begins a second factor, whose picture for the app comes last. */
async function showSecondFactor(page: Page): Promise<void> {
  await press(/^Set up$/)(page);
  await page.getByRole("img", { name: /^The secret as a picture/ }).waitFor();
}

/** Opens a dialog by an item of the menu with this name. */
function pressInMenu(menu: RegExp, item: string | RegExp): OpenDialog {
  return async (page) => {
    const button = page.getByRole("main").getByRole("button", { name: menu });
    const entry = page.getByRole("menuitem", { name: item });
    // On a busy machine, the dialog before gives the focus back late, which closes a menu that opened meanwhile.
    while (!(await entry.isVisible())) {
      await button.click();
      await entry.waitFor({ timeout: 5_000 }).catch(() => {});
    }
    await entry.click();
    await page.getByRole("dialog").waitFor();
    await page.getByRole("menu").waitFor({ state: "detached" });
    await page.waitForFunction(() => document.querySelector("[data-skeleton]") === null);
  };
}

/** Opens what a key of the keyboard opens. */
function pressKey(key: string): OpenDialog {
  return async (page) => {
    // The focus returns there, and not to the body.
    await page.getByRole("main").locator("a:visible, button:visible").first().focus();
    await page.keyboard.press(key);
    await page.getByRole("dialog").waitFor();
  };
}

async function openSearch(page: Page): Promise<void> {
  await pressKey("Control+k")(page);
  await page.getByRole("combobox").fill("key");
  await page.getByRole("option").first().waitFor();
}

/** Opens the drawer of narrow windows, and the person's menu elsewhere. */
async function openNavigation(page: Page): Promise<void> {
  const drawer = page.getByRole("button", { name: "Open navigation" });
  if (!(await drawer.isVisible())) {
    return page.getByRole("complementary").locator("summary").last().click();
  }
  await drawer.click();
  await page.getByRole("dialog", { name: "Navigation" }).waitFor();
}

async function signInWrongly(page: Page): Promise<void> {
  await signInByForm(page, { email: "dana@example.com", password: "a wrong password" });
  await page.getByRole("alert").waitFor();
}

/** Opens a dialog by the first button of the page with this name. */
function press(name: RegExp): OpenDialog {
  return async (page) => {
    await page.getByRole("main").getByRole("button", { name }).first().click();
    await page.getByRole("dialog").waitFor();
  };
}

/** Opens the dialog of an action of Acme, which no other page of the world changes. */
function choose(action: string): OpenDialog {
  return pressInMenu(/^Actions of account Acme$/, action);
}

/** Shows the result of a proof, which has no dialog. */
async function prove(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Prove it now" }).click();
  await page.getByText("Every entry and every hold add up").waitFor();
}

/** Creates codes. The first press of Escape shows the warning that they are not shown again. */
async function createCodes(page: Page): Promise<void> {
  await press(/^Create codes$/)(page);
  await page.getByLabel("Amount of each in USD").fill("10");
  await page.getByLabel("Number of codes").fill("3");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("region", { name: "codes", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("alert").waitFor();
}
