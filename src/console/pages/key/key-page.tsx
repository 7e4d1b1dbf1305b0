import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function KeyPage() {
  return (
    <>
      <PageHeader title="Key" />
      <Empty title="Nothing here yet" />
    </>
  );
}
