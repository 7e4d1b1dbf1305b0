import { formatCount } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { Icon } from "../../parts/icons.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { fetchProof, type Proof } from "../../queries/wallet.ts";
import { useAction } from "../../use-action.ts";
import styles from "./wallet.module.css";

/** Adds up every entry and every hold of the wallet, and compares the sums with its balances. */
export function WalletProof({ account }: { readonly account: string }) {
  const prove = useAction({ act: () => fetchProof(account) });
  return (
    <Panel
      title="Proof"
      note="Reads every entry and every open hold, and compares their sums with the balances."
      actions={
        <Button icon="audit" isBusy={prove.isPending} onClick={() => prove.mutate()}>
          {prove.data ? "Prove again" : "Prove it now"}
        </Button>
      }
    >
      {prove.data ? (
        <Sums proof={prove.data} />
      ) : (
        <p className={styles.quiet}>Nothing is lost: press the button to have it added up.</p>
      )}
    </Panel>
  );
}

function Sums({ proof }: { readonly proof: Proof }) {
  const { top_ups_usd, charges_usd, refunds_usd, expired_usd, computed_posted_usd, posted_usd } = proof;
  return (
    <div className={styles.stack}>
      <div className={classes(styles.banner, proof.ok ? styles.good : styles.bad)} role="status">
        <Icon name={proof.ok ? "check" : "warning"} size={20} />
        <p>
          {verdictOf(proof)} Checked <Time at={proof.checked_at} as="second" />.
        </p>
      </div>
      <table className={styles.proof}>
        <caption hidden>Sums of the wallet</caption>
        <tbody>
          <Row name="Top-ups" usd={top_ups_usd} />
          <Row name="− charges" usd={charges_usd} />
          <Row name="+ refunds" usd={refunds_usd} />
          <Row name="− expired credit" usd={expired_usd} />
          <Row name={`= sum of ${formatCount(proof.transfers)} entries`} usd={computed_posted_usd} isSum />
          <Row name="Posted balance" usd={posted_usd} isSum />
          <Row name={`Sum of ${formatCount(proof.open_holds)} open holds`} usd={proof.held_sum_usd} />
          <Row name="Held balance" usd={proof.held_usd} />
        </tbody>
      </table>
    </div>
  );
}

function Row({ name, usd, isSum }: { readonly name: string; readonly usd: string; readonly isSum?: true }) {
  return (
    <tr className={isSum && styles.sum}>
      <th scope="row">{name}</th>
      <td>
        <Money usd={usd} isExact />
      </td>
    </tr>
  );
}

function verdictOf({ ok, is_busy }: Proof): string {
  if (!ok) return "The sums differ from the balances. Tell the operator.";
  if (is_busy) return "Every entry adds up. Holds changed too fast to be compared: try again later.";
  return "Every entry and every hold add up to the balances, to the billionth of a dollar.";
}
