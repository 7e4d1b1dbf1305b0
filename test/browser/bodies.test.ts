import { expect, test } from "bun:test";
import { findAccessibilityFaults } from "../support/axe.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { until } from "../support/until.ts";
import { untilTitled } from "./world/forms.ts";
import { furnishRecordings } from "./world/furnish-recordings.ts";
import { browse, type PageOptions } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 1, perDay: 10 });
const account = () => `/accounts/${world.acme.accountId}`;
const visit = (path: string, use: Parameters<typeof browse>[2], options?: PageOptions) =>
  browse(browser, { url: world.url, path: `/console${account()}${path}`, person: world.owner }, use, options);

test("bodies are switched on, read, compared, opened in the playground and deleted", async () => {
  const { key } = await world.owner.call("POST", `${account()}/keys`, { name: "by hand" });
  await visit(`/keys/${key.id}?tab=bodies`, async (page) => {
    await page.getByText("No bodies are kept").waitFor();
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByLabel("Own expressions").fill("(?=a)b");
    await page.getByRole("button", { name: "Keep bodies" }).click();
    await page.getByText(/no expression of RE2/).waitFor();
    await page.getByLabel("Own expressions").fill("code \\d+");
    await page.getByRole("button", { name: "Keep bodies" }).click();
    await page.getByText("records bodies", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByText("No bodies are kept").waitFor();
  });
  const { recordedId, otherRecordedId, recordingKeyId } = await furnishRecordings(world);
  await visit(`/requests/${recordedId}`, async (page) => {
    await page.getByRole("button", { name: "Open", exact: true }).click();
    const body = page.getByRole("region", { name: "request body" });
    await body.getByText("I am [redacted: email], [redacted: rule 1].").waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.getByText("Compare with another request").click();
    await page.getByRole("textbox", { name: "Request id" }).fill(otherRecordedId);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await untilTitled(page, "Two requests");
    await page.locator("del").getByText("a team of ten").waitFor();
    await page.locator("ins").getByText("a team of four").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByRole("link", { name: "Open in the playground" }).click();
    await page.getByText("2 messages of the recorded request").waitFor();
    expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toContain("a team of four");
    expect(await page.getByLabel("System prompt").inputValue()).toBe("Answer in Markdown.");
  });
  await visit(`/keys/${recordingKeyId}?tab=bodies`, async (page) => {
    await page.getByText(/^2 requests, /).waitFor();
    await page.getByRole("button", { name: "Delete all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete all" }).click();
    await page.getByText("0 requests, 0 KiB").waitFor();
  });
});

test("the playground shows Markdown, and nothing of an answer becomes HTML or is loaded", async () => {
  const text = [
    "**bold** <b onclick=alert(1)>raw</b> <img src=https://evil.example/a.png>",
    "",
    "![pixel](https://evil.example/b.png) [bad](javascript:alert(1)) [good](https://good.example/)",
  ].join("\n");
  world.upstream.on("gpt-4.1-mini", answerWith({ text, usage: { input: 4, output: 6 } }));
  await visit("/playground?model=gpt-4.1-mini", async (page) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator("strong").getByText("bold").waitFor();
    await page.getByRole("link", { name: "Receipt" }).waitFor();
    const main = page.getByRole("main");
    expect(await main.locator("article b, article img").count()).toBe(0);
    await main.getByText("<b onclick=alert(1)>").waitFor();
    const links = main.locator("article a[target]");
    expect(await links.evaluateAll((all) => all.map((each) => each.getAttribute("href")))).toEqual([
      "https://evil.example/b.png",
      "https://good.example/",
    ]);
    expect(await links.first().getAttribute("rel")).toContain("noopener");
    expect(asked.filter((url) => !url.startsWith(world.url))).toEqual([]);
  });
});

test("the playground sends images and tools, goes on with results, and keeps a draft", async () => {
  const usage = { input: 4, output: 6 };
  const tool = { name: "look_up", arguments: '{"city":"Bonn"}' };
  world.upstream.on("gpt-4.1-mini", answerWith({ tool, usage }));
  await visit("/playground?model=gpt-4.1-mini", async (page) => {
    await page.getByLabel("Prompt", { exact: true }).fill("What is the weather?");
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "a.png", mimeType: "image/png", buffer: png });
    await page.getByRole("button", { name: "Remove image 1" }).waitFor();
    await page.getByText("System prompt, tools").click();
    await page.getByLabel("Tools").fill("{");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/^No JSON/).waitFor();
    await page.getByLabel("Tools").fill('[{"type":"function","function":{"name":"look_up"}}]');
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByLabel("What look_up returns").fill("sunny");
    expect(await findAccessibilityFaults(page)).toEqual([]);
    world.upstream.on("gpt-4.1-mini", answerWith({ text: "It is sunny.", usage }));
    await page.getByRole("button", { name: "Continue with these results" }).click();
    await page.getByText("It is sunny.", { exact: true }).waitFor();
    const bodies = world.upstream.seen.map(({ bodyText }) => JSON.parse(bodyText));
    expect(bodies.at(-2).messages[0].content[1].image_url.url).toStartWith("data:image/jpeg;base64,");
    expect(bodies.at(-1).messages.map(({ role }: { role: string }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
    ]);
    expect(bodies.at(-1).messages[2]).toMatchObject({ content: "sunny" });
    await page.getByLabel("Prompt", { exact: true }).fill("half a thought");
    await page.waitForFunction(() => JSON.stringify(localStorage).includes("half a thought"));
    await page.reload();
    await page.getByText("System prompt, tools").waitFor();
    const prompt = page.getByLabel("Prompt", { exact: true });
    await until(async () => (await prompt.inputValue()) === "half a thought");
    expect(await page.getByLabel("Tools").inputValue()).toContain("look_up");
    await page.locator("summary").filter({ hasText: "Dana Whitfield" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await untilTitled(page, "Sign in");
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("half a thought");
  });
});
