import { describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { createSoftwarePasskey } from "../support/software-passkey.ts";
import { until } from "../support/until.ts";
import { signInByForm, untilTitled } from "./world/forms.ts";
import { browse } from "./world/open-page.ts";
import { signIn } from "./world/signed-in.ts";
import { PASSWORD } from "./world/world.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 1, perDay: 20 });

const visit = (path: string, use: Parameters<typeof browse>[2]) =>
  browse(
    browser,
    { url: world.url, path: `/console/accounts/${world.acme.accountId}${path}`, person: world.owner },
    use,
  );
const rowOf = (page: Page, name: string | RegExp): Locator => page.getByRole("row", { name });

describe("a member", () => {
  test("is invited by a link that the inviter copies, gets another role, and is told when it was removed", async () => {
    const email = "robin@example.com";
    await visit("/team", async (page) => {
      await page.getByRole("button", { name: "Invite a person" }).click();
      await page.getByLabel("E-mail").fill(email);
      await page.getByRole("button", { name: "Invite", exact: true }).click();
      const first = await takeLink(page);
      await rowOf(page, /robin@example.com.*waiting/).waitFor();
      await page.getByRole("button", { name: `Send again the invitation of ${email}` }).click();
      const second = await takeLink(page);
      await browse(browser, { url: world.url, path: "/console/sign-in" }, async (theirs) => {
        await theirs.goto(first);
        await theirs.getByText("ask for another").waitFor();
        await theirs.goto(second);
        await theirs.getByRole("link", { name: "Create your sign-in" }).click();
        await theirs.getByLabel("Your name").fill("Robin");
        await theirs.getByLabel("Password").fill(PASSWORD);
        await theirs.getByRole("button", { name: "Create" }).click();
        await untilTitled(theirs, "Overview");
        await page.reload();
        await inMenu(page, "Robin", "Change the role");
        await page.getByLabel("Role", { exact: true }).selectOption("viewer");
        await page.getByRole("button", { name: "Change the role" }).click();
        await rowOf(page, /Robin.*Viewer/).waitFor();
        await inMenu(page, "Robin", "Remove");
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await page.getByText("Robin was removed").waitFor();
        await theirs.getByRole("link", { name: "Usage", exact: true }).click();
        await untilTitled(theirs, "You are not in this account");
        await theirs.getByRole("link", { name: "Your profile" }).click();
        await theirs.getByText("You belong to no account").waitFor();
        await theirs.getByRole("button", { name: "Verify the address" }).click();
        await theirs.getByText("A link is in the server's log").waitFor();
      });
    });
    await visit("/audit-trail?action=member", async (page) => {
      await rowOf(page, /dana@example.com.*Member removed.*robin@example.com/s).waitFor();
      await rowOf(page, /Member role changed.*developer → viewer/s).waitFor();
      expect(await page.getByText("Invitation accepted").count()).toBe(0);
      await page.getByRole("combobox", { name: "What" }).click();
      await page.getByRole("option", { name: "Invitation" }).click();
      await rowOf(page, /robin@example.com.*Invitation accepted/s).waitFor();
      expect(page.url()).toEndWith("?action=invitation");
    });
  });

  test("who is the only owner is told so, and cannot be demoted", async () => {
    await visit("/settings", async (page) => {
      await page.getByText("You are its only owner").waitFor();
      await page.getByRole("link", { name: "Go to the team" }).click();
      await page.getByRole("button", { name: "Actions of Dana Whitfield" }).click();
      const item = page.getByRole("menuitem", { name: "Remove" });
      expect(await item.getAttribute("aria-disabled")).toBe("true");
    });
  });

  test("leaves the account and stays signed in", async () => {
    const person = await signIn(world.url, { email: world.emails.developer, password: PASSWORD });
    const path = `/console/accounts/${world.acme.accountId}/settings`;
    await browse(browser, { url: world.url, path, person }, async (page) => {
      await page.getByRole("button", { name: "Leave…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
      await untilTitled(page, "Profile");
      await page.getByText("You belong to no account").waitFor();
    });
  });

  test("who is signed in with another address is told so by an invitation", async () => {
    const email = "kim@example.com";
    const at = `/accounts/${world.acme.accountId}/invitations`;
    const link = new URL((await world.owner.call("POST", at, { email, role: "viewer" })).link);
    const person = await signIn(world.url, { email: world.emails.viewer, password: PASSWORD });
    const path = link.pathname + link.search;
    await browse(browser, { url: world.url, path, person }, async (page) => {
      await page.getByText("the invitation is for another address").waitFor();
      await page.getByRole("button", { name: "Sign out and go on" }).click();
      await page.getByRole("link", { name: "Create your sign-in" }).waitFor();
    });
  });
});

describe("an account", () => {
  test("that somebody else edited first is shown in both versions, and is saved over or taken", async () => {
    await visit("/settings", async (page) => {
      const path = `/accounts/${world.acme.accountId}`;
      const { version } = await world.owner.call("GET", path);
      await world.owner.call("PATCH", path, { version, email: "theirs@example.com" });
      await page.getByLabel("E-mail").fill("mine@example.com");
      await page.getByRole("button", { name: "Save" }).click();
      const row = page.getByRole("dialog").getByRole("row", { name: /^E-mail/ });
      expect(await row.textContent()).toMatch(/mine@example.com.*theirs@example.com/);
      await page.getByRole("button", { name: "Save mine over theirs" }).click();
      await page.getByText("Account saved").waitFor();
      expect(await world.owner.call("GET", path)).toMatchObject({ email: "mine@example.com" });
    });
  });

  test("shares its usage by a link that opens without a session until it is revoked", async () => {
    await visit("/links", async (page) => {
      await page.getByRole("button", { name: "Create link" }).click();
      await page.getByLabel("Names of account, keys and projects").selectOption("yes");
      await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
      const link = await page.getByRole("region", { name: "link", exact: true }).textContent();
      await page.getByRole("button", { name: "I have stored it" }).click();
      const path = new URL(link ?? "").pathname;
      await browse(browser, { url: world.url, path }, async (theirs) => {
        await untilTitled(theirs, "Acme");
        await page.getByRole("button", { name: "Revoke the link to the whole account" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
        await rowOf(page, /revoked/).waitFor();
        await theirs.reload();
        await theirs.getByText("This link shows nothing any more").waitFor();
      });
    });
  });

  test("gives a program a management key, shown once with its first call, and revokes it", async () => {
    await visit("/management-keys", async (page) => {
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByLabel("Name", { exact: true }).fill("provisioning");
      await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
      const command = await page.getByRole("region", { name: "curl command" }).textContent();
      const [, url = "", header = ""] = /curl (\S+)[^"]*"authorization: ([^"]+)"/.exec(command ?? "") ?? [];
      const call = () => fetch(url, { headers: { authorization: header } });
      expect(await (await call()).json()).toMatchObject({ items: expect.any(Array) });
      await page.getByRole("button", { name: "I have stored it" }).click();
      await page.getByText(header.replace("Bearer ", "")).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Revoke provisioning" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByText("Management key revoked").waitFor();
      expect((await call()).status).toBe(401);
    });
  });
});

test("whoever is made operator has to sign in again, and then finds the operators' pages", async () => {
  const email = world.emails.viewer;
  const person = await signIn(world.url, { email, password: PASSWORD });
  const at = { url: world.url, path: `/console/accounts/${world.acme.accountId}/models`, person };
  await browse(browser, at, async (theirs) => {
    const people = { url: world.url, path: "/console/operator/people?q=vic", person: world.operator };
    await browse(browser, people, async (page) => {
      await inMenu(page, "Vic Lindqvist", "Make operator");
      await page.getByRole("dialog").getByRole("button", { name: "Make operator" }).click();
      await page.getByText("Vic Lindqvist is an operator").waitFor();
    });
    await theirs.getByRole("link", { name: "Usage", exact: true }).click();
    await untilTitled(theirs, "Sign in");
    await signInByForm(theirs, { email, password: PASSWORD });
    await untilTitled(theirs, "Usage");
    await theirs.getByRole("link", { name: "People" }).click();
    await untilTitled(theirs, "People");
  });
});

test("an operator takes a lost passkey from a person", async () => {
  const email = world.emails.developer;
  const person = await signIn(world.url, { email, password: PASSWORD });
  const { options } = await person.call("POST", "/me/passkeys/options");
  const response = createSoftwarePasskey(world.url).register(options);
  await person.call("POST", "/me/passkeys", { name: "Lost phone", response });
  const path = `/console/operator/people?q=${encodeURIComponent(email)}`;
  await browse(browser, { url: world.url, path, person: world.operator }, async (page) => {
    await page.getByRole("button", { name: /^Actions of / }).click();
    await page.getByRole("menuitem", { name: "Ways to sign in" }).click();
    await page.getByRole("button", { name: "Take away: The passkey Lost phone" }).click();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Take away", exact: true }).click();
    await page.getByText("Nothing beside it.").waitFor();
  });
});

/** Chooses an item of the menu of a person. */
async function inMenu(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole("button", { name: `Actions of ${name}` }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Reads the link of the dialog that shows it once, and closes the dialog. */
async function takeLink(page: Page): Promise<string> {
  const dialog = page.getByRole("dialog", { name: "Pass this link on" });
  const text = await dialog.locator("code").first().textContent();
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await dialog.waitFor({ state: "hidden" });
  return text ?? "";
}

describe("a value that the server refuses is named at its field, which gets the focus", () => {
  const HIDDEN = "Da\u202ena";
  const refused = async (page: Page, label: string | RegExp, text: string) => {
    const field = page.getByLabel(label, { exact: true });
    await page.getByText(text).waitFor();
    await until(() =>
      field.evaluate((each) => each.ariaInvalid === "true" && each === document.activeElement),
    );
    const description = await field.evaluate((element) =>
      (element.getAttribute("aria-describedby") ?? "")
        .split(" ")
        .map((id) => document.getElementById(id)?.textContent ?? "")
        .join(" "),
    );
    expect(description).toContain(text);
    expect(await page.getByRole("alert").count()).toBe(1);
    expect(await findAccessibilityFaults(page)).toEqual([]);
  };
  const saved = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();

  test("in the form that creates an account", async () => {
    await browse(browser, { url: world.url, path: "/console/sign-up" }, async (page) => {
      await page.getByLabel("Your name").fill("Kim");
      await page.getByLabel("E-mail").fill("kim@example.com");
      await page.getByLabel("Account", { exact: true }).fill(HIDDEN);
      await page.getByLabel("Password").fill("😀😀😀😀😀");
      const create = () => page.getByRole("button", { name: "Create" }).click();
      await create();
      await refused(page, "Account", "The server refuses this value.");
      await page.getByLabel("Account", { exact: true }).fill("Kim's");
      await create();
      await refused(page, "Password", "A password has 10 to 128 characters.");
    });
  });

  test("in the profile", async () => {
    const own = { url: world.url, path: "/console/profile", person: world.owner };
    await browse(browser, own, async (page) => {
      await page.getByLabel("Name", { exact: true }).fill(HIDDEN);
      await saved(page);
      await refused(page, "Name", "The server refuses this value.");
    });
    await browse(browser, own, async (page) => {
      await page.getByLabel("Present password").fill("a wrong password");
      await page.getByLabel("New password").fill("another password");
      const change = () => page.getByRole("button", { name: "Change the password" }).click();
      await change();
      await refused(page, "Present password", "This is not your present password.");
      await page.getByLabel("Present password").fill(PASSWORD);
      await page.getByLabel("New password").fill(PASSWORD);
      await change();
      await refused(page, "New password", "The new password must differ from the old one.");
    });
  });

  test("in the settings of an account", async () => {
    await visit("/settings", async (page) => {
      await page.getByLabel("Name", { exact: true }).fill(HIDDEN);
      await saved(page);
      await refused(page, "Name", "The server refuses this value.");
      await page.getByLabel("Name", { exact: true }).fill("Northwind");
      await saved(page);
      await refused(page, "Name", "Another account has this name.");
    });
  });

  test("in the rule of a notice", async () => {
    await visit("/notices", async (page) => {
      await page.getByRole("button", { name: "Add rule" }).first().click();
      await page.getByLabel("Report when").selectOption("key_limit");
      const members = "A notice is mailed to members of the account";
      const faults = [
        [/^Percent/, "101", "The server refuses this value.", "80"],
        [/^Webhook/, "https://10.0.0.1/hook", "The webhook names an address that is not public.", ""],
        [/^E-mail addresses/, `${world.emails.owner}, stranger@example.com`, members, ""],
      ] as const;
      for (const [label, wrong, text, right] of faults) {
        await page.getByLabel(label).fill(wrong);
        await saved(page);
        await refused(page, label, text);
        await page.getByLabel(label).fill(right);
      }
      await saved(page);
      await page.getByText("Rule saved").waitFor();
    });
  });
});
