import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorAccountsPage() {
  return (
    <>
      <PageHeader title="Accounts" />
      <Empty title="Nothing here yet" />
    </>
  );
}
