import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorCodesPage() {
  return (
    <>
      <PageHeader title="Redeem codes" />
      <Empty title="Nothing here yet" />
    </>
  );
}
