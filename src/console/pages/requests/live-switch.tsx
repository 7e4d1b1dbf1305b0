import { useNavigate } from "@tanstack/react-router";
import { Button } from "../../parts/button.tsx";

const TEXTS = { off: "Paused: follow", connecting: "Connecting…", live: "Live: pause" } as const;

/** Pauses and continues the live list. The URL holds the choice. */
export function LiveSwitch({ state }: { readonly state: keyof typeof TEXTS }) {
  const navigate = useNavigate();
  const turn = () =>
    void navigate({
      to: ".",
      search: (all: object) => ({ ...all, live: state === "off" ? undefined : "0" }) as never,
    });
  return (
    <Button onClick={turn} aria-pressed={state !== "off"}>
      {TEXTS[state]}
    </Button>
  );
}
