import { until } from "../../support/until.ts";
import type { World } from "./world.ts";

/** Waits for the newest link of a mail that the gateway prints because it has no mail server. */
export async function mailedLink(
  { printed }: Pick<World, "printed">,
  email: string,
  page: "reset" | "accept",
  count = 1,
): Promise<string> {
  const pattern = new RegExp(
    `Mail to ${RegExp.escape(email)},[^]*?(http\\S+/console/${page}\\?token=\\S+)`,
    "g",
  );
  const links = () => [...printed().matchAll(pattern)].flatMap(([, link]) => link ?? []);
  await until(() => links().length >= count);
  return links().at(-1) ?? "";
}
