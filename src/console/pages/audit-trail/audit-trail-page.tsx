import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function AuditTrailPage() {
  return (
    <>
      <PageHeader title="Audit trail" />
      <Empty title="Nothing here yet" />
    </>
  );
}
