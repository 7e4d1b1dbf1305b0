import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorAuditTrailPage() {
  return (
    <>
      <PageHeader title="Audit trail" />
      <Empty title="Nothing here yet" />
    </>
  );
}
