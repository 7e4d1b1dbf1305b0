import { useNavigate } from "@tanstack/react-router";
import { formatCount } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { LiveList } from "./use-live-list.ts";
import type { LiveState } from "./use-live-rows.ts";

const STATES: Readonly<Record<Exclude<LiveState, "off">, { readonly text: string; readonly tone: Tone }>> = {
  paused: { text: "Paused", tone: "neutral" },
  connecting: { text: "Connecting…", tone: "info" },
  live: { text: "Live", tone: "good" },
  refused: { text: "Not connected", tone: "warn" },
};

/** The state of the live list; pauses and continues it. The URL holds the choice. */
export function LiveSwitch({ list: { state, waiting, notShown } }: { readonly list: LiveList }) {
  const navigate = useNavigate();
  if (state === "off") return null;
  const isPaused = state === "paused";
  const turn = () =>
    void navigate({
      to: ".",
      search: (all: object) => ({ ...all, live: isPaused ? undefined : "0" }) as never,
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      {waiting > 0 && (
        <span title="Shown as soon as the pointer or the focus leaves the list">
          <Badge tone="info">{formatCount(waiting)} new</Badge>
        </span>
      )}
      {notShown > 0 && (
        <span title="They came while this list followed. Older pages have them.">
          <Badge tone="warn">{formatCount(notShown)} not shown</Badge>
        </span>
      )}
      <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>
      <Button onClick={turn}>{isPaused ? "Follow" : "Pause"}</Button>
    </>
  );
}
