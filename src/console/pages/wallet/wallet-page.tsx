import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function WalletPage() {
  return (
    <>
      <PageHeader title="Wallet" />
      <Empty title="Nothing here yet" />
    </>
  );
}
