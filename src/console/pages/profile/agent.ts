const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const;

/** Names the browser and system of a `user-agent`: "Firefox on macOS". Many pretend to be others. */
export function describeAgent(agent: string | null): string {
  if (agent === null || agent === "") return "Unknown browser";
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => agent.includes(mark))?.[1];
  if (!browser) return agent.split(/[\s/]/, 1)[0]?.slice(0, 40) ?? agent;
  return system ? `${browser} on ${system}` : browser;
}
