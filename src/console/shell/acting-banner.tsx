import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, call } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Time } from "../parts/time.tsx";
import { showToast } from "../parts/toast.tsx";
import { useMe } from "../session.ts";
import styles from "./shell.module.css";

/** A banner on every page while an operator acts inside an account, with a button that ends the acting. */
export function ActingBanner() {
  const { acting } = useMe();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const end = useMutation({
    mutationFn: () => call(() => api.operator.acting.delete()),
    onSuccess: async () => {
      // First away: the pages of the account have nothing to show any more.
      await navigate({ to: "/operator/accounts" });
      await queryClient.invalidateQueries();
    },
    onError: (error) => showToast(error.message, "bad"),
  });
  if (!acting) return null;
  return (
    <div className={styles.acting} role="status">
      <span>
        You act inside “{acting.account_name}” until <Time at={acting.until} as="minute" />. Every step is
        logged.
      </span>
      <Button size="small" isBusy={end.isPending} onClick={() => end.mutate()}>
        Leave the account
      </Button>
    </div>
  );
}
