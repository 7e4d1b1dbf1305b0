import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { setupQuery, useAccount, useMay, useMe } from "../../session.ts";
import { CreditDialog } from "../operator-accounts/money-dialogs.tsx";
import { CheckoutBanner } from "./checkout-banner.tsx";
import { Equation } from "./equation.tsx";
import { Holds } from "./holds.tsx";
import { WalletProof } from "./proof.tsx";
import { walletQuery } from "./queries.ts";
import { Statements } from "./statements.tsx";
import { TopUp } from "./top-up.tsx";
import { Transfers } from "./transfers.tsx";
import styles from "./wallet.module.css";

const route = getRouteApi("/shell/accounts/$account/wallet");

/** The money of an account: where it stands, and every entry that made it so. */
export function WalletPage() {
  const account = useAccount();
  const { topup, checkout } = route.useSearch();
  const navigate = route.useNavigate();
  const mayTopUp = useMay("wallet.write");
  const { person } = useMe();
  const [isCrediting, setIsCrediting] = useState(false);
  const { data } = useQuery(walletQuery(account.id));
  // Known before the top-up opens, so that its card form does not appear above a field in use.
  useQuery(setupQuery);
  const change = (search: { readonly topup?: "1" | undefined; readonly checkout?: undefined }) =>
    void navigate({ search: (all) => ({ ...all, ...search }) as never });
  return (
    <div className={styles.page}>
      <PageHeader title="Wallet" badges={data?.state === "frozen" && <Badge tone="bad">frozen</Badge>}>
        {person.is_operator && <Button onClick={() => setIsCrediting(true)}>Add credit as operator</Button>}
        {mayTopUp && (
          <Button icon="plus" look="primary" onClick={() => change({ topup: "1" })}>
            Top up
          </Button>
        )}
      </PageHeader>
      {checkout && (
        <CheckoutBanner
          account={account.id}
          checkout={checkout}
          onClose={() => change({ checkout: undefined })}
        />
      )}
      <Equation account={account.id} />
      <Rows account={account.id} />
      {mayTopUp && topup && <TopUp account={account.id} onClose={() => change({ topup: undefined })} />}
      {isCrediting && <CreditDialog account={account} onClose={() => setIsCrediting(false)} />}
    </div>
  );
}

function Rows({ account }: { readonly account: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { tab = "entries", page } = search;
  // Each tab has pages of its own.
  const choose = (id: string) =>
    void navigate({
      search: (all) => ({ ...all, tab: id === "entries" ? undefined : id, page: undefined }) as never,
    });
  const tabs = {
    entries: { title: "Entries", content: <Transfers account={account} search={search} /> },
    holds: { title: "Running holds", content: <Holds account={account} page={page} /> },
    statements: { title: "Statements", content: <Statements account={account} /> },
    proof: { title: "Proof", content: <WalletProof account={account} /> },
  };
  return (
    <Tabs
      label="Rows of the wallet"
      value={tab in tabs ? tab : "entries"}
      onChange={choose}
      tabs={Object.entries(tabs).map(([id, { title, content }]) => ({
        id,
        title,
        content: <div className={styles.tab}>{content}</div>,
      }))}
    />
  );
}
