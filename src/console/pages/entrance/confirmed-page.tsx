import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { announceProof } from "../../proofs.ts";
import { describeProblem } from "../../queries/sign-in-ways.ts";
import { EntranceHead } from "../../shell/entrance.tsx";

const route = getRouteApi("/entrance/confirmed");

/** The end of a fresh proof at a provider, in a window of its own. */
export function ConfirmedPage() {
  const { problem } = route.useSearch();
  useEffect(() => {
    announceProof(problem);
    if (problem === undefined) window.close();
  }, [problem]);
  return (
    <EntranceHead title={problem === undefined ? "Confirmed" : "Not confirmed"}>
      {describeProblem(problem) ?? "Close this window and go on in the other one."}
    </EntranceHead>
  );
}
