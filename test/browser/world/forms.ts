import type { Page } from "playwright-core";

/** Signs in by the form of the page that is open, which is the sign-in. */
export async function signInByForm(
  page: Page,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Waits for the title of a page. */
export async function untilTitled(page: Page, title: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}
