import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { Button } from "../../parts/button.tsx";
import { announceProof } from "../../proofs.ts";
import { describeProblem } from "../../queries/sign-in-ways.ts";
import { EntranceHead, EntranceStack } from "../../shell/entrance.tsx";

const route = getRouteApi("/entrance/confirmed");

/** The end of a fresh proof at a provider, in a window of its own. */
export function ConfirmedPage() {
  const { problem } = route.useSearch();
  useEffect(() => {
    announceProof(problem);
    if (problem === undefined) window.close();
  }, [problem]);
  return (
    <>
      <EntranceHead title={problem === undefined ? "Confirmed" : "Not confirmed"}>
        {describeProblem(problem) ?? "Go on in the other window."}
      </EntranceHead>
      <EntranceStack>
        <Button look="primary" onClick={() => window.close()}>
          Close this window
        </Button>
      </EntranceStack>
    </>
  );
}
